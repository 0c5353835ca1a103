"""A suite on a terminal while it is weighed."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from steelyard.model.progress import Member, Progress
from steelyard.model.records import StopReason
from steelyard.report import live_suite
from steelyard.report.figures import first_few
from steelyard.report.live import LiveLine
from steelyard.report.sentences import partly_failed

MEMBERS = [
    Member("parse", "slower", 17, 0.069, (0.05, 0.09)),
    Member("emit", "faster", 17, -0.2, (-0.3, -0.1)),
    Member("sort", "same", 90, 0.0001, (-0.004, 0.003)),
    Member("merge", None, 30, 0.01, (-0.02, 0.03)),
    Member("split", None, 2, is_next=True),
    Member("crash", "failed", 0),
]
PROGRESS = Progress("merge", 30, 100, seconds_left=12.0, members=lambda: MEMBERS)


class Terminal(io.StringIO):
    """A terminal that keeps its content, as far as the display needs that."""

    def __init__(self, columns: int = 80) -> None:
        super().__init__()
        self.columns, self.screen, self.row, self.column = columns, [""], 0, 0
        self.most = 0

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        for part in re.findall(r"\x1b\[\d*[A-Za-z]|\r\n|\r|\n|[^\x1b\r\n]+", text):
            self._take(part)
        self.most = max(self.most, len(self.screen))
        return len(text)

    def _take(self, part: str) -> None:
        if part.startswith("\x1b") and part.endswith("A"):
            self.row -= int(part[2:-1])
            assert self.row >= 0
        elif part == "\x1b[K":
            pass  # writing here replaces the line anyway
        elif part == "\x1b[J":
            self.screen[self.row :] = [self.screen[self.row] if self.column else ""]
        elif part == "\r\n":
            self.row, self.column = self.row + 1, 0
            self.screen += [""] * (self.row + 1 - len(self.screen))
        elif part == "\r":
            self.column = 0
        else:
            assert cell_len(part) < self.columns
            assert self.column == 0
            self.screen[self.row], self.column = part, cell_len(part)


def lines(width: int = 80, height: int = 20, members: Sequence[Member] = MEMBERS) -> list[str]:
    return live_suite.lines(PROGRESS, members, width, height, "utf-8")


def test_it_says_what_is_done_what_is_open_and_what_is_next() -> None:
    text = "\n".join(lines())
    assert "4 of 6 done  1 slower, 1 faster, 1 same, 1 failed  12 s left" in text
    assert re.search(r"^slower +parse +\+6.90 %  \[\+5.00 %, \+9.00 %\]  17 pairs$", text, re.MULTILINE)
    assert re.search(r"^now +merge +\+1.00 %  \[-2.00 %, \+3.00 %\]  30 pairs$", text, re.MULTILINE)
    assert re.search(r"^open +split +2 pairs$", text, re.MULTILINE)
    assert re.search(r"^next +split$", text, re.MULTILINE)
    assert "sort" not in text  # benchmarks that are the same are only counted


def test_where_all_is_done_no_time_is_left() -> None:
    done = [one for one in MEMBERS if one.word]
    (text, *_) = live_suite.lines(PROGRESS, done, 80, 20, "utf-8")
    assert text.endswith("4 of 4 done  1 slower, 1 faster, 1 same, 1 failed")


@given(
    st.lists(
        st.builds(
            Member,
            st.text(),
            st.sampled_from(["slower", "faster", "same", "undecided", "failed", None]),
            st.integers(0, 10**6),
            st.none() | st.floats(-0.99, 100),
            st.none() | st.tuples(st.floats(-1, 0), st.floats(0, 1e6)),
            st.booleans(),
        ),
        min_size=1,
        max_size=40,
    ),
    st.integers(8, 200),
    st.integers(1, 60),
)
def test_it_fits_whatever_the_terminal(members: list[Member], width: int, height: int) -> None:
    found = lines(width, height, members)
    assert len(found) <= height
    assert [line for line in found if cell_len(line) > width or not line.isprintable()] == []
    if height < 4:
        assert found == []


def test_what_is_measured_now_is_seen_among_very_many() -> None:
    many = [Member(f"b{number}", None, 1) for number in range(500)]
    text = "\n".join(live_suite.lines(replace(PROGRESS, benchmark="b400"), many, 80, 12, "utf-8"))
    assert "now        b400" in text


def test_thousands_have_their_separator_as_in_the_report() -> None:
    many = [Member(f"b{place}", "same" if place < 1500 else None, 1) for place in range(2000)]
    assert "1,500 of 2,000 done  1,500 same" in lines(members=many)[0]
    reasons: list[StopReason] = ["failed", "time"] * 1000
    assert partly_failed(reasons) == "1,000 of 2,000 benchmarks failed"
    assert first_few([one.name for one in many], 1) == "b0 and 1,999 more"


def test_each_frame_takes_the_place_of_the_last_and_in_the_end_nothing_is_left() -> None:
    out, clock = Terminal(), iter(range(100))
    sizes = [(80, 24), (60, 24), (80, 10), (80, 3), (120, 30)]
    current = sizes[0]
    display = LiveLine(out, clock=lambda: next(clock), columns=lambda: current[0], rows=lambda: current[1])
    with display as line:
        for current in sizes:
            out.columns = current[0]
            line(PROGRESS)
            assert sum("done" in text for text in out.screen) <= 1
    assert out.most > 4
    assert out.screen == [""]


def test_a_small_terminal_has_one_line() -> None:
    out = Terminal()
    LiveLine(out, columns=lambda: 80, rows=lambda: 5)(PROGRESS)
    assert len(out.screen) == 1
    assert "30/100 pairs" in out.screen[0]


def test_it_is_asked_for_only_when_it_is_drawn() -> None:
    asked = 0

    def members() -> list[Member]:
        nonlocal asked
        asked += 1
        return MEMBERS

    line = LiveLine(Terminal(), clock=lambda: 1.0, columns=lambda: 80, rows=lambda: 24)
    for _ in range(1000):
        line(replace(PROGRESS, members=members))
    assert asked == 1
    LiveLine(io.StringIO())(replace(PROGRESS, members=members))
    assert asked == 1
