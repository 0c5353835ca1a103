"""What a control leaves of verdicts."""

from __future__ import annotations

import pytest

from steelyard.design.judging.controls import apply_controls
from steelyard.design.judging.judgement import verdicts
from steelyard.model.derived import Verdict
from steelyard.model.launches import Launches
from steelyard.model.records import Part
from steelyard.model.subject import Benchmark
from tests.report import records
from tests.report.records import verdict


@pytest.mark.parametrize(
    ("word", "lower", "upper"), [("undecided", -0.009, 0.009), ("same", -0.009, 0.001), ("same", -0.001, 0.009)]
)
def test_a_control_that_leaves_a_change_open_is_called_what_it_is(word: str, lower: float, upper: float) -> None:
    slower = verdict(verdict="slower", change=0.006, interval=(0.002, 0.01))
    faster = verdict(verdict="faster", change=-0.006, interval=(-0.01, -0.002))
    control = verdict(verdict=word, change=0.0, interval=(lower, upper), control=True)
    for left in apply_controls(records.weighing(), [slower, faster], [control]):
        assert left.verdict in ("slower", "faster")
        assert left.findings[0].code == "control-open"
        assert left.findings[0].message.startswith(f"the control is {word}, [{100 * lower:.1g}")


def test_what_it_excludes_is_left_as_it_is() -> None:
    slower = verdict(verdict="slower", change=0.02, interval=(0.01, 0.03))
    control = verdict(verdict="same", change=0.0, interval=(-0.009, 0.009), control=True)
    faster = verdict(verdict="faster", change=-0.02, interval=(-0.03, -0.01))
    # Where there is no change, nothing else can have made one.
    small = verdict(verdict="same", change=0.001, interval=(-0.002, 0.004))
    assert apply_controls(records.weighing(), [slower, faster, small], [control]) == [slower, faster, small]


MERGED = records.weighing(benchmarks=("a", "b", "control", "control")).model_copy(
    update={
        "parts": [
            Part(created="", tool="", machine=records.MACHINE, seed=0, seconds=1.0, benchmarks=[number, 2 + number])
            for number in (0, 1)
        ]
    }
)


@pytest.mark.parametrize(
    ("other", "code"), [(verdict(verdict="slower"), "control-alarm"), (verdict(verdict="undecided"), "control-open")]
)
def test_a_control_says_nothing_of_what_another_part_measured(other: Verdict, code: str) -> None:
    found = [verdict(verdict="slower", change=0.02, interval=(0.01, 0.03), index=number) for number in (0, 1)]
    quiet = verdict(verdict="same", change=0.0, interval=(-0.001, 0.001))
    controls = [
        one.model_copy(update={"control": True, "index": number, "interval": interval})
        for one, number, interval in ((quiet, 2, quiet.interval), (other, 3, (-0.03, 0.09)))
    ]
    mine, theirs = apply_controls(MERGED, found, controls)
    assert mine == found[0]
    assert theirs.findings[0].code == code


def test_controls_of_several_parts_share_no_alpha() -> None:
    """What a part withheld stays withheld after merging: here what takes all of 8 pairs of one sign to be found."""
    rows = [
        records.row(pair, side, 10**7 + side * 10**6 + pair, benchmark=number, order=(pair + side) % 2)
        for number in range(4)
        for pair in range(8)
        for side in (0, 1)
    ]
    of = [Benchmark(name=name, control=name == "control") for name in ("a", "b", "control", "control")]
    merged = MERGED.model_copy(update={"launches": Launches.of_rows(rows), "benchmarks": of, "stop": ["pairs"] * 4})
    assert [one.verdict for one in verdicts(merged)] == ["undecided", "undecided", "slower", "slower"]
    assert {one.findings[0].code for one in verdicts(merged) if not one.control} == {"control-alarm"}
