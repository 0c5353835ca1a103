"""The numbers behind charts of a distribution: normal scores, normality."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from steelyard.stats.arrays import FloatArray
from steelyard.stats.least_squares import pearson
from steelyard.stats.quantiles import NORMAL


@lru_cache(maxsize=64)
def normal_scores(count: int) -> FloatArray:
    """Where sorted values of a standard normal sample lie, shape (count,): at Filliben's order statistic medians.

    Filliben, "The Probability Plot Correlation Coefficient Test for Normality", Technometrics 17 (1975).
    """
    last = 0.5 ** (1 / count)
    shares = [(place - 0.3175) / (count + 0.365) for place in range(1, count + 1)]
    shares[0], shares[-1] = 1 - last, last
    scores = np.array([*map(NORMAL.inv_cdf, shares)])
    scores.flags.writeable = False
    return scores


def normality(values: npt.ArrayLike) -> float | None:
    """The correlation of a normal probability plot, shape (n,), n >= 1: 1 for a normal sample; None of equal ones."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    return pearson(normal_scores(len(ordered)), ordered)
