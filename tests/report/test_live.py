from __future__ import annotations

import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from steelyard.model.progress import GOES_ON, Member, Progress
from steelyard.report.live import LiveLine, progress_text

WIPE = "\r\x1b[J"
END = "\x1b[K\x1b[J"
PROGRESS = Progress("sort", done=33, limit=252, change=0.0102, interval=(0.0061, 0.014), seconds_left=12)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_line_tells_pairs_estimate_and_time_left() -> None:
    out = Terminal()
    with LiveLine(out, clock=Clock(), columns=lambda: 80) as line:
        line(PROGRESS)
        shown = "sort  ━━──────────────  33/252 pairs  +1.02 % [+0.61 %, +1.40 %]  12 s left"
        assert out.getvalue() == f"\r{shown}{END}"


def test_before_anything_is_measured_it_says_that_the_first_launch_runs() -> None:
    first = Progress("sort", 0, None, is_first=True)
    assert progress_text(first, "sort", 80) == "the first launch runs"
    limited = replace(first, seconds_left=150.0)
    assert progress_text(limited, "sort", 80) == "the first launch runs, for 2 min 30 s at most"
    assert progress_text(limited, "sort", 40) == "the first launch runs"
    assert cell_len(progress_text(first, "sort", 12)) <= 12


COUNTING = Progress("sort", 1, 4, seconds_left=180.0, noun="count", side="candidate", lasted_s=40.0)
WAIT = Progress("--setup ./make", 0, None, waited_s=12.0)
LASTS = "--setup ./make has run for 12 s, and has no time limit"


def test_a_command_that_lasts_is_told_of_until_it_ends() -> None:
    out = Terminal()
    with LiveLine(out, clock=Clock(), columns=lambda: 80) as line:
        line(WAIT)
        assert out.getvalue() == f"\r{LASTS}{END}"
        line(replace(WAIT, waited_s=0.0))
        assert out.getvalue().endswith(WIPE)
        line(PROGRESS)
        drawn = out.getvalue().rpartition("\r")[2]
        line(WAIT)
        line(replace(WAIT, waited_s=0.0))
        assert out.getvalue().rpartition("\r")[2] == drawn
    assert cell_len(progress_text(WAIT, WAIT.benchmark, 56)) <= 56
    assert progress_text(WAIT, "--setup ./with/a/long/name", 56).endswith(" has run for 12 s, and has no time limit")
    assert cell_len(progress_text(WAIT, WAIT.benchmark, 12)) <= 12


def test_in_a_log_that_is_said_once_of_each() -> None:
    piped = io.StringIO()
    with LiveLine(piped) as line:
        for seconds in (2.0, 12.0, 13.0, 0.0, 14.0):
            line(replace(WAIT, waited_s=seconds))
        line(replace(WAIT, benchmark="--cleanup \x1b[2J"))
    assert piped.getvalue().splitlines() == [
        f"steelyard: {LASTS}",
        "steelyard: --cleanup \\x1b[2J has run for 12 s, and has no time limit",
    ]


def test_within_a_launch_that_lasts_it_counts_on() -> None:
    out, clock = Terminal(), Clock()
    line = LiveLine(out, clock=clock, columns=lambda: 80)

    def seen_at(seconds: float) -> str:
        clock.now = seconds
        line(GOES_ON)
        return out.getvalue().rpartition("\r")[2].removesuffix(END)

    assert seen_at(3.0) == ""  # no progress was told yet
    line(Progress("sort", 0, None, is_first=True))
    assert seen_at(4.0) == "the first launch runs"
    assert seen_at(8.4) == "the first pair has run for 5 s"
    line(Progress("sort", 0, None, is_first=True, seconds_left=150.0))
    assert seen_at(13.4) == "the first pair has run for 5 s, each launch for 2 min 30 s at most"
    line(replace(PROGRESS, interval=None))
    assert seen_at(17.5) == "sort  ━━──────────────  33/252 pairs  +1.02 %  7.9 s left  this pair 4 s"
    assert seen_at(77.5).endswith("0 s left  this pair 1 min 4 s")
    line(replace(PROGRESS, interval=None))
    assert out.getvalue().endswith(f"33/252 pairs  +1.02 %  12 s left{END}")


def test_which_side_s_launch_lasts_is_shown_where_each_is_launched_by_itself() -> None:
    out, clock = Terminal(), Clock()
    line = LiveLine(out, clock=clock, columns=lambda: 80)
    line(COUNTING)
    assert out.getvalue().endswith(f"sort  ━━━━────────────  1/4 counts  3 min left  candidate's count 40 s{END}")
    clock.now = 0.5
    line(replace(COUNTING, side=None, seconds_left=None))
    assert out.getvalue().endswith(f"1/4 counts  this count 40 s{END}")


def test_a_log_is_told_once_a_minute() -> None:
    piped, clock = io.StringIO(), Clock()
    with LiveLine(piped, clock=clock) as line:

        def written_at(seconds: float, progress: Progress) -> str:
            before, clock.now = len(piped.getvalue()), seconds
            line(progress)
            return piped.getvalue()[before:]

        assert written_at(0.0, PROGRESS) == ""
        assert written_at(59.0, PROGRESS) == ""
        told = "steelyard: sort  33/252 pairs  +1.02 % [+0.61 %, +1.40 %]  12 s left\n"
        assert written_at(60.0, PROGRESS) == told
        assert written_at(119.0, COUNTING) == ""
        assert written_at(121.0, GOES_ON) == "steelyard: sort  1/4 counts  2 min 58 s left  candidate's count 2 s\n"
        assert written_at(170.0, GOES_ON) == ""
        members = (Member("sort", "slower", 40), Member("parse", "same", 12), Member("print", None, 9))
        suite = replace(PROGRESS, members=lambda: members)
        assert written_at(190.0, suite) == "steelyard: 2 of 3 done  1 slower, 1 same  12 s left\n"


def test_where_the_time_is_too_short_for_any_there_is_no_limit_of_pairs() -> None:
    assert progress_text(Progress("sort", 0, 0, seconds_left=4.0), "sort", 80) == "sort  0 pairs  4 s left"


def test_it_is_wiped_at_exit_even_when_interrupted() -> None:
    out = Terminal()

    def interrupted() -> None:
        with LiveLine(out, clock=Clock()) as line:
            line(PROGRESS)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert out.getvalue().endswith(WIPE)


def test_nothing_was_shown_so_nothing_is_wiped() -> None:
    out = Terminal()
    with LiveLine(out):
        pass
    assert out.getvalue() == ""


def test_silent_on_anything_but_a_terminal() -> None:
    piped = io.StringIO()
    with LiveLine(piped) as line:
        line(PROGRESS)
    dumb = Terminal()
    with LiveLine(dumb, is_dumb=True) as line:
        line(PROGRESS)
    assert piped.getvalue() == dumb.getvalue() == ""


def test_what_the_budget_allows_stays_above_the_line_and_is_told_to_a_file_too() -> None:
    told = replace(PROGRESS, allowance="too \x1b[2Jlittle")
    out, piped = Terminal(), io.StringIO()
    with LiveLine(out, clock=Clock(), columns=lambda: 80) as line:
        line(PROGRESS)
        line(told)
    above = out.getvalue().partition(f"12 s left{END}")[2]
    assert above.startswith(f"{WIPE}steelyard: too ")
    assert above.count("\n") == 1
    with LiveLine(piped) as line:
        line(told)
    assert "\x1b" not in piped.getvalue()
    assert piped.getvalue().startswith("steelyard: too ")


def test_below_what_is_told_to_stay_it_goes_on_at_once() -> None:
    out, clock = Terminal(), Clock()
    line = LiveLine(out, clock=clock, columns=lambda: 80)
    line(PROGRESS)
    drawn = out.getvalue()
    line(replace(PROGRESS, allowance="building main: make"))
    assert out.getvalue().endswith(f"steelyard: building main: make\n{drawn}")


def test_at_most_four_refreshes_a_second() -> None:
    out, clock = Terminal(), Clock()
    line = LiveLine(out, clock=clock)
    for tick in range(1001):
        clock.now = tick / 1000
        line(PROGRESS)
    assert out.getvalue().count(END) == 5  # at 0, 0.25, 0.5, 0.75 and 1 s


def test_a_terminal_that_went_away_does_not_end_the_measurement() -> None:
    class Gone(Terminal):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    with LiveLine(Gone(), clock=Clock()) as line:
        line(PROGRESS)


def test_names_cannot_steer_the_terminal() -> None:
    out = Terminal()
    LiveLine(out, clock=Clock(), columns=lambda: 80)(Progress("\x1b[2J\u202e", 1, None))
    assert out.getvalue().removeprefix("\r").removesuffix(END).isprintable()


@given(
    st.text(),
    st.integers(0, 10**7),
    st.none() | st.integers(1, 10**7),
    st.none() | st.floats(-0.99, 100),
    st.none() | st.tuples(st.floats(-1, 0), st.floats(0, 1e6)),
    st.none() | st.floats(-5, 1e6),
    st.integers(1, 100),
)
def test_it_never_breaks_the_line(
    name: str,
    done: int,
    limit: int | None,
    change: float | None,
    interval: tuple[float, float] | None,
    left: float | None,
    width: int,
) -> None:
    out = Terminal()
    LiveLine(out, clock=Clock(), columns=lambda: width)(Progress(name, done, limit, change, interval, left))
    shown = out.getvalue().removeprefix("\r").removesuffix(END)
    assert cell_len(shown) < max(width, 2)
    assert "\n" not in shown


def test_twenty_columns_keep_what_matters() -> None:
    shown = progress_text(PROGRESS, "sort", 19)
    assert "33/252" in shown
    assert "+1.02 %" in shown


def test_a_run_counts_launches() -> None:
    assert "3 launches" in progress_text(Progress("x", 3, None, noun="launch"), "x", 80)
