"""The pairs that are judged: what was measured, corrected for the order of the two launches."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.design.judging.findings import order_finding
from steelyard.design.judging.judgement import look_at
from steelyard.design.judging.pairs import MetricPairs
from steelyard.model.errors import MeasurementError, NoRatioError
from steelyard.model.launches import Launches
from steelyard.model.rows import IN_TANDEM, LaunchRow, Sample
from steelyard.model.settings import Settings
from steelyard.stats.looks import Budgets
from tests.model.samples import row

# The baseline's order in each pair, and how much longer the second launch takes.
ORDERS, COSTS_NS = (0, 1, 1, 0, 0, 1, 0, 1), 400_000


def launches(pair: int, order: int, way: int = 0, costs_ns: int = COSTS_NS) -> list[LaunchRow]:
    """Return both launches of a pair, the baseline's with this order."""
    orders = order, 1 - order
    return [
        row(pair, side, order=way + place, cpu_ns=10_000_000 + place * costs_ns, user_ns=0, sys_ns=0)
        for side, place in enumerate(orders)
    ]


ALONE = [one for pair, order in enumerate(ORDERS) for one in launches(pair, order)]
BESIDE = [one for pair, order in enumerate(ORDERS) for one in launches(8 + pair, order, IN_TANDEM, -COSTS_NS)]


def ratios(rows: list[LaunchRow], *, measured: bool = False) -> np.ndarray:
    pairs = MetricPairs(Launches.of_rows(rows), 0, "cpu")
    baseline, candidate = (pairs.measured if measured else pairs.first)(pairs.count())
    return np.log(candidate / baseline)


def test_what_the_order_makes_of_a_pair_is_known_from_the_pairs_before() -> None:
    effect = np.log(1 + COSTS_NS / 10_000_000)
    assert np.abs(ratios(ALONE, measured=True)) == pytest.approx(effect)
    assert np.abs(ratios(ALONE)[:6]) == pytest.approx(effect)
    assert ratios(ALONE)[6:] == pytest.approx(0.0, abs=1e-12)


def test_what_a_clock_hides_of_a_sample_it_hides_of_each_of_its_iterations() -> None:
    samples = tuple(Sample(13, 1_500_000, None, None) for _ in range(3))
    rows = [row(pair, side, samples=samples) for pair in range(12) for side in (0, 1)]
    pairs = MetricPairs(Launches.of_rows(rows), 0, "wall")
    assert pairs.hidden_by_clock(12) == pytest.approx(2 * 500_000 / 1_500_000)


@pytest.mark.parametrize(
    ("metric", "baseline", "candidate", "step"),
    [
        ("minor_faults", [100, 100], [110, 110], 1 / 105),
        ("minor_faults", [100, 106], [110, 110], 4 / 108),
        ("max_rss", [40_960, 40_960], [81_920, 81_920], 4096 / 61_440),
        ("user", [100, 100], [110, 110], 10 / 105),
    ],
)
def test_a_change_between_two_exact_numbers_is_no_step(
    metric: str, baseline: list[int], candidate: list[int], step: float
) -> None:
    field = {"max_rss": "max_rss_bytes", "user": "user_ns"}.get(metric, metric)
    sides = (baseline, candidate)
    rows = [row(pair, side, **{field: sides[side][pair % 2]}) for pair in range(12) for side in (0, 1)]
    assert MetricPairs(Launches.of_rows(rows), 0, metric).step_of_few(12) == pytest.approx(step)


def test_in_tandem_the_order_has_an_effect_of_its_own() -> None:
    found = ratios([*ALONE, *BESIDE])
    assert np.abs(found[8:14]) == pytest.approx(-np.log(1 - COSTS_NS / 10_000_000))
    assert found[14:] == pytest.approx(0.0, abs=1e-12)


def test_what_layouts_differ_by_is_no_effect_of_the_order() -> None:
    """Even if by chance the baseline begins more often in one layout than in the other."""
    rows = []
    for pair, order in enumerate(2 * ORDERS):
        layout = 1 + (1 - order if pair % 4 == 3 else order)
        baseline, candidate = (one._replace(layout=layout) for one in launches(pair, order, costs_ns=0))
        rows += [baseline, candidate._replace(cpu_ns=10_000_000 + layout * COSTS_NS)]
    assert ratios(rows) == pytest.approx(ratios(rows, measured=True), abs=1e-12)
    assert len({*np.round(ratios(rows), 9)}) == 2


def test_by_how_much_the_second_takes_longer_is_told_of_the_way_that_pairs_run_now() -> None:
    pairs = MetricPairs(Launches.of_rows([*ALONE, *BESIDE]), 0, "cpu")
    usual = Settings(alpha=0.05)
    few, alone, beside = (order_finding(pairs, number, usual) for number in (3, 8, 16))
    assert few is None
    assert alone is not None
    assert alone.message.startswith("the second launch of a pair takes 4 % longer than the first: ")
    assert beside is not None
    assert beside.message.startswith("of two launches at once the later one takes 4 % less than the first")
    assert order_finding(pairs, 16, Settings(alpha=0.05, margin=0.05)) is None


def test_what_the_clock_hides_is_told_by_what_was_measured() -> None:
    pairs = MetricPairs(Launches.of_rows(ALONE), 0, "cpu")
    assert pairs.hidden_by_clock(8) == pytest.approx(2 * COSTS_NS / 10_200_000)
    assert MetricPairs(Launches.of_rows(ALONE), 0, "minor_faults").hidden_by_clock(8) == 0.0


def test_how_many_ran_as_the_newest_one_did_goes_with_a_judgement() -> None:
    """The variation of the others says nothing about the pairs to come (`stats.paired`)."""
    pairs = MetricPairs(Launches.of_rows([*ALONE, *BESIDE]), 0, "cpu")
    assert [pairs.alike(number) for number in (8, 9, 12, 16)] == [None, 1, 4, 8]
    judgement = look_at(pairs, Settings(), Budgets(), ended=True, newest_only=True, members=1)
    assert judgement is not None
    assert (judgement.look.pairs, judgement.alike) == (16, 8)


@pytest.mark.parametrize("zero", [(), (0,), (1,), (0, 1)])
@pytest.mark.parametrize("place", [0, 3])
def test_nothing_on_both_sides_is_no_change_and_on_one_side_has_no_ratio(zero: tuple[int, ...], place: int) -> None:
    rows = [
        row(pair, side, user_ns=0 if pair == place and side in zero else 7_000_000)
        for pair in range(4)
        for side in (0, 1)
    ]
    pairs = MetricPairs(Launches.of_rows(rows), 0, "user")
    if len(zero) == 1:
        with pytest.raises(NoRatioError, match="user was 0 or less in some launches and not in others"):
            pairs.measured(4)
        assert len(pairs.measured(place)[0]) == place
        return
    baseline, candidate = pairs.measured(4)
    assert (candidate / baseline).tolist() == [1.0] * 4
    assert baseline[1] == 7_000_000


def test_what_comes_behind_the_first_pairs_leaves_their_metric_alone() -> None:
    rows = [row(pair, side, others_ns=9_000_000 if pair == 5 else 0) for pair in range(8) for side in (0, 1)]
    pairs = MetricPairs(Launches.of_rows(rows), 0, "active")
    assert [pairs.used_metric(number) for number in (5, 6)] == ["active", "wall"]
    assert [pairs.pairs_judged_otherwise(number) for number in (5, 6, 8)] == [0, 5, 5]


@pytest.mark.parametrize("side", [0, 1])
def test_a_thread_of_one_side_alone_falls_back_to_what_all_launches_have(side: int) -> None:
    """Elapsed time, or, once pairs ran in tandem, the processor time of all threads."""
    helped = [(2, side), (5, side)]
    rows = [
        row(pair, one, order=one + IN_TANDEM * (pair > 3), others_ns=9_000_000 * ((pair, one) in helped))
        for pair in range(8)
        for one in (0, 1)
    ]
    pairs = MetricPairs(Launches.of_rows(rows), 0, "active")
    assert [pairs.used_metric(number) for number in (2, 3, 4, 5)] == ["active", "wall", "wall", "cpu"]
    assert [pairs.pairs_judged_otherwise(number) for number in (2, 3, 4, 5, 8)] == [0, 2, 2, 4, 4]
    assert [{*values} for values in pairs.known(4)] == [{10_000_000}] * 2
    assert [float(values.min()) for values in pairs.known(8)] == [
        9_000_000 if one == side else 9_500_000 for one in (0, 1)
    ]


@pytest.mark.parametrize("side", [0, 1])
def test_what_is_not_known_of_one_launch_is_not_judged(side: int) -> None:
    rows = [row(pair, one, delay_ns=None if (pair, one) == (3, side) else 900) for pair in range(8) for one in (0, 1)]
    pairs = MetricPairs(Launches.of_rows(rows), 0, "delay")
    assert len(pairs.known(3)[0]) == 3
    with pytest.raises(MeasurementError, match="this machine cannot measure delay"):
        pairs.known(4)
