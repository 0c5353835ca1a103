"""The geometric mean of the changes of a suite's benchmarks, with an interval of what is known of each of them.

Which launch of a pair ran first is a coin of that benchmark's own, so what noise in time does to the estimate of one
benchmark says nothing of another's, and half-widths add as squares. What all estimates may be off in one direction, as
they were taken where a weighing stopped, does not become less with many of them: on recorded and made-up noise that was
a fifth of their half-widths at most (docs/statistics.md), which is added as it is. Benchmarks that are launched out of
shared starts have their coins in common, and nothing is gained of their number then.
"""

from __future__ import annotations

from math import sqrt

from steelyard.stats.arrays import FloatArray

# The part of the half-widths that is taken to be off in the same direction in all.
_IN_COMMON = 0.2


def geometric_mean(
    changes: FloatArray, lower: FloatArray, upper: FloatArray, *, independent: bool
) -> tuple[float, float, float]:
    """The mean of changes, log-ratios of shape (k,), and the ends of its interval, of those of their intervals.

    `independent` says that each has coins of its own. The interval has the level that those of the changes have.
    """
    mean = float(changes.mean())
    below, above = _half_width(changes - lower, independent), _half_width(upper - changes, independent)
    return mean, mean - below, mean + above


def _half_width(of_each: FloatArray, independent: bool) -> float:
    in_common = float(of_each.mean())
    if not independent:
        return in_common
    by_chance = sqrt(float(of_each @ of_each)) / len(of_each)
    return min(in_common, by_chance + _IN_COMMON * in_common)
