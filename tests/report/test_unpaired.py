from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from steelyard.model.derived import Side
from steelyard.model.findings import Finding
from steelyard.model.subject import Benchmark
from steelyard.model.unpaired import UnpairedReport, UnpairedVerdict
from steelyard.report import unpaired
from steelyard.report.bounds import MOST_BENCHMARKS

from . import records
from .records import flat, on_screen

HOSTILE = "\x1b[2J\x9b31m\u202e\udcff\n名前|`<b>" + "x" * 90
SLOWER = UnpairedVerdict(
    benchmark="sort",
    metric="active",
    verdict="slower",
    change=0.112,
    interval=(0.062, 0.164),
    block_spreads=(0.008, 0.012),
    assumed=0.01,
    resolution=0.071,
    baseline=Side(median=12.81e6, spread=0.012, launches=900),
    candidate=Side(median=14.24e6, spread=0.013, launches=800),
    findings=[],
)
UNDECIDED = replace(SLOWER, verdict="undecided", change=0.012, interval=(-0.031, 0.057))
CANNOT_TELL = replace(SLOWER, verdict="undecided", change=None, interval=None, block_spreads=None, resolution=None)
LEANING = replace(SLOWER, verdict="undecided", change=0.2, interval=(0.1, 0.3))


def report(
    *verdicts: UnpairedVerdict, name: str = "./sort", margin: float = 0.005, note: str = "kernel differs"
) -> UnpairedReport:
    run = records.run(name=name).model_copy(update={"created": name})
    return UnpairedReport(
        run, run, margin, 0.01, list(verdicts), [Finding(code="differs", message=note, remedy="look")]
    )


def printed(shown: UnpairedReport, width: int = 80) -> str:
    return on_screen(lambda console: unpaired.show(console, shown), width)


@pytest.mark.parametrize("verdict", [SLOWER, UNDECIDED, CANNOT_TELL])
def test_measured_apart_comes_first_and_compare_is_recommended(verdict: UnpairedVerdict) -> None:
    lines = printed(report(verdict)).splitlines()
    assert "measured apart" in lines[0]
    assert "steelyard compare" in flat(printed(report(verdict)))
    assert unpaired.markdown(report(verdict)).startswith("_measured apart")


def test_a_verdict_shows_what_it_rests_on() -> None:
    text = flat(printed(report(SLOWER), 200))
    assert "slower +11.2 % [+6.20 %, +16.4 %] at 99 % confidence, 900 and 800 launches measured apart" in text
    assert "B needs 11.2 % more time than A" in text
    assert "12.81 ms, varies by 1.2 %, 900 launches" in text
    assert "wandered by 0.8 % within A and 1.2 % within B" in text
    assert "at least 1 % is assumed" in text
    assert "a change of 7.10 % would have been found" in text
    assert "note kernel differs look" in text


def test_undecided_says_what_is_ruled_out() -> None:
    assert "not slower by more than 5.70 %, not faster by more than 3.10 %" in flat(printed(report(UNDECIDED)))
    assert "the change is not known" in flat(printed(report(CANNOT_TELL)))
    few = replace(CANNOT_TELL, change=0.012)
    assert "undecided +1.20 %, too short a time for an interval, 900 and 800 launches measured apart" in flat(
        printed(report(few))
    )
    assert "wall undecided +1.20 %, no interval" in flat(printed(report(SLOWER, replace(few, metric="wall"))))
    margin = report(LEANING, margin=0.25)
    assert "smaller than your margin of 25 %" in flat(printed(margin))
    assert "ruled" not in printed(margin)


def test_faster_and_same_are_explained() -> None:
    faster = replace(SLOWER, verdict="faster", change=-0.1, interval=(-0.15, -0.05))
    assert "B needs 10.0 % less time than A" in flat(printed(report(faster)))
    same = replace(UNDECIDED, verdict="same")
    assert "any change is smaller than your margin of 10 %" in flat(printed(report(same, margin=0.1)))


def test_other_metrics_take_a_line_each() -> None:
    text = printed(report(SLOWER, replace(UNDECIDED, metric="max_rss"), replace(CANNOT_TELL, metric="wall")))
    assert "max_rss    undecided +1.20 % [-3.10 %, +5.70 %]" in text
    assert "wall       undecided the change is not known" in text


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_nothing_given_steers_the_terminal_or_breaks_the_width(width: int) -> None:
    text = printed(report(replace(SLOWER, benchmark=HOSTILE), name=HOSTILE, note=HOSTILE), width)
    assert all(character.isprintable() or character == "\n" for character in text)
    assert all(cell_len(line) <= width for line in text.splitlines())


def test_markdown_is_a_table_that_no_name_breaks() -> None:
    text = unpaired.markdown(report(SLOWER, replace(CANNOT_TELL, benchmark=HOSTILE), name=HOSTILE, note=HOSTILE))
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    assert [len(row) for row in rows] == [7] * 4
    assert rows[2][2:5] == [" **slower** ", " +11.2 % ", " [+6.20 %, +16.4 %] "]
    assert rows[3][3].strip() == "n/a"
    assert "<b>" not in text


def test_the_heading_of_several_counts_those_that_decide() -> None:
    wall = replace(SLOWER, metric="wall", verdict="same")
    others = [replace(UNDECIDED, benchmark="parse"), replace(SLOWER, benchmark="copy")]
    text = unpaired.markdown(report(SLOWER, wall, *others))
    assert "\n**2 slower, 1 undecided**\n" in text


def test_what_the_metric_is_is_said_once() -> None:
    of_several = [replace(SLOWER, benchmark=name) for name in "abc"]
    run = records.run(benchmarks=("a", "b", "c"))
    text = printed(replace(report(*of_several), baseline=run, candidate=run))
    assert [line.split()[1] for line in text.splitlines() if line.startswith("benchmark")] == ["a", "b", "c"]
    assert text.count("metric     active") == 1
    assert "metric     wall" in printed(report(SLOWER, replace(SLOWER, benchmark="other", metric="wall")))


def test_one_benchmark_of_a_harness_is_named() -> None:
    run = records.run().model_copy(update={"benchmarks": [Benchmark(name="sort", entry="sort")]})
    assert "benchmark  sort\n" in printed(replace(report(SLOWER), baseline=run, candidate=run))
    assert "benchmark  sort\n" not in printed(report(SLOWER))


def test_of_very_many_benchmarks_those_that_changed_most_are_shown_in_every_metric() -> None:
    verdicts = [
        replace(SLOWER, benchmark=f"b{number:03}", metric=metric, change=change)
        for number in range(MOST_BENCHMARKS + 5)
        for metric, change in [("active", number / 1e3), ("wall", 0.9 - number / 1e3)]
    ]
    text = flat(printed(report(*verdicts), 200))
    assert "left out 5 more benchmarks, which changed less" in text
    assert "slower +0.40 %" not in text
    assert "slower +0.50 %" in text
    assert text.count("drift the level") == text.count("wall slower") == MOST_BENCHMARKS
