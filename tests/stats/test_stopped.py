from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from steelyard.stats import sequential, stopped, weighted
from steelyard.stats.looks import plan_looks
from steelyard.stats.sequential import Hypothesis
from steelyard.stats.weighted import Estimate

FloatArray = npt.NDArray[np.float64]
CHANGE, NOISE, BOUND, ALPHA = 0.01, 0.02, 0.005, 0.01


def stop(d: FloatArray, levels: FloatArray, alpha: float = ALPHA) -> tuple[int, Estimate]:
    """The look at which a weighing stops, and its estimate."""
    for pairs in (look.pairs for look in plan_looks(len(d), ended=False)):
        looks = plan_looks(pairs, ended=False)
        asked = [Hypothesis(0.0, alpha)]
        if sequential.tested(d[:pairs], levels[:pairs], looks, asked, keep=True)[0].rejected:
            level = sequential.nominal_level(looks, alpha)
            found = weighted.roughly(d[:pairs], levels[:pairs], level)
            if found.centre >= BOUND:
                return pairs, found
    raise AssertionError("a change of 1 % is found in so many pairs")


def test_half_of_the_estimates_are_above_the_change_where_stopping_makes_most_too_large() -> None:
    above, corrected = [], []
    for seed in range(60):
        d = CHANGE + NOISE * np.random.default_rng(seed).standard_normal(250)
        levels = np.zeros(250)
        pairs, found = stop(d, levels)
        looks = plan_looks(pairs, ended=False)
        unbiased = stopped.median_unbiased(d[:pairs], levels[:pairs], looks, ALPHA, found, BOUND)
        assert BOUND <= unbiased <= found.centre
        above.append(found.centre)
        corrected.append(unbiased)
    assert np.mean(above) > CHANGE + 0.001
    assert abs(np.mean(corrected) - CHANGE) < 0.001
    assert 0.35 < np.mean(np.array(corrected) > CHANGE) < 0.6


def test_a_faster_program_s_estimate_is_the_mirror_of_a_slower_one_s() -> None:
    d = CHANGE + NOISE * np.random.default_rng(2).standard_normal(60)
    levels, looks = np.zeros(60), plan_looks(60, ended=True)
    found = weighted.roughly(d, levels, 0.001)
    mirrored = Estimate(-found.centre, -found.upper, -found.lower, found.n, found.level)
    there = stopped.median_unbiased(d, levels, looks, ALPHA, found, BOUND)
    back = stopped.median_unbiased(-d, levels, looks, ALPHA, mirrored, BOUND)
    assert back == -there
    assert there < found.centre


@pytest.mark.parametrize("alpha", [ALPHA, ALPHA / 4, ALPHA / 12])
@pytest.mark.parametrize("outlier", [0.0, -0.3])
def test_one_that_stopped_as_soon_as_it_could_is_what_it_seems(alpha: float, outlier: float) -> None:
    """However many share alpha: the looks before it could find nothing, or an outlier kept them from it."""
    d = 0.4 + 0.02 * np.random.default_rng(1).standard_normal(60)
    d[3] += outlier
    pairs, found = stop(d, np.zeros(60), alpha)
    unbiased = stopped.median_unbiased(d[:pairs], np.zeros(pairs), plan_looks(pairs, ended=False), alpha, found, BOUND)
    assert pairs < 30
    assert found.centre - found.standard_error <= unbiased <= found.centre
    assert unbiased == pytest.approx(0.4, rel=0.04)


def test_of_differences_that_are_nearly_all_equal_the_estimate_is_what_it_seems() -> None:
    d = np.full(40, 0.05)
    d[7] = 0.0501
    looks = plan_looks(40, ended=True)
    for level in (1e-3, 1e-6):
        found = weighted.roughly(d, np.zeros(40), level)
        assert stopped.median_unbiased(d, np.zeros(40), looks, ALPHA, found, BOUND) == pytest.approx(0.05, abs=1e-4)
    exact = Estimate(0.05, 0.05, 0.05, 40, 1e-6)
    assert stopped.median_unbiased(d, np.zeros(40), looks, ALPHA, exact, BOUND) == 0.05


def test_a_weighing_of_one_look_could_not_stop_early() -> None:
    d = CHANGE + NOISE * np.random.default_rng(2).standard_normal(8)
    found = weighted.roughly(d, np.zeros(8), 0.05)
    looks = plan_looks(8, ended=True)
    assert stopped.median_unbiased(d, np.zeros(8), looks, ALPHA, found, BOUND) == found.centre
