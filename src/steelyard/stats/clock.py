"""What a clock's ticks hide of a change, as the values alone show it."""

from __future__ import annotations

from itertools import count
from math import floor, log10

import numpy as np

from steelyard.stats.arrays import FloatArray

# The ticks of a decimal clock, up to a power of ten.
_TICKS = (8.0, 5.0, 4.0, 2.0, 1.0)


def clock_quantisation(baseline: FloatArray, candidate: FloatArray) -> float:
    """The largest log-ratio that a clock's ticks can hide from a pair; 0 where noise spreads values over many ticks.

    Where values repeat (no more distinct values than half the launches), their smallest gap is the tick, unless the
    smallest value is smaller. If all are one value, the tick is the largest that a decimal clock could have, as a
    number is known to its last digit. Two rounded readings make each value wrong by up to one tick.
    """
    values = np.concatenate([baseline, candidate])
    if values.min() == values.max():
        return 2 * _coarsest_tick(float(values[0])) / float(values[0])
    return 2 * step_of_few(baseline, candidate)


def step_of_few(baseline: FloatArray, candidate: FloatArray) -> float:
    """The smallest distance between the few different values of launches, as a log-ratio; 0 of one, and of many values.

    It is the step of a clock, or of counts and sizes: nothing between two steps can be seen.
    """
    values = np.sort(np.concatenate([baseline, candidate]))
    steps = np.diff(values)
    gaps = steps[steps > 0]
    if not len(gaps) or 2 * (len(gaps) + 1) > len(values):
        return 0.0
    return float(np.min(gaps, initial=values[0])) / float(np.median(values))


def _coarsest_tick(value: float) -> float:
    """The largest 1, 2, 4, 5 or 8 times a power of ten that a value > 0 is a multiple of: 4 of 12, 0.2 of 937.8."""
    ticks = (digit * 10.0**power for power in count(floor(log10(value)), -1) for digit in _TICKS)
    # Any value is near enough to a multiple of a tick that is 1e9 times smaller, so the search ends.
    return next(tick for tick in ticks if abs(value / tick - round(value / tick)) < 1e-9 * value / tick)
