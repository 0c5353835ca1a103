"""Whether values have more than one mode, where the modes are, and whether they come and go with time.

The test is the dip (Hartigan and Hartigan 1985): the least distance of the empirical distribution from any unimodal
one. Its level is set by the uniform distribution, which of all unimodal ones is the hardest to distinguish.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from steelyard.stats.arrays import BoolArray, FloatArray, PlaceArray
from steelyard.stats.summary import quartile_deviation

# The critical value of the dip times the root of n: uniform samples of 20 to 224 values exceed it in at most 0.05 % of
# the cases (tests/stats/test_modes.py simulates it).
CRITICAL = 0.65

SMALLEST_SHARE = 0.1
"""The least share of all values that makes a mode: a smaller cluster is a tail."""

_WORTH_MEASURING = 0.46
# Larger samples are thinned: for this many the dip takes 0.05 s, and already finds what nobody would call a mode.
_FEWEST, _MOST = 20, 10_000
# How far from a whole number of ticks a value may be, in ticks.
_TICK_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Modes:
    """Two clusters of values: their medians, and which values are in the upper one.

    `contrast` is the distance of the medians in units of the spread within a cluster.
    """

    low: float
    high: float
    upper: BoolArray
    contrast: float

    @property
    def minor(self) -> float:
        """The share of the smaller cluster."""
        share = float(self.upper.mean())
        return min(share, 1 - share)


def dip(values: npt.ArrayLike) -> float:
    """Hartigan's dip of values, shape (n,), n >= 2: the least distance to a unimodal distribution function.

    For each place that the mode may have, the function is convex before it, concave after it, and may jump there. The
    distance of the best such function is half of the largest gap between the steps and the greatest convex minorant
    (least concave majorant). That both parts have to meet is ignored, which makes it up to a few percent smaller than
    Hartigan's; `CRITICAL` is for this one. The higher the mode, the larger the distance before it and the smaller the
    distance after it, so the best place is where they cross.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n, mirrored = len(ordered), -ordered[::-1]
    first, last = 0, n - 1
    while first < last:
        middle = (first + last) // 2
        if _distance(ordered, middle) >= _distance(mirrored, n - 1 - middle):
            last = middle
        else:
            first = middle + 1
    found = _distance(ordered, first)
    if first:
        found = min(found, _distance(mirrored, n - first))
    return max(found / 2, 0.5 / n)


def _distance(ordered: FloatArray, mode: int) -> float:
    """How far the steps before the mode rise above the convex minorant of their lower corners."""
    if not mode:
        return 0.0
    x = ordered[: mode + 1].tolist()
    hull = [0]
    for corner in range(1, mode + 1):
        while len(hull) > 1:
            left, middle = hull[-2], hull[-1]
            if (middle - left) * (x[corner] - x[middle]) <= (corner - middle) * (x[middle] - x[left]):
                break  # it is convex
            hull.pop()
        hull.append(corner)
    n = len(ordered)
    minorant = np.interp(ordered[:mode], ordered[hull], np.array(hull) / n)
    return float((np.arange(1, mode + 1) / n - minorant).max())


def with_ties_spread(values: npt.ArrayLike) -> FloatArray:
    """The values, shape (n,), with equal ones spread evenly over a tick, as if nothing had rounded them.

    To the test, a rounded sample has as many modes as ticks. The tick is the smallest gap between two values, if it
    divides all of them; otherwise equal values are the program's own doing, and stay equal.
    """
    sample = np.asarray(values, dtype=np.float64)
    distinct, places, counts = np.unique(sample, return_inverse=True, return_counts=True)
    if len(distinct) in (1, len(sample)):
        return sample
    tick = float(np.diff(distinct).min())
    ticks = distinct / tick
    if np.abs(ticks - ticks.round()).max() > _TICK_TOLERANCE:
        return sample
    order = np.argsort(places, kind="stable")
    ranks = np.empty(len(sample))
    ranks[order] = np.arange(len(sample)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.asarray(sample + tick * ((ranks + 0.5) / counts[places] - 0.5), dtype=np.float64)


def has_modes(values: npt.ArrayLike) -> bool:
    """Whether there is more than one mode, with a chance of error below 0.0005; False for fewer than 20 values."""
    sample = np.asarray(values, dtype=np.float64)
    sample = sample[:: -(-len(sample) // _MOST) or 1]
    return len(sample) >= _FEWEST and dip(sample) * sqrt(len(sample)) > CRITICAL


def may_have_modes(values: npt.ArrayLike) -> bool:
    """Whether the dip is larger than in 19 of 20 unimodal samples, so that more values are worth measuring."""
    return dip(values) * sqrt(len(np.asarray(values))) > _WORTH_MEASURING


def modes(values: npt.ArrayLike) -> list[float]:
    """The median of each mode of values, shape (n,), n >= 1, lowest first; of all values if they have only one mode.

    Nothing is called a mode that the test does not show: values are split, and split again, where `has_modes` says so.
    Parts with too few values to be a mode are left out, which never gives a unimodal sample a mode.
    """
    sample = np.asarray(values, dtype=np.float64)
    spread = with_ties_spread(sample)
    # Relative distances, where all values are above 0.
    scaled = np.log(spread) if (spread > 0).all() else spread
    return sorted(float(np.median(sample[mode])) for mode in _clusters(scaled, np.arange(len(sample)), len(sample)))


def _clusters(scaled: FloatArray, members: PlaceArray, total: int) -> list[PlaceArray]:
    """The members, or the clusters that they fall into."""
    if not has_modes(scaled[members]):
        return [members]
    upper = split(scaled[members]).upper
    parts = [part for part in (members[~upper], members[upper]) if len(part) >= SMALLEST_SHARE * total]
    return [cluster for part in parts for cluster in _clusters(scaled, part, total)] or [members]


def split(values: npt.ArrayLike) -> Modes:
    """Split values, shape (n,), n >= 4, into the two clusters that leave the least variance within them."""
    sample = np.asarray(values, dtype=np.float64)
    ordered = np.sort(sample)
    n = len(ordered)
    sums, squares = np.cumsum(ordered), np.cumsum((ordered - ordered.mean()) ** 2)
    sizes = np.arange(1, n)
    between = (sums[:-1] / sizes - (sums[-1] - sums[:-1]) / (n - sizes)) ** 2 * sizes * (n - sizes)
    cut = int(np.argmax(between)) if squares[-1] > 0 else 0
    upper = sample > ordered[cut]
    low, high = sample[~upper], sample[upper] if upper.any() else sample
    spread = (quartile_deviation(low) * len(low) + quartile_deviation(high) * len(high)) / (len(low) + len(high))
    distance = float(np.median(high) - np.median(low))
    contrast = distance / spread if spread > 0 else np.inf if distance > 0 else 0.0
    return Modes(float(np.median(low)), float(np.median(high)), upper, contrast)


def change_rate(labels: BoolArray) -> float:
    """How often neighbours differ, relative to labels drawn independently of each other, which give 1.

    Labels that come and go with time change rarely, and give less.
    """
    share = float(labels.mean())
    expected = 2 * share * (1 - share) * (len(labels) - 1)
    return float((labels[1:] != labels[:-1]).sum()) / expected if expected > 0 else 1.0
