"""The Mann-Whitney rank-sum test, inverted: estimate, interval and p-value for the shift between two samples.

Everything is expressed in the n*m differences y_j - x_i. The rank-sum statistic of `y - t` against x is the number of
differences above t, so that its test inverts to their order statistics (Hodges and Lehmann 1963; Hollander, Wolfe and
Chicken, *Nonparametric Statistical Methods*, 4.1-4.3).

Ties are treated as in `signed_rank`: critical values are those of untied samples and intervals are closed, so they
cover at least as often as claimed; for the p-value a difference of 0 counts against the side that the test would show.

The test assumes independent launches, which those of one run are not. Alone it is no basis for a verdict on two runs:
see `unpaired`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from math import inf, sqrt

import numpy as np
import numpy.typing as npt

from steelyard.stats.arrays import FloatArray, PlaceArray
from steelyard.stats.quantiles import NORMAL
from steelyard.stats.selection import ranges, value_of_rank

# Up to this many launches a side the null distribution is exact; above, the normal approximation with continuity
# correction has up to 5 % more in the tail at alpha 0.01, on the safe side (tests/stats/test_rank_sum.py).
EXACT_UP_TO = 40
# Up to so many differences forming them all takes less time than counting them four times over.
_FORM_ALL_UP_TO = 1 << 13


@dataclass(frozen=True)
class Shift:
    """How far y lies above x: logs in, log-ratio out. `lower`/`upper` are infinite for too few launches."""

    centre: float
    lower: float
    upper: float
    p_value: float


def shift(x: npt.ArrayLike, y: npt.ArrayLike, level: float) -> Shift:
    """Hodges-Lehmann shift from x, shape (n,), to y, shape (m,), n and m >= 1, with its 1 - level interval."""
    low, high = np.sort(np.asarray(x, dtype=np.float64)), np.sort(np.asarray(y, dtype=np.float64))
    n, m = len(low), len(high)
    total, outside = n * m, critical_count(n, m, level)
    difference = _difference_lookup(low, high) if total <= _FORM_ALL_UP_TO else partial(_difference, low, high)
    middle = [difference(rank) for rank in {(total + 1) // 2, total // 2 + 1}]
    return Shift(
        centre=sum(middle) / len(middle),
        lower=difference(outside + 1) if outside >= 0 else -inf,
        upper=difference(total - outside) if outside >= 0 else inf,
        p_value=_p_value(low, high),
    )


def p_value(x: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Two-sided p-value of no shift from x, shape (n,), to y, shape (m,); ties count against a shift either way."""
    return _p_value(np.asarray(x, dtype=np.float64), np.sort(np.asarray(y, dtype=np.float64)))


def _p_value(low: FloatArray, high: FloatArray) -> float:
    """The same, with y sorted."""
    n, m = len(low), len(high)
    at_most_zero = int(np.searchsorted(high, low, side="right").sum())
    at_least_zero = n * m - int(np.searchsorted(high, low, side="left").sum())
    return min(1.0, 2 * lower_tail(n, m, min(at_most_zero, at_least_zero)))


def superiority(x: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """How often a y, shape (m,), exceeds an x, shape (n,): the share of the n*m comparisons, a tie counting half."""
    low, high = np.asarray(x, dtype=np.float64), np.sort(np.asarray(y, dtype=np.float64))
    at_most = np.searchsorted(high, low, side="right") + np.searchsorted(high, low, side="left")
    return 1.0 - float(at_most.mean()) / (2 * len(high))


@lru_cache(maxsize=64)
def null_cdf(n: int, m: int) -> FloatArray:
    """P(U <= u) for u = 0 ... n*m under the null hypothesis, exactly, for untied samples of n and m.

    The largest of all n + m values is one of the n with probability n / (n + m), and then lies above all m others
    (Mann and Whitney 1947, eq. 4): sums of positive terms only, so that no digit is lost in the tail.
    """
    previous_row = [np.ones(1) for _ in range(m + 1)]  # of 0 values against 0 ... m
    for i in range(1, n + 1):
        row = [np.ones(1)]
        for j in range(1, m + 1):
            mass = np.zeros(i * j + 1)
            mass[j:] += i / (i + j) * previous_row[j]
            mass[: i * (j - 1) + 1] += j / (i + j) * row[j - 1]
            row.append(mass)
        previous_row = row
    return np.cumsum(previous_row[m])


def lower_tail(n: int, m: int, u: int) -> float:
    """P(U <= u) under the null hypothesis that both samples have one distribution."""
    if u < 0:
        return 0.0
    if u >= n * m:
        return 1.0
    if max(n, m) <= EXACT_UP_TO:
        return float(null_cdf(n, m)[u])
    mean, deviation = _null_moments(n, m)
    return NORMAL.cdf((u + 0.5 - mean) / deviation)


@lru_cache(maxsize=256)
def critical_count(n: int, m: int, level: float) -> int:
    """The largest u with 2 P(U <= u) <= level, or -1 when so few launches can never reach the level."""
    if max(n, m) <= EXACT_UP_TO:
        return int(np.searchsorted(null_cdf(n, m), level / 2, side="right")) - 1
    mean, deviation = _null_moments(n, m)
    u = max(-1, int(mean + deviation * NORMAL.inv_cdf(level / 2)))
    while u >= 0 and 2 * lower_tail(n, m, u) > level:
        u -= 1
    return u


def _null_moments(n: int, m: int) -> tuple[float, float]:
    return n * m / 2, sqrt(n * m * (n + m + 1) / 12)


def _partner_counts(low: FloatArray, high: FloatArray, t: float) -> PlaceArray:
    """For each low value, how many high values lie at most t above it."""
    return np.searchsorted(high, low + t, side="right")


def _difference_lookup(low: FloatArray, high: FloatArray) -> Callable[[int], float]:
    """Return a function from a rank (from 1) to that smallest difference; as there are few, all are formed, once."""
    ordered = np.sort(np.subtract.outer(high, low), axis=None)
    return lambda rank: float(ordered[rank - 1])


def _difference(low: FloatArray, high: FloatArray, rank: int) -> float:
    """The rank-th smallest (from 1) difference."""

    def between(bottom: float, top: float) -> FloatArray:
        start, stop = _partner_counts(low, high, bottom), _partner_counts(low, high, top)
        which, partners = ranges(start, stop)
        return high[partners] - low[which]

    def count(t: float) -> int:
        return int(_partner_counts(low, high, t).sum())

    n, m = len(low), len(high)
    bottom, top = float(high[0] - low[-1]) - 1.0, float(high[-1] - low[0])
    top += 1e-9 * (1.0 + abs(top))  # sums round: the largest difference must not fall outside
    return value_of_rank(rank, (bottom, top), n * m, 4 * (n + m), count, between)
