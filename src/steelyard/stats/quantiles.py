"""Quantiles of the normal and of Student's distribution; SciPy would cost every start of the command 0.3 s."""

from __future__ import annotations

from functools import lru_cache
from math import inf, sqrt
from statistics import NormalDist
from typing import Final

import numpy as np

NORMAL: Final = NormalDist()
NINE_IN_TEN: Final = NORMAL.inv_cdf(0.9)


@lru_cache(maxsize=1024)
def normal_quantile(level: float) -> float:
    """The two-sided normal quantile z of a level: P(|Z| > z) = level."""
    return -NORMAL.inv_cdf(level / 2)


@lru_cache(maxsize=64)
def student_quantile(freedom: int, level: float) -> float:
    """The two-sided quantile of Student's t with `freedom` >= 1 degrees of freedom: P(|T| > t) = level.

    By bisection of the finite sum for whole degrees of freedom (Abramowitz and Stegun, 26.7.3-4).
    """
    if level <= 0:
        return inf
    low, high = 0.0, 1.0
    while student_tails(freedom, high) > level:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if student_tails(freedom, middle) > level else (low, middle)
    return high


def student_tails(freedom: int, t: float) -> float:
    """P(|T| > t) of Student's t with `freedom` >= 1 degrees of freedom."""
    angle = np.arctan(t / sqrt(freedom))
    cosine, sine = float(np.cos(angle)), float(np.sin(angle))
    odd = freedom % 2
    term, total = (cosine if odd else 1.0), 0.0
    for step in range(1 + odd, freedom, 2):
        total += term
        term *= cosine**2 * step / (step + 1)
    inside = 2 / np.pi * (angle + sine * total) if odd else sine * total
    return 1.0 - float(inside)
