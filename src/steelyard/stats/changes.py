"""Relative changes: +0.01 is 1 % more."""

from __future__ import annotations

import numpy as np

from steelyard.stats.arrays import FloatArray


def relative_changes(baseline: FloatArray, candidate: FloatArray) -> FloatArray:
    """The change of each pair, shape (pairs,); 0 where both sides are 0.

    NaN where a side is unknown, or where the baseline alone is not above 0.
    """
    fallback = np.where((baseline == 0) & (candidate == 0), 0.0, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(baseline > 0, candidate / baseline - 1, fallback)
