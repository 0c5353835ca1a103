"""The Wilcoxon signed-rank test, inverted: estimate, interval and p-value for the centre of paired differences.

Everything is expressed in Walsh averages, the n(n+1)/2 values (d_i + d_j)/2 with i <= j. The signed-rank statistic of
`d - t` is the number of Walsh averages above t, so that its test inverts to order statistics of the Walsh averages
(Hodges and Lehmann 1963; Hollander, Wolfe and Chicken, *Nonparametric Statistical Methods*, 3.2-3.3).

Ties and zeros: critical values are those of untied differences, and intervals are closed. That is valid for tied data:
an infinitesimal symmetric jitter breaks every tie without moving an order statistic, so the closed interval covers at
least as often as claimed. For the p-value a zero counts against whichever side the test would show, which keeps
`lower > 0` and `p <= level` the same statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb, inf, sqrt

import numpy as np
import numpy.typing as npt

from steelyard.stats.arrays import FloatArray, PlaceArray
from steelyard.stats.quantiles import NORMAL, normal_quantile
from steelyard.stats.selection import ranges, value_of_rank

# Up to here the null distribution is exact. Above, the normal approximation with continuity correction differs from it
# by a few percent of the tail, on the safe side (tests/stats/test_signed_rank.py).
EXACT_UP_TO = 400
# Below this many differences all Walsh averages are formed at once; above, they are counted instead (n log n).
_FORM_ALL_UP_TO = 512


@lru_cache(maxsize=256)
def null_cdf(n: int) -> FloatArray:
    """P(W <= w) for w = 0 ... n(n+1)/2 under the null hypothesis, exactly, for n untied differences."""
    mass = np.zeros(n * (n + 1) // 2 + 1)
    mass[0] = 1.0
    for rank in range(1, n + 1):
        before, after = rank * (rank - 1) // 2 + 1, rank * (rank + 1) // 2 + 1  # values that the first ranks can sum to
        mass[rank:after] += mass[:before].copy()
        mass[:after] *= 0.5
    return np.cumsum(mass)


def lower_tail(n: int, w: int) -> float:
    """P(W <= w) under the null hypothesis of symmetry about 0."""
    if w < 0:
        return 0.0
    if w >= n * (n + 1) // 2:
        return 1.0
    if n <= EXACT_UP_TO:
        return float(null_cdf(n)[w])
    mean, deviation = _null_moments(n)
    return NORMAL.cdf((w + 0.5 - mean) / deviation)


@lru_cache(maxsize=4096)
def critical_count(n: int, level: float) -> int:
    """The largest w with 2 P(W <= w) <= level, or -1 when n differences can never reach the level."""
    if n <= EXACT_UP_TO:
        return int(np.searchsorted(null_cdf(n), level / 2, side="right")) - 1
    mean, deviation = _null_moments(n)
    w = int(mean + deviation * NORMAL.inv_cdf(level / 2))
    while 2 * lower_tail(n, w) > level:
        w -= 1
    return w


def fewest_differences(level: float) -> int:
    """The smallest n that can ever reach a two-sided level (n differences of one sign have p = 2^(1-n))."""
    n = 1
    while critical_count(n, level) < 0:
        n += 1
    return n


@dataclass(frozen=True)
class Estimate:
    """A centre with its interval: differences in, differences out. `lower`/`upper` are infinite for too small n."""

    centre: float
    lower: float
    upper: float
    n: int
    level: float

    @property
    def standard_error(self) -> float:
        """The interval's half-width in units of its normal quantile: the noise of `centre`."""
        return (self.upper - self.lower) / 2 / normal_quantile(self.level)

    def is_apart_from(self, other: Estimate, by: float) -> bool:
        """Whether the intervals have nothing in common, and the centres lie at least `by` apart."""
        are_disjoint = self.upper < other.lower or other.upper < self.lower
        return are_disjoint and abs(self.centre - other.centre) >= by


def estimate(d: npt.ArrayLike, level: float) -> Estimate:
    """Hodges-Lehmann estimate of the centre of d (shape (n,), n >= 1) and its 1 - level interval."""
    ordered = np.sort(np.asarray(d, dtype=np.float64))
    n = len(ordered)
    total, outside = n * (n + 1) // 2, critical_count(n, level)
    middle_ranks = sorted({(total + 1) // 2, total // 2 + 1})
    end_ranks = [outside + 1, total - outside] if outside >= 0 else []
    averages = walsh_averages(ordered, [*middle_ranks, *end_ranks])
    lower, upper = averages[len(middle_ranks) :] or (-inf, inf)
    return Estimate(
        centre=sum(averages[: len(middle_ranks)]) / len(middle_ranks),
        lower=lower,
        upper=upper,
        n=n,
        level=level,
    )


def p_value(d: npt.ArrayLike) -> float:
    """Two-sided p-value of symmetry about 0; zeros count against whichever side the test would show."""
    ordered = np.sort(np.asarray(d, dtype=np.float64))
    at_most_zero, at_least_zero = _count_walsh(ordered, 0.0), _count_walsh(-ordered[::-1], 0.0)
    return min(1.0, 2 * lower_tail(len(ordered), min(at_most_zero, at_least_zero)))


def walsh_averages(ordered: FloatArray, ranks: Sequence[int]) -> list[float]:
    """The Walsh averages of sorted differences that have the given ranks (from 1, the smallest)."""
    n = len(ordered)
    if n <= _FORM_ALL_UP_TO:
        rows, columns = _upper_triangle(n)
        positions = [rank - 1 for rank in ranks]
        averages = np.partition((ordered[rows] + ordered[columns]) / 2, positions)
        return [float(averages[place]) for place in positions]
    return [_select_walsh(ordered, rank) for rank in ranks]


@lru_cache(maxsize=64)
def _upper_triangle(n: int) -> tuple[PlaceArray, PlaceArray]:
    return np.triu_indices(n)


def _null_moments(n: int) -> tuple[float, float]:
    return n * (n + 1) / 4, sqrt(n * (n + 1) * (2 * n + 1) / 24)


def _last_partner(ordered: FloatArray, t: float) -> PlaceArray:
    """For each i, the end of the run of partners j with ordered[i] + ordered[j] <= 2t."""
    return np.searchsorted(ordered, 2 * t - ordered, side="right")


def _count_walsh(ordered: FloatArray, t: float) -> int:
    """The number of Walsh averages <= t, without forming them."""
    return int(np.maximum(_last_partner(ordered, t) - np.arange(len(ordered)), 0).sum())


def _select_walsh(ordered: FloatArray, rank: int) -> float:
    """The rank-th Walsh average, by counting instead of forming them all."""
    n = len(ordered)

    def between(low: float, high: float) -> FloatArray:
        start, stop = np.maximum(_last_partner(ordered, low), np.arange(n)), _last_partner(ordered, high)
        which, partners = ranges(start, stop)
        return np.asarray((ordered[which] + ordered[partners]) / 2)

    bracket = (float(ordered[0]) - 1.0, float(ordered[-1]))
    return value_of_rank(rank, bracket, comb(n + 1, 2), 4 * n, lambda t: _count_walsh(ordered, t), between)
