"""From a record's counts to verdicts and summaries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from steelyard.design.counting.judgement import count_summary, count_verdicts, with_disagreements
from steelyard.design.counting.plan import missing_counts
from steelyard.model.counting import Count, CountSettings, Weights
from steelyard.model.derived import Verdict
from steelyard.model.errors import MeasurementError
from steelyard.model.launches import Launches
from steelyard.model.settings import Shard
from steelyard.stats.counts import counts_needed
from tests.design.counted import count, counted_run, counted_weighing, counts
from tests.report.records import row, verdict

MORE = counts_needed(0.01)
# Reads and writes beside the instructions: 3 hits of main memory, 4 of the last level, all others of the first.
EVENTS = {"I1mr": 2, "ILmr": 1, "Dr": 300, "D1mr": 4, "DLmr": 1, "Dw": 100, "D1mw": 1, "DLmw": 1}


def judge(made: list[Count], metric: str = "instructions", members: int = 1, **settings: Any) -> Verdict:
    benchmarks = 1 + max((one.benchmark for one in made), default=0)
    record = counted_weighing(made, benchmarks=benchmarks, **settings)
    record = record.model_copy(update={"stop": ["decided"] * benchmarks})
    return count_verdicts(record, list(range(members)), metric)[0]


def test_equal_counts_decide_by_the_margin_alone() -> None:
    slower = judge(counts([1000, 1000], [1006, 1006]))
    assert (slower.verdict, slower.stability, slower.floor, slower.pairs) == ("slower", "exact", 0, 2)
    assert slower.change == pytest.approx(0.006)
    assert slower.interval == pytest.approx((0.006, 0.006))
    assert judge(counts([1000, 1000], [1004, 1004])).verdict == "same"
    assert judge(counts([1000, 1000], [990, 990])).verdict == "faster"


def test_a_change_of_counts_is_sure_where_they_repeat_or_are_enough() -> None:
    assert judge(counts([1000, 1000], [1004, 1004])).is_change
    assert not judge(counts([1000, 1000], [1000, 1000])).is_change
    apart = counts([7, 8, *range(1000, 1000 + MORE)], [7, 8, *range(1010, 1010 + MORE)])
    assert judge(apart).is_change
    assert not judge(apart + counts([5, 5], [5, 5], 1), members=2).is_change


def test_what_was_not_confirmed_because_it_was_cut_short_is_undecided() -> None:
    record = counted_weighing(counts([1000, 1000, 1000], [1006, 1006]))
    assert record.stop == ["interrupted"]
    (found,) = count_verdicts(record, [0], "instructions")
    assert (found.verdict, found.stability, found.pairs_needed) == ("undecided", "exact", MORE)
    (same,) = count_verdicts(counted_weighing(counts([1000, 1000], [1004, 1004])), [0], "instructions")
    assert same.verdict == "same"


def test_alike_sides_whose_counts_take_two_values_alarm_at_most_at_alpha() -> None:
    """The plan runs to its end: until they are confirmed, such counts pass for exact in one of eight tries."""
    generator = np.random.default_rng(5)
    passed, alarms, tries = 0, 0, 600
    for _ in range(tries):
        made: list[Count] = []
        record = counted_weighing(made)
        while places := missing_counts(record):
            made += [count(side, int(generator.choice([1000, 1010]))) for _, side in places]
            record = counted_weighing(made)
            passed += len(made) == 4 and bool(missing_counts(record)) and len(missing_counts(record)) < 2 * MORE
        found = count_verdicts(record.model_copy(update={"stop": ["decided"]}), [0], "instructions")[0]
        alarms += found.verdict in ("slower", "faster")
    assert passed > 0.08 * tries
    assert alarms <= 0.01 * tries


@pytest.mark.parametrize(
    ("baseline", "candidate", "change"),
    [([], [], None), ([1000], [], None), ([1000], [1000], 0.0), ([1000, 1000], [1010], 0.01)],
)
def test_too_few_counts_decide_nothing_but_have_an_estimate(
    baseline: list[int], candidate: list[int], change: float | None
) -> None:
    found = judge(counts(baseline, candidate))
    assert (found.verdict, found.interval, found.looks, found.is_change) == ("undecided", None, 0, False)
    assert found.change == change


def test_first_counts_that_were_set_aside_are_not_judged() -> None:
    found = judge(counts([1500, 1000, *[1000] * MORE], [1006] * (2 + MORE)))
    assert (found.verdict, found.stability, found.pairs) == ("slower", "exact", MORE)
    assert found.change == pytest.approx(0.006)
    assert found.seconds == 2 * (2 + MORE)  # their time counts all the same


def test_what_once_differed_is_undecided_until_all_are_counted() -> None:
    for later in range(1, MORE):
        found = judge(counts([1500, 1000, *[1000] * later], [2000] * (2 + later)))
        assert found.verdict == "undecided"
        assert found.pairs_needed == (MORE if later > 1 else None)


def test_counts_that_never_repeat_are_decided_when_the_sides_are_wholly_apart() -> None:
    first = [1000, 1001]
    beyond = judge(counts([*first, *range(1000, 1000 + MORE)], [*first, *range(1100, 1100 + MORE)]))
    assert (beyond.verdict, beyond.stability, beyond.pairs_needed) == ("slower", "noisy", None)
    assert beyond.interval == pytest.approx((1100 / (999 + MORE) - 1, (1099 + MORE) / 1000 - 1))
    mixed = judge(counts([*first, *range(1000, 1000 + MORE)], [*first, *range(1004, 1004 + MORE)]))
    assert mixed.verdict == "undecided"


def test_a_suite_needs_more_of_them() -> None:
    made = [*counts([7, 8, *range(1000, 1000 + MORE)], [7, 8, *range(1100, 1100 + MORE)]), *counts([5, 5], [5, 5], 1)]
    assert judge(made).verdict == "slower"
    shared = judge(made, members=2)
    assert (shared.verdict, shared.pairs_needed) == ("undecided", counts_needed(0.005))


def test_a_part_of_a_suite_needs_as_many_as_the_whole() -> None:
    """Else what it calls slower would be undecided after merging, when nobody counts it any more."""
    suite = [f"benchmark {number}" for number in range(100)]
    wanted, shard = counts_needed(0.01 / 100), Shard(number=1, of=100, suite=suite)
    assert wanted > MORE
    for many, word, lacking in ((MORE, "undecided", wanted), (wanted, "slower", None)):
        made = counts([7, 8, *range(1000, 1000 + many)], [7, 8, *range(1100, 1100 + many)])
        found = judge(made, shard=shard.model_dump())
        assert (found.verdict, found.pairs_needed) == (word, lacking)
        assert bool(missing_counts(counted_weighing(made, shard=shard.model_dump()))) is (lacking is not None)


def test_two_kept_runs_may_have_been_counted_unequally_often() -> None:
    # One run's counts repeated at once, the other's only after its first counts.
    found = judge(counts([1000, 1000], [1500, 1006, *[1006] * MORE]))
    assert (found.verdict, found.stability) == ("slower", "exact")
    assert judge(counts([1000, 1000], [1500, 1006, 1006, 1006])).verdict == "undecided"


def test_alike_sides_with_a_cache_to_fill_alarm_at_most_at_alpha() -> None:
    generator = np.random.default_rng(3)
    alarms, tries = 0, 1500
    for _ in range(tries):
        noise = (1000 + 10 * generator.standard_normal((2, MORE))).astype(int).tolist()
        made = counts([5000, 1000, *noise[0]], [5000, 1000, *noise[1]])
        alarms += judge(made, margin=1e-5).verdict in ("slower", "faster")
    assert alarms <= 0.01 * tries + 3 * (0.01 * tries) ** 0.5


# --- metrics


def simulated(side: int, instructions: int, **events: int) -> Count:
    return count(side, instructions, **{**EVENTS, **events})


@pytest.mark.parametrize(
    ("metric", "level"),
    [("l1_hits", 1393), ("ll_hits", 4), ("ram_hits", 3), ("cost", 1393 + 4 * 5 + 3 * 35), ("instructions", 1000)],
)
def test_every_counted_metric(metric: str, level: float) -> None:
    found = judge([simulated(side, 1000) for side in (0, 1) for _ in range(2)], metric)
    assert found.baseline is not None
    assert (found.baseline.median, found.verdict) == (level, "same")


def test_the_weights_are_those_of_the_record() -> None:
    settings = CountSettings(weights=Weights(name="own", l1=0, ll=2.5, ram=0)).model_dump()
    found = judge([simulated(side, 1000) for side in (0, 1) for _ in range(2)], "cost", counting=settings)
    assert found.baseline is not None
    assert found.baseline.median == 10


def test_no_hits_on_either_side_are_no_change() -> None:
    none = {"ILmr": 0, "DLmr": 0, "DLmw": 0}
    found = judge([simulated(side, 1000, **none) for side in (0, 1) for _ in range(2)], "ram_hits")
    assert (found.verdict, found.change) == ("same", 0)


def test_hits_on_one_side_only_have_no_relative_change() -> None:
    none = {"ILmr": 0, "DLmr": 0, "DLmw": 0}
    made = [simulated(0, 1000, **none), simulated(0, 1000, **none), simulated(1, 1000), simulated(1, 1000)]
    found = judge(made, "ram_hits")
    assert (found.verdict, found.change) == ("undecided", None)
    assert [finding.code for finding in found.findings] == ["undefined"]
    sometimes = [simulated(0, 1000, **none), *(simulated(side, 1000) for side in (0, 1, 1))]
    assert judge(sometimes, "ram_hits").change is None


def test_a_cost_needs_simulated_caches() -> None:
    with pytest.raises(MeasurementError, match=r"cost was not counted: .*Dr.*; count again with --metric cost"):
        judge(counts([5, 5], [5, 5]), "cost")


# --- a run


def test_a_run_is_summed_up_without_what_was_set_aside() -> None:
    summary = count_summary(
        counted_run([count(0, number) for number in (1500, 1000, *[1001] * 4, 1005)]), 0, "instructions"
    )
    assert (summary.median, summary.lowest, summary.highest, summary.launches) == (1001, 1001, 1005, 5)
    assert (summary.quality, summary.seconds) == ("noisy", 7)
    exact = count_summary(counted_run([count(0, 1000)] * 2), 0, "instructions")
    assert (exact.spread, exact.quality) == (0, "quiet")


def test_counts_that_ran_at_once_took_no_longer_than_the_whole() -> None:
    run = counted_run([count(0, 1000)] * 2)
    assert count_summary(run.model_copy(update={"seconds": 1.2}), 0, "instructions").seconds == 1.2
    weighing = counted_weighing(counts([1000, 1000], [1006, 1006]))
    assert count_verdicts(weighing.model_copy(update={"seconds": 2.5}), [0], "instructions")[0].seconds == 2.5


def test_counts_beside_launches_took_their_own_time_and_not_that_of_the_launches() -> None:
    record = counted_weighing(counts([1000, 1000], [1006, 1006])).model_copy(update={"seconds": 2.5})
    timed = record.model_copy(update={"launches": Launches.of_rows([row(0, 0, 100)])})
    assert count_verdicts(timed, [0], "instructions")[0].seconds == 4


def test_a_run_of_nothing() -> None:
    with pytest.raises(MeasurementError, match="nothing was counted"):
        count_summary(counted_run([]), 0, "instructions")


# --- both clocks


def both(timed: str, counted: str) -> list[Verdict]:
    of_counts = verdict(metric="instructions", verdict=counted, change=0.0)
    return with_disagreements([verdict(verdict=timed), of_counts])


def test_what_disagrees_is_said_once_beside_the_verdict_that_decides() -> None:
    first, second = both("slower", "same")
    assert [finding.code for finding in first.findings] == ["clocks-disagree"]
    assert "look at memory" in first.findings[0].message
    assert second.findings == []


@pytest.mark.parametrize("name", ["slower", "faster", "same"])
def test_what_agrees_needs_no_note(name: str) -> None:
    assert all(not found.findings for found in both(name, name))


@pytest.mark.parametrize(("timed", "counted"), [("undecided", "slower"), ("same", "undecided")])
def test_what_is_undecided_disagrees_with_nothing(timed: str, counted: str) -> None:
    assert all(not found.findings for found in both(timed, counted))


def test_each_benchmark_has_its_own_disagreement() -> None:
    made = [
        verdict(index=index, benchmark=str(index), metric=metric, verdict=name)
        for index, names in enumerate((("slower", "slower"), ("faster", "slower")))
        for metric, name in zip(("active", "cost"), names, strict=True)
    ]
    noted = [found.findings for found in with_disagreements(made)]
    assert [len(findings) for findings in noted] == [0, 0, 1, 0]
    assert "active says faster although cost rose" in noted[2][0].message


def test_a_control_says_nothing_of_the_clocks() -> None:
    made = [verdict(control=True, verdict="slower"), verdict(metric="instructions", verdict="same")]
    assert with_disagreements(made) == made


def test_a_body_within_the_first_level_has_no_hits_of_the_last_one_and_no_change_of_them() -> None:
    """Counts are those of twice the loops less those of once; here the end of the process missed the last level once
    more, and the first level no more.
    """
    none = dict.fromkeys(("I1mr", "ILmr", "Dr", "D1mr", "DLmr", "Dw", "D1mw", "DLmw"), 0)
    sides = [(0, none | {"ILmr": 1}), (1, none | {"D1mr": 5})]
    record = counted_weighing(
        [count(side, 1000, **events) for side, events in sides * 2], metrics=["instructions", "ll_hits"]
    )
    (found,) = count_verdicts(record, [0], "ll_hits")
    assert found.verdict == "undecided"
    assert [finding.message for finding in found.findings] == [
        "ll_hits was 0 in some counts, so it has no relative change"
    ]
