"""The sign-flip test: how probable a sum of scores is if their signs are fair coins (Fisher 1935).

The scores are rounded to whole units, which costs next to no power; for the rounded scores the null distribution is
exact, however many there are. It is computed from its characteristic function, the product of cos(q_i theta) over the
scores q_i. Few different scores are possible, so a row of scores reduces to their counts, and all rows take one matrix
product.
"""

from __future__ import annotations

from functools import lru_cache
from math import log, pi, sqrt

import numpy as np
import numpy.typing as npt

from steelyard.stats.arrays import BoolArray, FloatArray, IntArray
from steelyard.stats.quantiles import normal_quantile

# The largest score, in units; for many scores half as many units suffice, as their rounding errors average out.
UNITS, _MANY = 63, 400
# By Hoeffding's inequality a sum is further out than this many standard deviations once in 10^15 times; rarer sums
# cannot be told apart in double precision.
_FURTHEST, _LEAST_TAIL = 8.5, 1e-15
# A sum nearer to 0 than this part of the normal distribution's quantile is taken as not rejected.
_NEAR_SHARE = 0.8
# Frequencies times hypotheses at once: 64 MiB of numbers.
_CELLS_AT_ONCE = 1 << 23


def least_p_value(n: int) -> float:
    """The least two-sided p-value that n differences, none of them 0, can have."""
    return float(2.0 ** (1 - min(n, 1000)))


def p_values(signed: FloatArray) -> FloatArray:
    """The two-sided p-value of each row of signed scores, (r, n): shape (r,).

    A score of 0 has no sign, and so no part in the test.
    """
    scores, totals = _round_to_units(signed)
    return _p_values(totals, scores)


def rejects(signed: FloatArray, level: float) -> BoolArray:
    """Whether the two-sided test of each row of signed scores, (r, n), rejects at a level: shape (r,).

    Only p-values that may be on either side of the level are worked out. Where a few scores outweigh all others it
    rejects too rarely, as sums that far out are rarer than normal ones: that can only widen an interval.
    """
    scores, totals = _round_to_units(signed)
    deviations = np.abs(totals) / np.maximum(np.sqrt((scores**2).sum(axis=1)), 1)
    rejected = deviations > sqrt(2 * log(2 / level))  # which are certainly rarer, by Hoeffding's inequality
    undecided = np.flatnonzero((deviations > _NEAR_SHARE * normal_quantile(level)) & ~rejected)
    if len(undecided):
        rejected[undecided] = _p_values(totals[undecided], scores[undecided]) <= level
    return np.asarray(rejected)


def _round_to_units(signed: FloatArray) -> tuple[IntArray, IntArray]:
    """The scores in whole units, (r, n), and their signed sums, (r,)."""
    sizes = np.abs(signed)
    units = UNITS if signed.shape[1] <= _MANY else UNITS // 2
    unit = np.maximum(sizes.max(axis=1, keepdims=True) / units, np.finfo(float).tiny)
    # At least one unit: rounding a score to 0 would take its sign out of the test.
    scores = np.maximum(np.rint(sizes / unit), sizes > 0).astype(np.int64)
    return scores, (np.sign(signed).astype(np.int64) * scores).sum(axis=1)


def _p_values(totals: IntArray, scores: IntArray) -> FloatArray:
    return np.minimum(1.0, 2 * tails(np.abs(totals), scores))


def tails(totals: IntArray, scores: IntArray) -> FloatArray:
    """P(sum of +-scores >= total), (r,), for scores (r, n) of 0 to `UNITS` and totals (r,) that such sums can be."""
    period = _period(scores)
    rows = max(1, _CELLS_AT_ONCE // period)
    parts = [_tails(totals[row : row + rows], scores[row : row + rows], period) for row in range(0, len(totals), rows)]
    least = np.maximum(0.5 ** np.minimum((scores > 0).sum(axis=1), 1000), _LEAST_TAIL)
    return np.asarray(np.maximum(np.concatenate(parts), least))


def _tails(totals: IntArray, scores: IntArray, period: int) -> FloatArray:
    rows = np.arange(len(scores))[:, None] * (UNITS + 1)
    counts = np.bincount((scores + rows).ravel(), minlength=rows.size * (UNITS + 1)).reshape(-1, UNITS + 1)
    logs, negative, shift = _cosines(period)
    signs = 1 - 2 * ((counts % 2).astype(np.float32) @ negative % 2)
    characteristic = (np.exp(counts @ logs) * signs).astype(np.complex128)
    odd = totals % 2 == 1  # all sums of a row are even, or all are odd: place j is that of the sum 2j or 2j + 1
    characteristic[odd] *= shift
    mass = np.fft.irfft(characteristic, n=period, axis=1)
    places = np.arange(period // 2)
    return np.asarray((mass[:, : period // 2] * (places >= (totals // 2)[:, None])).sum(axis=1))


def _period(scores: IntArray) -> int:
    """Return how many sums, every second whole number, the frequencies tell apart: all but those next to impossible."""
    furthest = _FURTHEST * np.sqrt((scores.astype(np.float64) ** 2).sum(axis=1).max())
    reach = int(min(furthest, scores.sum(axis=1).max()))
    return 1 << max(1, (reach + 2).bit_length())


@lru_cache(maxsize=4)
def _cosines(period: int) -> tuple[FloatArray, npt.NDArray[np.float32], npt.NDArray[np.complex128]]:
    """The logarithm of |cos(q theta)|, and where it is negative, for each score q and frequency, and e^(i theta)."""
    # Half of the frequencies: the other half gives the same, as all sums are even or all are odd.
    angles = np.arange(period // 2 + 1) * (pi / period)
    cosines = np.cos(np.arange(UNITS + 1)[:, None] * angles)
    logs = np.asarray(np.log(np.maximum(np.abs(cosines), 1e-300)))
    return logs, (cosines < 0).astype(np.float32), np.exp(1j * angles)
