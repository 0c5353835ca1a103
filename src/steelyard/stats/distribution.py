"""What pictures of a distribution are made of: the bins of a histogram, normal scores, what follows on what."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from steelyard.stats.quantiles import NORMAL

FloatArray = npt.NDArray[np.float64]

MOST_BINS = 60
# Beyond so many interquartile ranges from the quartiles a value would squeeze all others into a few bins.
_FENCE = 3.0


def edges(*samples: FloatArray, most: int = MOST_BINS) -> FloatArray:
    """Edges of equal bins for samples of finite values, shape (n,) each, n >= 1.

    They are as wide as Freedman and Diaconis (1981) have them for the sample that needs the narrowest. The first and
    the last bin reach no further than the outer fences of a box plot: what lies beyond is to be counted at the ends.
    Values that are all equal have one bin around them.
    """
    within = [_within_fences(sample) for sample in samples]
    low, high = min(float(one.min()) for one in within), max(float(one.max()) for one in within)
    if low == high:
        half = abs(low) * 1e-3 or 0.5
        return np.array([low - half, low + half])
    widths = [2 * _quartiles_apart(sample) / len(sample) ** (1 / 3) for sample in samples]
    width = min((one for one in widths if one > 0), default=(high - low) / math.sqrt(max(map(len, samples))))
    return np.linspace(low, high, min(most, max(4, math.ceil(min((high - low) / width, most)))) + 1)


def _quartiles_apart(sample: FloatArray) -> float:
    lower, upper = np.quantile(sample, [0.25, 0.75])
    return float(upper - lower)


def _within_fences(sample: FloatArray) -> FloatArray:
    lower, upper = np.quantile(sample, [0.25, 0.75])
    reach = _FENCE * (upper - lower)
    return sample[(sample >= lower - reach) & (sample <= upper + reach)] if reach > 0 else sample


def counts(values: npt.ArrayLike, bin_edges: FloatArray) -> FloatArray:
    """How many values lie in each bin, shape (bins,); those beyond the ends are counted in the outer ones."""
    clipped = np.clip(np.asarray(values, dtype=np.float64), bin_edges[0], bin_edges[-1])
    return np.histogram(clipped, bin_edges)[0].astype(np.float64)


def beyond(values: npt.ArrayLike, bin_edges: FloatArray) -> int:
    """How many values lie outside of all bins."""
    sample = np.asarray(values, dtype=np.float64)
    return int(((sample < bin_edges[0]) | (sample > bin_edges[-1])).sum())


def normal_scores(count: int) -> FloatArray:
    """Where sorted values of a standard normal sample lie, shape (count,): at Filliben's order statistic medians.

    Filliben, "The Probability Plot Correlation Coefficient Test for Normality", Technometrics 17 (1975).
    """
    return np.array(_normal_scores(count))


@lru_cache(maxsize=64)
def _normal_scores(count: int) -> tuple[float, ...]:
    if count == 1:
        return (0.0,)
    last = 0.5 ** (1 / count)
    shares = [(place - 0.3175) / (count + 0.365) for place in range(1, count + 1)]
    shares[0], shares[-1] = 1 - last, last
    return tuple(map(NORMAL.inv_cdf, shares))


def correlation(one: npt.ArrayLike, other: npt.ArrayLike) -> float | None:
    """Pearson's correlation of two samples, shape (n,) each; None where one of them does not vary, or n < 3."""
    a, b = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    a, b = (a - a.mean()) / np.abs(a).max(), (b - b.mean()) / np.abs(b).max()
    scale = float(np.sqrt((a**2).sum() * (b**2).sum()))
    return float((a * b).sum()) / scale if scale > 0 else None


def normality(values: npt.ArrayLike) -> float | None:
    """The correlation of a normal probability plot: 1 for a normal sample; None for what does not vary."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    return correlation(normal_scores(len(ordered)), ordered) if len(ordered) > 2 else None
