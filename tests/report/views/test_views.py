"""The charts of `show` fit any terminal, and show what the launches say."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from steelyard.model.derived import Derived
from steelyard.model.errors import UsageError
from steelyard.model.foreign import ForeignFile, ForeignResults, Provenance
from steelyard.model.launches import Launches
from steelyard.model.records import Run, Weighing
from steelyard.model.rows import LaunchRow
from steelyard.model.settings import Settings
from steelyard.report.figures import in_chosen_units
from steelyard.report.views import HIST, PAIRS, RUNS, VIEWS
from steelyard.report.views.view import series_of_views, show
from tests.foreign import benchmark_of
from tests.report import records
from tests.report.records import SLOWER, SUMMARY, pair_rows, row

HOSTILE = "\x1b[2J\x9b31m\u202e\n名前|`<b>" + "x" * 90


def import_of(unit: str = "ns", *processes: list[float], name: str = "parse") -> ForeignResults:
    return ForeignResults(
        tool="0.1.0",
        created="2026-01-01T00:00:00Z",
        provenance=Provenance(format="x", tool="x", files=[ForeignFile(name="x.json", sha256="0" * 64)]),
        benchmarks=[benchmark_of(name=name, unit=unit, values=list(processes) or [[1e6, 2e6], [3e6]])],
    )


def several(*names: str, change: float = 0.02) -> tuple[Weighing, Derived]:
    verdicts = [SLOWER.model_copy(update={"benchmark": name, "index": place}) for place, name in enumerate(names)]
    return records.weighing(change, benchmarks=names), Derived(verdicts=verdicts)


def drawn(
    record: Weighing | Run | ForeignResults,
    *views: str,
    derived: Derived | None = None,
    width: int = 80,
    encoding: str = "utf-8",
    patterns: tuple[str, ...] = (),
) -> str:
    known = derived or Derived(verdicts=[SLOWER] if isinstance(record, Weighing) else [])
    known = Derived(summaries=[SUMMARY]) if isinstance(record, Run) else known
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="")
    show(Console(file=stream, width=width), record, series_of_views(record, known, views, patterns), views)
    stream.flush()
    return raw.getvalue().decode(encoding)


def with_rows(rows: list[LaunchRow]) -> Weighing:
    return records.weighing().model_copy(update={"launches": Launches.of_rows(rows)})


EXAMPLES: dict[str, Callable[[int, str], str]] = {
    "weighing": lambda w, e: drawn(records.weighing(0.05), *VIEWS, width=w, encoding=e),
    "run": lambda w, e: drawn(records.run(), HIST, RUNS, width=w, encoding=e),
    "import": lambda w, e: drawn(import_of(), HIST, RUNS, width=w, encoding=e),
    "rates": lambda w, e: drawn(import_of("ops/s", [5.0, 6.0, 1e7]), HIST, RUNS, width=w, encoding=e),
    "one launch": lambda w, e: drawn(records.weighing(pairs=1), *VIEWS, width=w, encoding=e),
    "suite": lambda w, e: drawn(
        several("a", HOSTILE)[0], *VIEWS, derived=several("a", HOSTILE)[1], width=w, encoding=e
    ),
    "large changes": lambda w, e: drawn(records.weighing(900.0), *VIEWS, width=w, encoding=e),
    "equal": lambda w, e: drawn(
        with_rows([row(pair, side, 10**6) for pair in range(9) for side in (0, 1)]), *VIEWS, width=w, encoding=e
    ),
}


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("width", [20, 40, 60, 80, 120, 200])
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_view_fits_and_steers_nothing(name: str, width: int, encoding: str) -> None:
    lines = EXAMPLES[name](width, encoding).splitlines()
    assert lines
    assert [line for line in lines if cell_len(line) > width] == []
    assert [line for line in lines if not line.isprintable() or line != line.rstrip()] == []


# --- histograms


def test_both_sides_stand_over_one_axis_of_one_unit() -> None:
    text = drawn(records.weighing(0.2), HIST, width=100)
    axes = [line for line in text.splitlines() if "┬" in line]
    assert len(axes) == 2
    assert axes[0] == axes[1]
    (labels,) = re.findall(r"^ +[\d.]+ ms(?: +[\d.]+ ms)+$", text, re.MULTILINE)
    assert 2 <= labels.count("ms") <= 8
    first, second = text.split("candidate")
    assert _centre_of_bars(first) < _centre_of_bars(second)


def _centre_of_bars(text: str) -> float:
    columns = [place for line in text.splitlines() for place, mark in enumerate(line) if mark in "▁▂▃▄▅▆▇█"]
    return float(np.mean(columns))


def test_what_is_beyond_the_axis_is_counted_with_its_extreme() -> None:
    rows = [*pair_rows(0.0, 40, noise=0.001), row(90, 0, 10**9), row(90, 1, 13 * 10**6)]
    text = " ".join(drawn(with_rows(rows), HIST, width=120).split())
    assert "41 launches, 1 beyond the axis, up to 1.000 s" in text


def test_an_axis_begins_at_0_and_not_at_minus_0() -> None:
    record = with_rows([one._replace(major_faults=7 * one.side) for one in pair_rows(0.0, 20)])
    known = SLOWER.model_copy(update={"metric": "major_faults"})
    assert "-0" not in drawn(record, HIST, derived=Derived(verdicts=[known]))


def test_modes_are_named_where_the_test_shows_them() -> None:
    fast = [row(pair, side, 10**6 + pair * 100, order=side) for pair in range(40) for side in (0, 1)]
    slow = [
        one._replace(pair=one.pair + 100, wall_ns=2 * one.wall_ns) if one.side else one._replace(pair=one.pair + 100)
        for one in fast
    ]
    text = " ".join(drawn(with_rows(fast + slow), HIST).split())
    assert "modes the candidate's launches cluster at 992.0 µs and 1.994 ms" in text
    assert "baseline's launches cluster" not in text


def test_an_axis_is_in_the_unit_that_is_asked_for() -> None:
    with in_chosen_units({"ns": "µs"}):
        text = drawn(records.weighing(), HIST)
    assert "median 12,951 µs" in text or re.search(r"median 1[23],\d{3} µs", text)
    assert not re.search(r"\d ms", text)


def test_foreign_values_keep_their_unit() -> None:
    assert "median 2.000 ms" in drawn(import_of("ns"), HIST)
    assert "ops/s" in drawn(import_of("ops/s", [5.0, 6.0]), HIST)
    assert "median 1.465 KiB" in drawn(import_of("B", [1000.0, 2000.0]), HIST)


# --- pairs


def _line(text: str, pair: int) -> str:
    (found,) = re.findall(rf"^ *{pair}  .*$", text, re.MULTILINE)
    return str(found)


def test_each_pair_has_its_order_its_change_and_a_mark() -> None:
    quiet = {"delay_ns": 0}
    rows = []
    for pair, change in enumerate((0.0, 0.02, -0.02, 0.01)):
        first = pair % 2
        rows += [row(pair, 0, 10**8, order=first)._replace(**quiet)]
        rows += [row(pair, 1, round(10**8 * (1 + change)), order=1 - first)._replace(**quiet)]
    text = drawn(with_rows(rows), PAIRS)
    assert "disturbed" not in text.splitlines()[4]
    assert re.search(r"1  candidate  \+2.00 %  .*┊.*●", _line(text, 1))
    assert re.search(r"2  baseline   -2.00 %  ●.*┊", _line(text, 2))
    assert re.search(r"0  baseline    0.00 %  .*●", _line(text, 0))


def test_pairs_whose_samples_were_in_turn_have_the_change_that_was_judged() -> None:
    text = drawn(with_rows(records.in_turn()), PAIRS)
    assert "+10.0 %" in _line(text, 0)


def test_launches_whose_samples_were_in_turn_stand_where_the_report_has_their_medians() -> None:
    text = drawn(with_rows(records.in_turn()), HIST)
    # the geometric mean of the launches' medians, half of +10 % to each side
    assert "median 14.14 ms" in text
    assert "median 15.56 ms" in text


def test_what_disturbed_it_is_said_of_both_sides() -> None:
    rows = pair_rows(0.01, 3)
    rows[0] = rows[0]._replace(delay_ns=rows[0].wall_ns // 4, major_faults=12)
    rows[3] = rows[3]._replace(steal_ns=rows[3].wall_ns // 10)
    text = drawn(with_rows(rows), PAIRS, width=120)
    assert "waited 25 % / -; major faults 12 / -" in _line(text, 0)
    assert "stolen - / 10 %" in _line(text, 1)
    assert _line(text, 2).endswith(("●", "┊"))


def test_pairs_that_are_not_judged_are_there_and_say_why() -> None:
    rows = [one._replace(role={0: 0, 1: 2, 2: 3}.get(one.pair, 1)) for one in pair_rows(0.01, 6)]
    text = drawn(with_rows(rows), PAIRS, width=120)
    assert "warm-up" in _line(text, 0)
    assert "disturbed, repeated" in _line(text, 1)
    assert "tried in tandem" in _line(text, 2)


def test_where_there_is_little_room_what_disturbed_a_pair_is_told_and_not_which_side_ran_first() -> None:
    record = with_rows(
        [row(pair, side, 10**7, order=side)._replace(delay_ns=2 * 10**6) for pair in (0, 1) for side in (0, 1)]
    )
    wide, narrow = (drawn(record, PAIRS, width=width) for width in (80, 40))
    assert "baseline" in wide.splitlines()[-1]
    assert narrow.splitlines()[-1].split() == ["1", "0.00", "%", "waited", "20", "%", "/", "20", "%"]


def test_pairs_stand_in_the_order_in_which_they_ran() -> None:
    rows = [one._replace(start_ns=10**9 - one.pair * 10**7) for one in pair_rows(0.01, 5)]
    found = re.findall(r"^ *(\d)  (?:base|cand)", drawn(with_rows(rows), PAIRS), re.MULTILINE)
    assert found == ["4", "3", "2", "1", "0"]


def test_of_repeated_processes_a_launch_has_the_value_of_one() -> None:
    record = records.weighing(settings=Settings(repeat=5), pairs=2)
    text = drawn(record, RUNS)
    assert "5 processes: active is that of one of them, all else is of the launch" in " ".join(text.split())
    value = record.launches.metric("active")[0] / 5e6
    assert f"{value:.3f} ms" in text


def test_very_many_are_left_out_and_said_to_be() -> None:
    text = drawn(records.weighing(pairs=2100), PAIRS, RUNS)
    assert "100 more pairs: --csv FILE has all of them" in text
    assert "2,200 more launches: --csv FILE has all of them" in text


# --- launches


def test_a_narrow_terminal_keeps_what_matters() -> None:
    wide, narrow = (drawn(records.weighing(pairs=3), RUNS, width=width) for width in (200, 50))
    for title in ("pair", "side", "active", "waited", "lost cpu"):
        assert title in narrow
    for title in ("minor faults", "major", "max_rss", "steal", "at", "user", "sys", "gave up cpu"):
        assert title in wide
    assert "max_rss" not in narrow
    assert "9.000 MiB" in wide


def test_a_run_has_no_sides_and_an_import_has_processes() -> None:
    assert "side" not in drawn(records.run(), RUNS)
    lines = drawn(import_of(), RUNS).splitlines()
    assert re.match(r" +0 +2 +1.500 ms +1.000 ms +2.000 ms", lines[-2])
    assert re.match(r" +1 +1 +3.000 ms +3.000 ms +3.000 ms", lines[-1])


# --- what has none


def test_runs_and_imports_have_no_pairs() -> None:
    for record, what in ((records.run(), "a run"), (import_of(), "an import")):
        with pytest.raises(UsageError, match=f"{what} has none: choose --hist or --runs"):
            drawn(record, PAIRS)


@pytest.mark.parametrize("view", VIEWS)
def test_without_launches_the_reason_is_said(view: str) -> None:
    nothing = records.weighing(pairs=0)
    with pytest.raises(UsageError, match=f"{view} is drawn of timed launches, and here are none: nothing was measured"):
        drawn(nothing, view)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("patterns", [(), ("sort",)])
def test_where_no_pair_is_whole_that_is_said_whatever_is_chosen(view: str, patterns: tuple[str, ...]) -> None:
    half = with_rows(pair_rows(0.0, 1)[:1])
    with pytest.raises(UsageError, match="and none was measured to its end"):
        drawn(half, view, patterns=patterns)


def test_a_pattern_chooses_and_one_that_fits_nothing_is_refused() -> None:
    record, derived = several("parse", "emit")
    assert "parse" not in drawn(record, HIST, derived=derived, patterns=("em*",))
    with pytest.raises(UsageError, match="--benchmark sort fits none of the 2 benchmarks"):
        drawn(record, HIST, derived=derived, patterns=("sort",))


@pytest.mark.parametrize("view", [HIST, PAIRS])
def test_what_no_look_judged_is_said_where_it_is_drawn(view: str) -> None:
    assert SLOWER.pairs == 33
    assert "1 pair behind the last look, not judged" in drawn(records.weighing(pairs=34), view)
    assert "behind" not in drawn(records.weighing(pairs=33), view)
