"""Judging two imports: by their processes, in their direction, and never beyond what they show."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from steelyard.design.unpaired.foreign import compare_foreign, describe_levels
from steelyard.design.unpaired.terms import Terms
from steelyard.model.errors import UsageError
from steelyard.model.foreign import ForeignResults, ForeignVerdict
from steelyard.report.foreign import mean_sentences
from tests.foreign import foreign_results, processes

TERMS = Terms(margin=0.005, alpha=0.01)


def judged(a: ForeignResults, b: ForeignResults, **options: Any) -> ForeignVerdict:
    return compare_foreign(a, b, replace(TERMS, **{"same_conditions": True, **options})).verdicts[0]


def pair(factor: float, count: int = 50, **options: Any) -> tuple[ForeignResults, ForeignResults]:
    return (
        foreign_results({"x": processes(count, seed=1)}, name="a", **options),
        foreign_results({"x": processes(count, factor, seed=2)}, name="b", **options),
    )


@pytest.mark.parametrize(
    ("factor", "higher_is_better", "expected"),
    [(1.2, False, "slower"), (1 / 1.2, False, "faster"), (1.2, True, "faster"), (1 / 1.2, True, "slower")],
)
def test_the_direction_says_which_is_slower(factor: float, higher_is_better: bool, expected: str) -> None:
    verdict = judged(*pair(factor, higher_is_better=higher_is_better))
    assert verdict.verdict == expected
    assert verdict.change == pytest.approx(factor - 1, abs=0.01)
    assert verdict.interval is not None
    assert verdict.interval[0] < verdict.change < verdict.interval[1]
    assert verdict.findings == []


@pytest.mark.parametrize(("factor", "expected"), [(1.5, "slower"), (0.5, "faster"), (1.0, "same")])
def test_nothing_is_said_unless_somebody_vouches_for_the_conditions(factor: float, expected: str) -> None:
    verdict = judged(*pair(factor), margin=0.1, same_conditions=False)
    assert verdict.verdict == "undecided"
    assert verdict.change == pytest.approx(factor - 1, abs=0.01)
    (finding,) = verdict.findings
    assert finding.code == "cannot-tell"
    assert finding.remedy is not None
    assert f"--same-conditions, if nothing did: then it is {expected}" in finding.remedy


@pytest.mark.parametrize("factor", [1.0, 1.02, 1.03])
def test_what_drift_can_explain_stays_undecided(factor: float) -> None:
    verdict = judged(*pair(factor))
    assert verdict.verdict == "undecided"
    assert verdict.block_spreads is not None
    assert verdict.assumed == 0.02  # the total time of the processes does not show what came between them


def test_a_wide_margin_can_be_met() -> None:
    assert judged(*pair(1.0), margin=0.1).verdict == "same"


@pytest.mark.parametrize(("unit", "expected"), [("ns/op", "undecided"), ("s", "undecided"), ("allocs/op", "same")])
def test_equal_readings_of_a_coarse_clock_are_not_the_same_time(unit: str, expected: str) -> None:
    sides = [foreign_results({"x": [[3.0]] * 50}, name=name, unit=unit) for name in "ab"]
    verdict = judged(sides[0], sides[1], margin=0.1)
    assert verdict.verdict == expected
    assert [finding.code for finding in verdict.findings] == ["coarse-clock"] * (expected == "undecided")


@pytest.mark.parametrize("count", [1, 2, 4, 15, 16, 39])
def test_too_few_processes_are_undecided_whatever_the_change(count: int) -> None:
    verdict = judged(*pair(3.0, count))
    assert (verdict.verdict, verdict.block_spreads is None) == ("undecided", count < 16)
    assert verdict.change == pytest.approx(2, abs=0.1)
    assert (verdict.interval is None) == (count < 5)
    assert verdict.interval is None or verdict.interval[0] < 1.95  # at least as wide as 2 % of drift make it
    assert [finding.code for finding in verdict.findings] == ["cannot-tell"]
    assert "fewer than 40" in verdict.findings[0].message


@pytest.mark.parametrize("seconds", [None, 1.0])
def test_too_short_ones_too(seconds: float | None) -> None:
    verdict = judged(*pair(3.0, seconds=seconds))
    assert (verdict.verdict, [finding.code for finding in verdict.findings]) == ("undecided", ["cannot-tell"])
    assert judged(*pair(3.0, seconds=5.0)).verdict == "slower"


def test_samples_of_one_process_are_no_evidence() -> None:
    a = foreign_results({"x": processes(1, samples=1000)}, name="a")
    b = foreign_results({"x": processes(1, 1.5, samples=1000)}, name="b")
    assert judged(a, b).verdict == "undecided"


def test_a_level_that_wanders_widens_the_interval() -> None:
    calm, restless = pair(1.15)
    drifting = [[value * (1.1 if number % 8 < 4 else 1) for value in one] for number, one in enumerate(processes(64))]
    assert judged(calm, restless).verdict == "slower"
    assert judged(foreign_results({"x": drifting}, name="w"), restless).verdict == "undecided"


def test_benchmarks_share_alpha_and_lonely_ones_are_named() -> None:
    many = {name: processes(20, seed=number) for number, name in enumerate("abcd")}
    report = compare_foreign(
        foreign_results({**many, "old": processes(3)}, name="a"),
        foreign_results({**many, "new": processes(3)}, name="b"),
        TERMS,
    )
    assert report.alpha == 0.0025
    assert len(report.verdicts) == 4
    assert [finding.message for finding in report.findings] == [
        "measured in A only, so not compared: old",
        "measured in B only, so not compared: new",
    ]


def test_benchmarks_that_cannot_be_judged_take_no_share_of_alpha() -> None:
    sides = {"enough": processes(40), "few": processes(39), "fewer": processes(5)}
    a, b = (foreign_results(sides, name=name) for name in "ab")
    report = compare_foreign(a, b, replace(TERMS, same_conditions=True))
    assert report.alpha == 0.01


def test_only_what_is_of_one_unit_has_a_mean() -> None:
    a, b = (foreign_results({name: processes(20, seed=one) for one, name in enumerate("abc")}, name=x) for x in "xy")
    report = compare_foreign(a, b, TERMS)
    [mean] = report.means
    assert (mean.metric, mean.benchmarks) == (report.verdicts[0].unit, 3)
    a, b = (replace(side, benchmarks=[*side.benchmarks[:2], replace(side.benchmarks[2], unit="B")]) for side in (a, b))
    [mean] = compare_foreign(a, b, TERMS).means
    assert mean.benchmarks == 2


def test_means_of_one_unit_in_two_directions_say_which() -> None:
    a, b = (foreign_results({name: processes(20, seed=one) for one, name in enumerate("abcd")}, name=x) for x in "xy")
    a, b = (
        replace(side, benchmarks=[*side.benchmarks[:2], *(replace(one, higher_is_better=True) for one in rest)])
        for side in (a, b)
        for rest in [side.benchmarks[2:]]
    )
    report = compare_foreign(a, b, TERMS)
    unit = report.verdicts[0].unit
    assert [mean.metric for mean in report.means] == [f"{unit}, lower is better", f"{unit}, higher is better"]
    told = [line.split(":")[0] for line in mean_sentences(report)]
    assert told == [f"{unit}, lower is better", f"{unit}, higher is better"]


def test_commands_are_compared_whatever_they_are_called() -> None:
    a, b = (foreign_results({name: processes(20)}, name=name, format="hyperfine") for name in ("./old", "./new"))
    assert judged(a, b).benchmark == "./new"
    with pytest.raises(UsageError, match="no benchmark in common"):
        judged(*(foreign_results({name: processes(20)}, name=name) for name in ("x", "y")))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"format": "jmh"}, "do not measure the same"),
        ({"unit": "ms"}, "one unit"),
        ({"higher_is_better": True}, "higher in B"),
        ({"machine": {"processor": "other"}}, "--force"),
        ({"name": "a"}, "is in both A and B"),
    ],
)
def test_what_cannot_be_compared(options: dict[str, Any], says: str) -> None:
    a = foreign_results({"x": processes(20)}, name="a", machine={"processor": "one"})
    b = foreign_results({"x": processes(20)}, **{"name": "b", "machine": {"processor": "one"}, **options})
    with pytest.raises(UsageError, match=says):
        judged(a, b)


def test_the_commands_of_one_file_are_imported_apart() -> None:
    both = foreign_results({"./old": processes(20), "./new": processes(20)}, name="a", format="hyperfine")
    with pytest.raises(UsageError, match=r"is in both A and B: .*, or import its commands apart, each by --benchmark"):
        judged(both, both)


def test_another_machine_and_what_else_differs_is_said() -> None:
    a = foreign_results({"x": processes(20)}, name="a", machine={"processor": "one", "host": "h"})
    b = foreign_results({"x": processes(20, seed=2)}, name="b", machine={"processor": "two", "host": "g"})
    report = compare_foreign(a, b, replace(TERMS, force=True))
    assert [finding.code for finding in report.findings] == ["other-machine", "differs", "differs"]


def test_the_level_is_that_of_the_processes() -> None:
    (level,) = describe_levels(foreign_results({"x": [[1.0, 1.0, 1.0, 100.0], [2.0], [3.0, 3.0, 3.0]]}).benchmarks)
    assert (level.median, level.processes, level.samples) == (2.0, 3, 8)
    assert level.within == pytest.approx(24.75 / 1.349 / 2)  # the median of the first process's spread and 0
    (alone,) = describe_levels(foreign_results({"x": [[1.0, 2.0]]}).benchmarks)
    assert alone.between is None
    (single,) = describe_levels(foreign_results({"x": [[1.0], [2.0]]}).benchmarks)
    assert single.within is None


@pytest.mark.parametrize("higher_is_better", [False, True])
def test_what_is_spread_beyond_all_ratios_has_no_interval(higher_is_better: bool) -> None:
    values = [[1e-99]] * 24 + [[1e99]] * 24
    a = foreign_results({"x": values}, name="a", higher_is_better=higher_is_better)
    b = foreign_results(
        {"x": [[0.9 * one for one in each] for each in values]}, name="b", higher_is_better=higher_is_better
    )
    verdict = judged(a, b)
    assert (verdict.verdict, verdict.interval) == ("undecided", None)
