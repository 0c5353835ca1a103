"""One sample described: centre, spread and interval of the median."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from steelyard.stats.quantiles import NORMAL


@dataclass(frozen=True)
class Centre:
    """Median and relative spread (interquartile range / 1.349 / median: a robust standard deviation)."""

    median: float
    spread: float


def centre(values: npt.ArrayLike) -> Centre:
    """Median and relative spread of values, shape (n,), n >= 1; the spread of values around 0 is 0."""
    quartiles = np.percentile(np.asarray(values, dtype=np.float64), [25, 50, 75])
    median = float(quartiles[1])
    width = float(quartiles[2] - quartiles[0]) / 1.349
    return Centre(median, width / median if median else 0.0)


def median_interval(values: npt.ArrayLike, level: float) -> tuple[float, float] | None:
    """Distribution-free 1 - level interval of the median by order statistics; None if n is too small for the level.

    Inversion of the sign test (Hollander, Wolfe and Chicken, 3.6). Values of one noisy machine are not independent:
    it describes these launches and is no basis for a verdict.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    below = _binomial_half_quantile(n, level / 2)
    if below < 0:
        return None
    return float(ordered[below]), float(ordered[n - 1 - below])


def _binomial_half_quantile(n: int, tail: float) -> int:
    """The largest k with P(Binomial(n, 1/2) <= k) <= tail; -1 if there is none."""
    if n > 1000:  # 0.5**n underflows near here, where the normal approximation is exact to a rank
        return int(n / 2 + NORMAL.inv_cdf(tail) * n**0.5 / 2 - 1)
    mass, total = 0.5**n, 0.0
    for k in range(n + 1):
        total += mass
        if total > tail:
            return k - 1
        mass *= (n - k) / (k + 1)
    return n
