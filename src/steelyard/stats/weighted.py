"""Estimate and interval of the change between two sides from weighted sign flips (`stats.native`, `stats.sign_flip`).

A change t is accepted if the sign-flip test of d - t does not reject it. The interval is the hull of the accepted
changes, so it covers the true one at least as often as claimed; the estimate is the change at which the sum of the
scores changes sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, sqrt

import numpy as np
import numpy.typing as npt

from steelyard.stats import native, sign_flip
from steelyard.stats.arrays import FloatArray
from steelyard.stats.quantiles import normal_quantile
from steelyard.stats.signed_rank import Estimate
from steelyard.stats.signed_rank import estimate as by_ranks
from steelyard.stats.summary import row_medians

# The distances from the centre at which the ends are searched, in half-widths of the rough interval, denser near the
# centre; and the number of further steps from there to where all differences are on one side.
_DISTANCES, _STEPS_BEYOND = np.geomspace(0.15, 8.0, 12), 4
# Each end then lies between two neighbours. In each of these rounds, the place where it seems to be is tried, and those
# to either side at this part of the neighbours' distance, which leaves about 0.3 % of a half-width.
_BESIDE_SHARE, _ROUNDS = 0.04, 2
# The number of steps of the rough estimate, from the median towards where the scores add up to 0.
_ROUGH_STEPS = 2


def p_values(d: FloatArray, levels: FloatArray, changes: npt.ArrayLike) -> FloatArray:
    """The two-sided p-values (r,) of hypothesised changes (r,), log-ratios; d and levels (n,) in the pairs' order."""
    return sign_flip.p_values(native.signed_scores(d, levels, changes))


def estimate(d: FloatArray, levels: FloatArray, level: float, included: Sequence[float] = ()) -> Estimate:
    """Estimate the centre of d (n,) with its 1 - level interval; infinite ends where n can never reach the level.

    The changes `included` are among those tried, so that the interval holds each of them that the test accepts.
    """
    rough = rough_estimate(d, levels, level)
    half_width = (rough.upper - rough.lower) / 2
    if not 0 < half_width < inf:
        return rough
    grid = np.union1d(_changes_to_try(rough.centre, half_width, d), np.asarray(included, dtype=np.float64))
    scored = native.signed_scores(d, levels, grid)
    # A change beyond all differences has every sign against it, so it is rejected even where few scores outweigh all
    # others and their sum seems to be near 0 (`sign_flip.rejects`).
    accepted = 1 + np.flatnonzero(~sign_flip.rejects(scored[1:-1], level))
    if not len(accepted):
        return rough  # the differences are so skewed that scores and ranks disagree about the change
    first, last = int(accepted[0]), int(accepted[-1])
    ends = _ends(d, levels, level, grid[[first, last]], grid[[first - 1, last + 1]])
    lower, upper = np.nextafter(ends, [inf, -inf]).tolist()  # the ends found are rejected, but an interval is closed
    centre = _sign_change(grid, scored.sum(axis=1), rough.centre)
    return replace(rough, centre=min(max(centre, lower), upper), lower=lower, upper=upper)


def rough_estimate(d: FloatArray, levels: FloatArray, level: float) -> Estimate:
    """Estimate as `estimate` does, by the scores' standard error around the median instead of by inversion."""
    n, centre = len(d), float(row_medians(d[None, :])[0])
    step = 2 * float(row_medians(np.abs(d - centre)[None, :])[0]) / sqrt(n)
    if sign_flip.least_p_value(n) > level or step == 0:
        return by_ranks(d, level)
    error = step
    for _ in range(_ROUGH_STEPS):
        scored = native.signed_scores(d, levels, [centre - step, centre, centre + step])
        below, here, above = scored.sum(axis=1).tolist()
        slope = (below - above) / (2 * step)
        if slope <= 0:
            return by_ranks(d, level)
        centre += min(max(here / slope, -2 * step), 2 * step)
        error = float(np.sqrt((scored[1] ** 2).sum())) / slope
    half_width = normal_quantile(level) * error
    if half_width > 2 * np.ptp(d):
        return by_ranks(d, level)  # two clusters: between them the scores say next to nothing
    return Estimate(centre, centre - half_width, centre + half_width, n, level)


def _changes_to_try(centre: float, half_width: float, d: FloatArray) -> FloatArray:
    """Return the changes to try, of which the first and the last lie beyond all differences."""
    distances = _DISTANCES * half_width
    sides = []
    for sign, furthest in ((-1, centre - d.min()), (1, d.max() - centre)):
        outside = max(furthest, distances[-1]) + half_width
        sides.append(
            centre + sign * np.concatenate([distances, np.geomspace(distances[-1], outside, _STEPS_BEYOND + 1)[1:]])
        )
    return np.concatenate([[centre], *sides])


def _ends(d: FloatArray, levels: FloatArray, level: float, inside: FloatArray, outside: FloatArray) -> FloatArray:
    """Return the rejected changes next to the accepted ones, lower and upper, between accepted and rejected changes."""
    brackets = np.stack([inside, outside], axis=1)
    bracket_p_values = p_values(d, levels, brackets.ravel()).reshape(2, 2)
    for _ in range(_ROUNDS):
        distances = np.sqrt(-np.log(np.minimum(bracket_p_values, 1 - 1e-12)))  # about linear in the change
        target = sqrt(-np.log(level))
        share = (target - distances[:, 0]) / np.maximum(distances[:, 1] - distances[:, 0], 1e-12)
        shares = np.clip(
            share[:, None] + np.array([-_BESIDE_SHARE, 0.0, _BESIDE_SHARE]), _BESIDE_SHARE, 1 - _BESIDE_SHARE
        )
        trials = brackets[:, :1] + shares * (brackets[:, 1:] - brackets[:, :1])
        trial_p_values = p_values(d, levels, trials.ravel()).reshape(2, -1)
        trials = np.concatenate([brackets[:, :1], trials, brackets[:, 1:]], axis=1)
        trial_p_values = np.concatenate([bracket_p_values[:, :1], trial_p_values, bracket_p_values[:, 1:]], axis=1)
        is_accepted = trial_p_values > level
        is_accepted[:, 0], is_accepted[:, -1] = True, False
        last = is_accepted.shape[1] - 1 - np.argmax(is_accepted[:, ::-1], axis=1)
        neighbours = np.arange(2)[:, None], last[:, None] + np.array([0, 1])
        brackets, bracket_p_values = trials[neighbours], trial_p_values[neighbours]
    return np.asarray(brackets[:, 1])


def _sign_change(grid: FloatArray, sums: FloatArray, start: float) -> float:
    """Return the sign change of the scores' sums nearest to `start`; scores that fall again may have more than one."""
    indices = np.flatnonzero((sums[:-1] > 0) & (sums[1:] <= 0))
    if not len(indices):
        return start
    roots = grid[indices] + (grid[indices + 1] - grid[indices]) * sums[indices] / (sums[indices] - sums[indices + 1])
    return float(roots[np.argmin(np.abs(roots - start))])
