"""Estimate the change without the bias that stopping gives it.

A weighing stops where its estimate happens to be large, so the estimate at the stopping look is too large: by 0.15 to
0.3 points for a change of 1 % in noise of 2 to 5 %. The change shown is the one with which half of all weighings would
come out above this one, in the order of the looks (Armitage 1957; Siegmund 1978): those that stop earlier on this side
are above, those that stop at this look are ordered by their estimates, all others are below. What other weighings
would have shown is found by flipping the signs of this one's scores, so nothing is assumed about the noise over time.
That the scores and the bounds are the same for all flips is an approximation; no verdict rests on it. It fails where
noise has far outliers: one of them delays the end of a weighing whose change would have ended it at once, and a
weighing that ends late is taken for one of a small change. On average, stopping adds less than a standard error to an
estimate, so no more than that is taken off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from steelyard.stats import joint, native, sequential, spending
from steelyard.stats.arrays import FloatArray
from steelyard.stats.looks import Look
from steelyard.stats.quantiles import normal_quantile
from steelyard.stats.sequential import Hypothesis
from steelyard.stats.signed_rank import Estimate

# The number of flips and of bisection steps: together they add a hundredth of the estimate's error.
_FLIPS, _HALVINGS = 4096, 10
_HALF = 0.5
# By chance, this many pairs all lie on one side with a probability of 2^-63: below any share of alpha.
_PAIRS_SURE_TO_STOP = 64


def median_unbiased(
    d: FloatArray, levels: FloatArray, looks: Sequence[Look], alpha: float, estimate: Estimate, bound: float
) -> float:
    """Return the median-unbiased change of a weighing that stopped with the estimate `estimate`, beyond the margin.

    It lies between `bound`, the margin, and that estimate. All are log-ratios; d and levels, (n,), are those of the
    last of the looks, the one that found a change.
    """
    if estimate.centre < 0:
        mirrored = replace(estimate, centre=-estimate.centre, lower=-estimate.upper, upper=-estimate.lower)
        return -median_unbiased(-d, levels, looks, alpha, mirrored, bound)
    paths = _paths(d, levels, looks, estimate) if len(looks) > 1 else None
    if paths is None or estimate.centre <= bound:
        return estimate.centre
    levels_of_looks = [spending.nominal_level(looks[: number + 1], alpha) for number in range(len(looks))]
    bounds = np.array([normal_quantile(level) for level in levels_of_looks])
    # A change enlarges the scores that "no change" is tested with: hardly where it is small, as scores are bounded,
    # and more the nearer the bound is to the most that all pairs together can reach. By brute force it is about this
    # much.
    most = bounds**2 / [look.pairs for look in looks]
    reach = paths.spread * bounds / np.sqrt(np.maximum(1 - most**2, 1e-9))
    can_stop = [_can_stop(tuple(looks[: number + 1]), alpha) for number in range(len(looks))]
    stop_at = np.where(can_stop, reach, np.inf)
    stop_at[-1] = estimate.centre
    low, high = bound, estimate.centre
    # Weighings that end below, and would have come out above later, are too rare to matter. Where a look finds less
    # than the margin, half of all weighings with that change come out above it there, whether they stop at once or not.
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = (middle + paths.errors >= stop_at[:, None]).any(axis=0)
        too_high = above.mean() > _HALF
        low, high = (low, middle) if too_high else (middle, high)
    return max((low + high) / 2, estimate.centre - estimate.standard_error)


@lru_cache(maxsize=1024)
def _can_stop(looks: tuple[Look, ...], alpha: float) -> bool:
    """Whether the last of the looks finds a change that every pair shows; with many pairs it always does."""
    pairs = looks[-1].pairs
    if pairs > _PAIRS_SURE_TO_STOP:
        return True
    return sequential.run_tests(np.ones(pairs), np.zeros(pairs), looks, [Hypothesis(0.0, alpha)], keep=False)[
        0
    ].rejected


class _Paths(NamedTuple):
    """What other weighings would have shown at each look."""

    errors: FloatArray
    """By how much their estimates are off, shape (looks, _FLIPS)."""
    spread: FloatArray
    """The standard deviation of the errors, shape (looks,)."""


def _paths(d: FloatArray, levels: FloatArray, looks: Sequence[Look], estimate: Estimate) -> _Paths | None:
    """Return the paths; None where the scores have no slope, as where nearly all differences are equal."""
    step = estimate.standard_error
    if not step > 0:
        return None
    scored = native.signed_scores(d, levels, [estimate.centre - step, estimate.centre, estimate.centre + step])
    whole_scores = native.whole_units(scored[1])
    unit = float(np.abs(scored[1]).sum() / np.abs(whole_scores).sum(dtype=np.int64))
    squares = np.cumsum(whole_scores.astype(np.float64) ** 2)[[look.pairs - 1 for look in looks]]
    # How fast the sum falls as the change rises: at every look in proportion to the sum of the squared scores so far,
    # which is the sum's variance and, up to a factor, its information.
    slope = float(scored[0].sum() - scored[2].sum()) / (2 * step * unit) * squares / squares[-1]
    if not slope[0] > 0:
        return None
    sums = np.stack([joint.sums(whole_scores[: look.pairs])[_random_flips()] for look in looks])
    # No flip turns the sign of the first pair, but the opposite sums do; without them its error would be in each path.
    sums = np.concatenate([sums, -sums], axis=1)
    return _Paths(sums / slope[:, None], np.sqrt(squares) / slope)


@lru_cache(maxsize=1)
def _random_flips() -> npt.NDArray[np.int64]:
    """Return flips chosen at random, so that they are unrelated to each other."""
    return np.random.default_rng(1).choice(joint.FLIPS, _FLIPS // 2, replace=False)
