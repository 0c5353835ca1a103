from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import multivariate_normal, norm

from steelyard.stats import sequential, spending, stopped, weighted
from steelyard.stats.looks import Look, plan_looks
from steelyard.stats.sequential import Hypothesis
from steelyard.stats.signed_rank import Estimate

FloatArray = npt.NDArray[np.float64]
CHANGE, NOISE, BOUND, ALPHA = 0.01, 0.02, 0.005, 0.01


def stop(d: FloatArray, levels: FloatArray, alpha: float = ALPHA) -> tuple[int, Estimate]:
    """Return the pairs at which a weighing stops, and its estimate."""
    for pairs in (look.pairs for look in plan_looks(len(d), ended=False)):
        looks = plan_looks(pairs, ended=False)
        asked = [Hypothesis(0.0, alpha)]
        if sequential.run_tests(d[:pairs], levels[:pairs], looks, asked, keep=True)[0].rejected:
            level = spending.nominal_level(looks, alpha)
            found = weighted.rough_estimate(d[:pairs], levels[:pairs], level)
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
    found = weighted.rough_estimate(d, levels, 0.001)
    mirrored = Estimate(-found.centre, -found.upper, -found.lower, found.n, found.level)
    there = stopped.median_unbiased(d, levels, looks, ALPHA, found, BOUND)
    back = stopped.median_unbiased(-d, levels, looks, ALPHA, mirrored, BOUND)
    assert back == -there
    assert there < found.centre


@pytest.mark.parametrize("alpha", [ALPHA, ALPHA / 4, ALPHA / 12])
@pytest.mark.parametrize("outlier", [0.0, -0.3])
def test_one_that_stopped_as_soon_as_it_could_is_what_it_seems(alpha: float, outlier: float) -> None:
    """However many share alpha: earlier looks could find nothing, or an outlier kept them from it."""
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
        found = weighted.rough_estimate(d, np.zeros(40), level)
        assert stopped.median_unbiased(d, np.zeros(40), looks, ALPHA, found, BOUND) == pytest.approx(0.05, abs=1e-4)
    exact = Estimate(0.05, 0.05, 0.05, 40, 1e-6)
    assert stopped.median_unbiased(d, np.zeros(40), looks, ALPHA, exact, BOUND) == 0.05


def test_a_weighing_of_one_look_could_not_stop_early() -> None:
    d = CHANGE + NOISE * np.random.default_rng(2).standard_normal(8)
    found = weighted.rough_estimate(d, np.zeros(8), 0.05)
    looks = plan_looks(8, ended=True)
    assert stopped.median_unbiased(d, np.zeros(8), looks, ALPHA, found, BOUND) == found.centre


def steady(pairs: int, centre: float) -> FloatArray:
    """Return differences about a centre, normal quantiles of which any ten in a row have the same spread."""
    quantiles = norm.ppf((np.arange(10) + 0.5) / 10)
    return centre + NOISE * np.tile(np.random.default_rng(0).permutation(quantiles), pairs // 10)


def least_found(d: FloatArray, look: Look, alpha: float) -> float:
    """Return by brute force the least change that the look finds, given noise d (n,) about 0."""
    low, high = 0.0, 10 * NOISE
    for _ in range(16):
        middle = (low + high) / 2
        asked = [Hypothesis(0.0, alpha)]
        found = sequential.run_tests(d + middle, np.zeros(len(d)), [look], asked, keep=False)[0].rejected
        low, high = (low, middle) if found else (middle, high)
    return high


def share_above(change: float, sizes: tuple[int, int], error: float, least: float, found: float) -> float:
    """Return the share of normal estimates that stop at the first of two looks, or are above `found` at the second.

    `error` is the standard error at the second look.
    """
    kept = np.sqrt(sizes[0] / sizes[1])
    early, late = (least - change) / (error / kept), (found - change) / error
    neither = multivariate_normal(cov=[[1, kept], [kept, 1]]).cdf([early, late])
    return 1 - float(neither)


@pytest.mark.parametrize(
    ("sizes", "alpha", "share", "centre"),
    [
        ((20, 40), 0.05, 0.5, 0.010),
        ((30, 40), 0.05, 0.9, 0.010),
        ((100, 130), 0.05, 0.9, 0.0045),
        ((20, 30), 0.02, 0.9, 0.013),
    ],
)
@pytest.mark.parametrize("first", [-2.0, 2.0])
def test_of_two_looks_half_of_all_weighings_would_have_come_out_above(
    sizes: tuple[int, int], alpha: float, share: float, centre: float, first: float
) -> None:
    """By the normal distribution of both estimates, on whichever side the first pair happens to be."""
    looks = [Look(sizes[0], 0.0, share, last=False), Look(sizes[1], share, 1.0, last=True)]
    d, levels = steady(sizes[1], centre), np.zeros(sizes[1])
    outer = int(np.argmin(np.abs(d[:10] - centre - first * NOISE)))
    d[[0, outer]] = d[[outer, 0]]
    found = weighted.rough_estimate(d, levels, ALPHA)
    unbiased = stopped.median_unbiased(d, levels, looks, alpha, found, 0.0)
    least = least_found(d[: sizes[0]] - found.centre, looks[0], alpha)
    assert found.centre - 0.9 * found.standard_error < unbiased < found.centre
    assert share_above(unbiased, sizes, found.standard_error, least, found.centre) == pytest.approx(0.5, abs=0.03)


def test_no_more_than_a_standard_error_is_taken_off() -> None:
    """Here an outlier, say, delayed the end: even with half of this change nearly all stop at the first look."""
    d, levels = steady(130, 0.0105), np.zeros(130)
    looks = [Look(100, 0.0, 0.9, last=False), Look(130, 0.9, 1.0, last=True)]
    found = weighted.rough_estimate(d, levels, ALPHA)
    unbiased = stopped.median_unbiased(d, levels, looks, 0.05, found, 0.0)
    assert unbiased == found.centre - found.standard_error
    assert share_above(unbiased, (100, 130), found.standard_error, found.centre / 2, found.centre) > 0.9
