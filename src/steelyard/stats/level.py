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
from steelyard.stats.summary import median_interval
from steelyard.stats.unpaired import FEWEST_LAUNCHES, block_count, block_medians

# The correlation of few blocks is not known well enough to trust a larger one.
_MOST_CORRELATION = 0.8


def level_interval(values: FloatArray, level: float) -> tuple[float, float] | None:
    """Return a 1 - level interval of the median of values, shape (n,), in order of time; None for too few values.

    It never reaches beyond the values.
    """
    interval = median_interval(values, level)
    if interval is None or len(values) < FEWEST_LAUNCHES:
        return interval
    half_width, median = _half_width(values, level), float(np.median(values))
    lower = min(interval[0], max(median - half_width, float(values.min())))
    return lower, max(interval[1], min(median + half_width, float(values.max())))


def _half_width(values: FloatArray, level: float) -> float:
    blocks = block_count(len(values))
    medians = block_medians(values, blocks)
    deviations = medians - medians.mean()
    squares = float(deviations @ deviations)
    if squares == 0:
        return 0.0
    # The correlation of unrelated blocks is -1 / blocks on average, as they are compared with their own mean.
    correlation = min(_MOST_CORRELATION, max(0.0, float(deviations[1:] @ deviations[:-1]) / squares + 1 / blocks))
    error = sqrt(squares / (blocks - 1) / blocks * (1 + correlation) / (1 - correlation))
    return student_quantile(blocks - 1, level) * error
