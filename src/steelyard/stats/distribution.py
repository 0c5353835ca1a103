"""The numbers behind charts of a distribution: normal scores, correlation, normality."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from steelyard.stats.arrays import FloatArray
from steelyard.stats.least_squares import pearson
from steelyard.stats.quantiles import NORMAL


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
    return pearson(one, other) if np.size(one) > 2 else None


def normality(values: npt.ArrayLike) -> float | None:
    """The correlation of a normal probability plot: 1 for a normal sample; None if values do not vary, or n < 3."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    return correlation(normal_scores(len(ordered)), ordered) if len(ordered) > 2 else None
