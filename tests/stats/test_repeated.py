from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import numpy.typing as npt
import pytest

from steelyard.stats import repeated, sequential, spending, weighted
from steelyard.stats.looks import plan_looks
from steelyard.stats.sequential import Hypothesis
from steelyard.stats.signed_rank import estimate as by_ranks

FloatArray = npt.NDArray[np.float64]
KNOWN = (0.0, -0.005, 0.005)


def values(pairs: int, change: float = 0.01) -> tuple[FloatArray, FloatArray]:
    generator = np.random.default_rng(pairs)
    return change + 0.01 * generator.standard_normal(pairs), 0.01 * generator.standard_normal(pairs)


def accepted(d: FloatArray, levels: FloatArray, changes: FloatArray) -> FloatArray:
    """Return the changes that no look rejects."""
    asked = [Hypothesis(float(change), 0.01) for change in changes]
    tests = sequential.run_tests(d, levels, plan_looks(len(d), ended=True), asked, keep=False)
    return changes[[not one.rejected for one in tests]]


@pytest.mark.parametrize(("pairs", "change"), [(20, 0.01), (60, 0.01), (60, -0.01), (60, 0.0)])
def test_the_interval_is_hardly_wider_than_the_hull_of_what_is_accepted(pairs: int, change: float) -> None:
    d, levels = values(pairs, change)
    looks = plan_looks(pairs, ended=True)
    found = repeated.estimate(d, levels, looks, 0.01, KNOWN)
    lower, upper = found.estimate.lower, found.estimate.upper
    half = (upper - lower) / 2
    held = accepted(d, levels, np.linspace(lower - half, upper + half, 17))
    assert lower <= held[0]
    assert held[-1] <= upper
    just_inside = np.array([lower + 0.1 * half, upper - 0.1 * half])
    assert accepted(d, levels, just_inside).tolist() == just_inside.tolist()
    around = weighted.estimate(d, levels, spending.nominal_level(looks, 0.01), KNOWN)
    assert found.estimate.centre == found.scored == around.centre


def slow_in_some_launches() -> FloatArray:
    generator = np.random.default_rng(3)
    return 0.004 * generator.standard_normal(60) + 0.2 * (generator.random(60) < 0.45)


@pytest.mark.parametrize("side", [1, -1])
def test_of_a_candidate_slow_in_some_launches_the_estimate_is_that_of_the_ranks(side: int) -> None:
    """So is the interval, except that it includes known changes that the test accepts: here one beyond each end."""
    d, looks = side * slow_in_some_launches(), plan_looks(60, ended=True)
    ranks = by_ranks(d, spending.nominal_level(looks, 0.01))
    known = side * np.array([0.0, 0.002, 0.101, 0.12])
    assert accepted(d, np.zeros(60), known).tolist() == known[1:3].tolist()
    alone = repeated.estimate(d, np.zeros(60), looks, 0.01, (0.0,)).estimate
    assert (alone.lower, alone.centre, alone.upper) == (ranks.lower, ranks.centre, ranks.upper)
    found = repeated.estimate(d, np.zeros(60), looks, 0.01, known.tolist()).estimate
    assert (found.lower, found.centre, found.upper) == (min(known[1:3]), ranks.centre, max(known[1:3]))


@pytest.mark.parametrize("side", [1, -1])
def test_an_interval_of_ranks_ends_before_known_changes_that_are_rejected(
    side: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    d, looks = side * slow_in_some_launches(), plan_looks(60, ended=True)
    wide = replace(by_ranks(d, 0.01), lower=-1.0, upper=1.0)
    monkeypatch.setattr(repeated, "by_ranks", lambda *_: wide)
    known = sorted(side * np.array([-0.1, 0.0, 0.002, 0.12, 0.15]))
    found = repeated.estimate(d, np.zeros(60), looks, 0.01, known).estimate
    ends = sorted([np.nextafter(0.0, side), side * np.nextafter(0.12, 0.0)])
    assert [found.lower, found.upper] == ends


def test_of_equal_differences_the_interval_is_one_place() -> None:
    d, looks = np.full(30, 0.01), plan_looks(30, ended=True)
    found = repeated.estimate(d, np.zeros(30), looks, 0.01, KNOWN).estimate
    assert (found.lower, found.centre, found.upper) == (0.01, 0.01, 0.01)


def test_pairs_too_few_for_the_level_have_no_interval() -> None:
    d, looks = np.array([0.01, 0.02, 0.03]), plan_looks(3, ended=True)
    found = repeated.estimate(d, np.zeros(3), looks, 0.01, KNOWN).estimate
    assert (found.lower, found.upper) == (-inf, inf)


@pytest.mark.parametrize("side", [-1, 1])
def test_an_end_stops_short_of_a_known_change_that_is_rejected(side: int) -> None:
    """The known change is so close that the end, moved outwards as usual, would be beyond it."""
    d, levels = values(60)
    looks = plan_looks(60, ended=True)
    around = weighted.estimate(d, levels, spending.nominal_level(looks, 0.01))
    inner, barrier = around.centre, around.centre + side * (around.upper - around.lower)
    while abs(barrier - inner) > 1e-6:
        middle = (inner + barrier) / 2
        inner, barrier = (middle, barrier) if len(accepted(d, levels, np.array([middle]))) else (inner, middle)
    end = repeated.interval(d, levels, looks, 0.01, around, (barrier,))[0 if side < 0 else 1]
    assert end == np.nextafter(barrier, -side * inf)


@pytest.mark.parametrize("apart", [(3, 6), (2, 10)])
def test_a_change_that_most_pairs_show_to_the_last_digit_is_in_the_interval(apart: tuple[int, int]) -> None:
    d = np.full(14, 0.05)
    d[list(apart)] = -0.55, -0.49
    looks = plan_looks(14, ended=True)[:1]
    for side in (1, -1):
        found = repeated.estimate(side * d, np.zeros(14), looks, 0.05, KNOWN).estimate
        assert found.lower <= side * 0.05 <= found.upper
        assert found.centre * side > 0
