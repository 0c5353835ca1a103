"""Whether values crowd around more than one place, where, and whether what else is known of them goes with it.

The test is the dip (Hartigan and Hartigan 1985): how far the empirical distribution is, at least, from any
unimodal one. Its level is that of the uniform distribution, which of all unimodal ones is the hardest to tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

# Of the dip times the root of n: uniform samples of 20 to 224 values exceed it in at most 0.05 % of the cases
# (tests/stats/test_modes.py simulates it).
CRITICAL = 0.65

_WORTH_MORE = 0.46
_FEWEST = 20


@dataclass(frozen=True)
class Modes:
    """Two crowds of values: their medians, which values are in the upper one, and how far apart they are.

    `contrast` is the distance of the medians in units of the spread within a crowd.
    """

    low: float
    high: float
    upper: BoolArray
    contrast: float

    @property
    def minor(self) -> float:
        """The share of the smaller crowd."""
        share = float(self.upper.mean())
        return min(share, 1 - share)


def dip(values: npt.ArrayLike) -> float:
    """Hartigan's dip of values, shape (n,), n >= 2: the least distance to a unimodal distribution function.

    For each place that the mode may have, the function is convex before it and concave behind it, and may jump there;
    the distance of the best such function is half of how far the greatest convex minorant (least concave majorant)
    leaves the steps. That both parts have to meet is left out, which makes it up to a few percent less than Hartigan's;
    `CRITICAL` is for this one.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    left = _distances(ordered)
    right = _distances(-ordered[::-1])[::-1]
    return max(float(np.maximum(left, right).min()) / 2, 0.5 / len(ordered))


def _distances(ordered: FloatArray) -> FloatArray:
    """For each place of the mode, how far the steps before it are above the convex minorant of their lower corners."""
    n = len(ordered)
    lower, upper = np.arange(n) / n, np.arange(1, n + 1) / n
    found = np.zeros(n)
    hull: list[int] = []
    for mode in range(n):
        while len(hull) > 1 and not _is_convex(ordered, lower, hull[-2], hull[-1], mode):
            hull.pop()
        hull.append(mode)
        minorant = np.interp(ordered[:mode], ordered[hull], lower[hull])
        found[mode] = float((upper[:mode] - minorant).max()) if mode else 0.0
    return found


def _is_convex(x: FloatArray, y: FloatArray, one: int, two: int, three: int) -> bool:
    return bool((y[two] - y[one]) * (x[three] - x[two]) <= (y[three] - y[two]) * (x[two] - x[one]))


def has_modes(values: npt.ArrayLike) -> bool:
    """Whether more than one mode is shown, with less than a chance of 0.0005 to be wrong; False for under 20 values."""
    n = len(np.asarray(values))
    return n >= _FEWEST and dip(values) * sqrt(n) > CRITICAL


def may_have_modes(values: npt.ArrayLike) -> bool:
    """Whether the dip is larger than in 19 of 20 unimodal samples: worth more values."""
    return dip(values) * sqrt(len(np.asarray(values))) > _WORTH_MORE


def split(values: npt.ArrayLike) -> Modes:
    """The two crowds that values, shape (n,), n >= 4, fall into best: the cut that leaves the least variance."""
    sample = np.asarray(values, dtype=np.float64)
    ordered = np.sort(sample)
    n = len(ordered)
    sums, squares = np.cumsum(ordered), np.cumsum((ordered - ordered.mean()) ** 2)
    sizes = np.arange(1, n)
    between = (sums[:-1] / sizes - (sums[-1] - sums[:-1]) / (n - sizes)) ** 2 * sizes * (n - sizes)
    cut = int(np.argmax(between)) if squares[-1] > 0 else 0
    upper = sample > ordered[cut]
    low, high = sample[~upper], sample[upper] if upper.any() else sample
    spread = (_spread(low) * len(low) + _spread(high) * len(high)) / (len(low) + len(high))
    distance = float(np.median(high) - np.median(low))
    contrast = distance / spread if spread > 0 else np.inf if distance > 0 else 0.0
    return Modes(float(np.median(low)), float(np.median(high)), upper, contrast)


def _spread(values: FloatArray) -> float:
    quartiles = np.percentile(values, [25, 75])
    return float(quartiles[1] - quartiles[0]) / 1.349


def changes(labels: BoolArray) -> float:
    """How often neighbours differ, over how often they would if each label were drawn for itself: 1 is independence.

    Labels that come and go with time change rarely, and give less.
    """
    share = float(labels.mean())
    expected = 2 * share * (1 - share) * (len(labels) - 1)
    return float((labels[1:] != labels[:-1]).sum()) / expected if expected > 0 else 1.0
