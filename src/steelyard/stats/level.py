"""The interval of the level of one run: of its median, where neighbouring launches may be alike.

For independent launches, order statistics give an interval of the median. Launches on one machine come in phases, for
which it is far too narrow: on recorded traces, intervals of 99 % held the level of the whole trace in 20 to 40 % of
stretches. So it is widened to the interval that the medians of contiguous blocks give of their mean, for fewer blocks
the more alike neighbouring ones are. Phases longer than the run show in none of its numbers (docs/statistics.md).
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from steelyard.stats.arrays import FloatArray
from steelyard.stats.quantiles import student_quantile
from steelyard.stats.summary import median_interval, row_medians
from steelyard.stats.unpaired import A_BLOCK, FEWEST_BLOCKS, FEWEST_LAUNCHES, MOST_BLOCKS

# The correlation of few blocks is not known well enough to trust a larger one.
_MOST_ALIKE = 0.8


def level_interval(values: FloatArray, level: float) -> tuple[float, float] | None:
    """Return a 1 - level interval of the median of values, shape (n,), in order of time; None for too few values.

    It never reaches beyond the values.
    """
    found = median_interval(values, level)
    if found is None or len(values) < FEWEST_LAUNCHES:
        return found
    by, median = _half_width(values, level), float(np.median(values))
    lower = min(found[0], max(median - by, float(values.min())))
    return lower, max(found[1], min(median + by, float(values.max())))


def _half_width(values: FloatArray, level: float) -> float:
    blocks = min(MOST_BLOCKS, max(FEWEST_BLOCKS, len(values) // A_BLOCK))
    length = len(values) // blocks
    off = row_medians(values[: blocks * length].reshape(blocks, length))
    off = off - off.mean()
    squares = float(off @ off)
    if squares == 0:
        return 0.0
    # The correlation of unrelated blocks is -1 / blocks on average, as they are compared with their own mean.
    alike = min(_MOST_ALIKE, max(0.0, float(off[1:] @ off[:-1]) / squares + 1 / blocks))
    error = sqrt(squares / (blocks - 1) / blocks * (1 + alike) / (1 - alike))
    return student_quantile(blocks - 1, level) * error
