"""The geometric mean of the changes of a suite's benchmarks, with an interval made from the interval of each.

Each benchmark has its own coin for which launch of a pair runs first, so the error that noise in time makes in one
estimate is independent of another's, and half-widths add as squares. Estimates taken where a weighing stopped may all
be off in one direction, which many of them do not average out: on recorded and made-up noise that was at most a fifth
of their half-widths (docs/statistics.md), which is added as it is. Benchmarks launched out of shared starts share their
coins too, and then nothing is gained by their number.
"""

from __future__ import annotations

from math import sqrt

from steelyard.stats.arrays import FloatArray

# The part of the half-widths that is assumed to be an error in the same direction in all.
_COMMON_SHARE = 0.2


def geometric_mean(
    changes: FloatArray, lower: FloatArray, upper: FloatArray, *, independent: bool
) -> tuple[float, float, float]:
    """The mean of changes, log-ratios of shape (k,), and the ends of its interval, from the ends of theirs.

    `independent` says that each benchmark has coins of its own. The interval has the level of the changes' intervals.
    """
    mean = float(changes.mean())
    below, above = _half_width(changes - lower, independent), _half_width(upper - changes, independent)
    return mean, mean - below, mean + above


def _half_width(half_widths: FloatArray, independent: bool) -> float:
    common = float(half_widths.mean())
    if not independent:
        return common
    random = sqrt(float(half_widths @ half_widths)) / len(half_widths)
    return min(common, random + _COMMON_SHARE * common)
