"""The pairs that are judged: what was measured, without what the order of the two launches makes of it."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.design.judging.findings import order_finding
from steelyard.design.judging.pairs import MetricPairs
from steelyard.model.launches import IN_TANDEM, Launches, LaunchRow
from steelyard.model.settings import Settings
from tests.model.samples import row

# Whose launch comes first, and what the second one takes longer.
ORDERS, COSTS_NS = (0, 1, 1, 0, 0, 1, 0, 1), 400_000


def launches(pair: int, order: int, way: int = 0, costs_ns: int = COSTS_NS) -> list[LaunchRow]:
    """Both launches of a pair, of which the baseline's has that order."""
    orders = order, 1 - order
    return [
        row(pair, side, order=way + place, cpu_ns=10_000_000 + place * costs_ns, user_ns=0, sys_ns=0)
        for side, place in enumerate(orders)
    ]


def ratios(rows: list[LaunchRow], *, measured: bool = False) -> np.ndarray:
    pairs = MetricPairs(Launches.of_rows(rows), 0, "cpu")
    baseline, candidate = (pairs.measured if measured else pairs.first)(pairs.count())
    return np.log(candidate / baseline)


def test_what_the_order_makes_of_a_pair_is_known_from_the_pairs_before() -> None:
    rows = [one for pair, order in enumerate(ORDERS) for one in launches(pair, order)]
    effect = np.log(1 + COSTS_NS / 10_000_000)
    assert np.abs(ratios(rows, measured=True)) == pytest.approx(effect)
    assert np.abs(ratios(rows)[:4]) == pytest.approx(effect)
    assert ratios(rows)[4:] == pytest.approx(0.0, abs=1e-12)


def test_in_tandem_the_order_has_an_effect_of_its_own() -> None:
    alone = [one for pair, order in enumerate(ORDERS) for one in launches(pair, order)]
    beside = [one for pair, order in enumerate(ORDERS) for one in launches(8 + pair, order, IN_TANDEM, -COSTS_NS)]
    found = ratios([*alone, *beside])
    assert np.abs(found[8:12]) == pytest.approx(-np.log(1 - COSTS_NS / 10_000_000))
    assert found[12:] == pytest.approx(0.0, abs=1e-12)


def test_by_how_much_the_second_takes_longer_is_told_of_the_way_that_pairs_run_now() -> None:
    alone = [one for pair, order in enumerate(ORDERS) for one in launches(pair, order)]
    beside = [one for pair, order in enumerate(ORDERS) for one in launches(8 + pair, order, IN_TANDEM, -COSTS_NS)]
    pairs = MetricPairs(Launches.of_rows([*alone, *beside]), 0, "cpu")
    usual = Settings(alpha=0.05)
    of = {number: order_finding(pairs, number, usual) for number in (3, 8, 16)}
    assert of[3] == []
    assert of[8][0].message.startswith("the second launch of a pair takes 4 % longer than the first: ")
    assert of[16][0].message.startswith("of two at once the one that begins later takes 4 % less than the first")
    assert order_finding(pairs, 16, Settings(alpha=0.05, margin=0.05)) == []


def test_what_the_clock_hides_is_told_by_what_was_measured() -> None:
    rows = [one for pair, order in enumerate(ORDERS) for one in launches(pair, order)]
    pairs = MetricPairs(Launches.of_rows(rows), 0, "cpu")
    assert pairs.hidden_by_clock(8) == pytest.approx(2 * COSTS_NS / 10_200_000)
    assert MetricPairs(Launches.of_rows(rows), 0, "minor_faults").hidden_by_clock(8) == 0.0
