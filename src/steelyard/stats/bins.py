"""A histogram's bins: how wide, where they begin, and what lies beyond them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from steelyard.stats.arrays import FloatArray, IntArray

# Fences at 2 interquartile ranges lie at 3.4 standard deviations of a normal: beyond are real stragglers.
FENCE = 2.0
# The quartiles of few values are hardly known, and every value should be seen that leaves the others a visible shape.
WIDE_FENCE = 6.0
_FEW_VALUES = 50
_FEWEST_BINS = 5


@dataclass(frozen=True)
class Bins:
    """Several samples counted on one axis; `edges` has shape (bins + 1,), `counts` one array of shape (bins,) each."""

    edges: FloatArray
    counts: list[IntArray]
    below: list[int]
    above: list[int]

    @property
    def middles(self) -> FloatArray:
        """The middle of each bin, shape (bins,)."""
        return np.asarray((self.edges[:-1] + self.edges[1:]) / 2)

    @property
    def beyond(self) -> int:
        """How many values of all samples lie outside of all bins."""
        return sum(self.below) + sum(self.above)


def fenced_range(ordered: FloatArray, fence: float = FENCE) -> tuple[float, float]:
    """The lowest and highest of sorted values, shape (n,), n >= 1, that lie within the fences of a box plot.

    The fences are `fence` interquartile ranges from the quartiles.
    """
    lower, upper = np.quantile(ordered, [0.25, 0.75])
    if lower == upper:
        # Coarse clocks: half of the values are equal, and the fences would hide all the others.
        lower, upper = np.quantile(ordered, [0.05, 0.95])
        if lower == upper:
            return float(ordered[0]), float(ordered[-1])
    reach = fence * (upper - lower)
    inside = ordered[(ordered >= lower - reach) & (ordered <= upper + reach)]
    if inside[0] == inside[-1]:  # a quartile lies between that value and others
        return float(ordered[0]), float(ordered[-1])
    return float(inside[0]), float(inside[-1])


def bins(samples: Sequence[npt.ArrayLike], most: int) -> Bins:
    """Count samples, shape (n,) each, n >= 1, in up to `most` shared bins of one width.

    The width is the smallest that any sample needs by Freedman and Diaconis (1981): twice its interquartile range over
    the cube root of n. The axis spans what lies within each sample's own fences, which are wide for few values.
    """
    ordered = [np.sort(np.asarray(sample, dtype=np.float64)) for sample in samples]
    spans = [fenced_range(sample, WIDE_FENCE if len(sample) < _FEW_VALUES else FENCE) for sample in ordered]
    low, high = min(span[0] for span in spans), max(span[1] for span in spans)
    if low == high:
        low, high = low - abs(low or 1.0) * 1e-3, high + abs(high or 1.0) * 1e-3
    widths = [width for width in map(_width, ordered) if width > 0]
    bin_count = (high - low) / min(widths) if widths else _FEWEST_BINS
    edges = np.linspace(low, high, int(min(max(bin_count, _FEWEST_BINS), most)) + 1)
    counts = [np.histogram(sample, edges)[0].astype(np.int64) for sample in ordered]
    below = [int(np.count_nonzero(sample < low)) for sample in ordered]
    above = [int(np.count_nonzero(sample > high)) for sample in ordered]
    return Bins(edges, counts, below, above)


def _width(ordered: FloatArray) -> float:
    lower, upper = np.quantile(ordered, [0.25, 0.75])
    return float(2 * (upper - lower) / len(ordered) ** (1 / 3))


def ticks(low: float, high: float, most: int) -> FloatArray:
    """Up to `most` round numbers from `low` to `high`, low < high: multiples of 1, 2 or 5 times a power of 10."""
    rough = (high - low) / max(most, 1)
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= rough * (1 - 1e-9))
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    return np.asarray(step * np.arange(first, last + 1), dtype=np.float64)
