"""What a clock's ticks hide of launches, or of whole samples where a harness's clock timed these."""

from __future__ import annotations

import numpy as np

from steelyard.model.launches import FloatArray, Launches
from steelyard.model.metrics import METRICS, PER_ITERATION
from steelyard.model.rows import Sample
from steelyard.stats.clock import clock_quantisation

Interval = tuple[float, float]


def hidden_by_clock(launches: Launches, place: int, metric: str, one: FloatArray, other: FloatArray) -> float:
    """Return the largest log-ratio that ticks can hide between positive values, (n,) a side; 0 for counts.

    The time of one iteration may have any number of digits. All launches are taken to have run as many iterations as
    the one at `place`: with a common factor on both sides, ticks show as well.
    """
    if not METRICS[metric].rounded:
        return 0.0
    loops = 1
    if launches.samples and metric in PER_ITERATION:
        loops = Sample(*launches.samples[place][-1]).loops
    return clock_quantisation(one * loops, other * loops)


def widen_by_ticks(
    bounds: Interval | None, launches: Launches, place: int, metric: str, values: FloatArray
) -> Interval | None:
    """Return bounds of the median of values (n,), as much wider as a clock's ticks may make each of these wrong."""
    if bounds is None or not (values > 0).all():
        return bounds
    # A value has two readings of the clock, and so one tick; the distance of two values has both.
    tick = hidden_by_clock(launches, place, metric, values[::2], values[1::2]) / 2 * float(np.median(values))
    return max(0.0, bounds[0] - tick), bounds[1] + tick
