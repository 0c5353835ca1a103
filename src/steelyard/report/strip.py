"""A histogram on one line: how the pairs' changes are distributed, and where no change lies."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from rich.cells import cell_len

from steelyard.model.launches import FloatArray
from steelyard.report import figures, printable
from steelyard.stats.bins import fenced_range

BLOCKS, ZERO = "▁▂▃▄▅▆▇█", "┊"

# Fewer cells than this show no shape; the labels shrink before that.
_FEWEST_CELLS = 5


def strip(changes: npt.ArrayLike, width: int, encoding: str = "utf-8") -> str:
    """Draw relative changes as `-2.1 % ▁▂▅█▇▃┊▁ +3.4 %  (3 beyond)`, at most `width` columns wide.

    If that is too wide, draw `-2.1%▁▂█▇┊▁+3.4%(3)`, and if that is still too wide, leave out the labels.

    The ends are at the fences of a box plot, and what lies beyond is counted. `┊` marks 0; `0 <` (`< 0`) stands at the
    end if every value is far to one side of 0. Empty if there is nothing to draw.
    """
    all_changes = np.asarray(changes, dtype=np.float64)
    values = np.sort(all_changes[np.isfinite(all_changes)])
    # A millionth of a percent is a rounding error of the division; a million times as slow is off any scale.
    values = np.clip(values, -1.0, 1e6).round(8)
    if len(values) < 2:
        return ""
    low, high = fenced_range(values)
    if low == high:
        return _first_that_fits([f"all at {figures.change(low)}", figures.change(low)], width)
    low, high = _stretched_to_zero(low, high)
    beyond = int(np.count_nonzero((values < low) | (values > high)))
    shown = values[(values >= low) & (values <= high)]
    for labels in (_long_labels, _short_labels):
        left, right = labels(low, high, beyond)
        cells = width - cell_len(left) - cell_len(right)
        if cells >= _FEWEST_CELLS:
            return printable.symbols(left + _bars(shown, low, high, cells) + right, encoding)
    return printable.symbols(_bars(shown, low, high, width), encoding) if width >= _FEWEST_CELLS else ""


def _stretched_to_zero(low: float, high: float) -> tuple[float, float]:
    """Stretch the ends to 0 if that leaves the values at least two thirds of the strip."""
    span = high - low
    if 0 < low <= span / 2:
        return 0.0, high
    if -span / 2 <= high < 0:
        return low, 0.0
    return low, high


def _long_labels(low: float, high: float, beyond: int) -> tuple[str, str]:
    left = f"{_label(low)} % "
    right = f" {_label(high)} %"
    if low > 0:
        left = f"0 < {left}"
    if high < 0:
        right = f"{right} < 0"
    return left, right + (f"  ({beyond:,} beyond)" if beyond else "")


def _short_labels(low: float, high: float, beyond: int) -> tuple[str, str]:
    return f"{_label(low)}%", f"{_label(high)}%" + (f"({beyond})" if beyond else "")


def _label(value: float) -> str:
    points = 100 * value
    if abs(points) < 0.005:
        return "0"
    return f"{points:+.{0 if abs(points) >= 9.95 else 1 if abs(points) >= 0.095 else 2}f}"


def _bars(values: FloatArray, low: float, high: float, cells: int) -> str:
    """Draw the counts, with few bars for few values: ten values in forty cells would have no shape."""
    bars = max(2, min(cells - 1, 2 * math.ceil(math.sqrt(len(values))) + 1))
    if not low <= 0 <= high:
        cell = np.floor((values - low) / (high - low) * bars).astype(int)
        return _blocks(np.bincount(np.minimum(cell, bars - 1), minlength=bars))
    # Edges are at multiples of one width from 0, so that the mark stands between two bars.
    step = (high - low) / (bars - 1)
    before, after = math.ceil(-low / step), math.ceil(high / step)
    cell = np.clip(np.floor(values / step).astype(int), -before, after - 1) + before
    drawn = _blocks(np.bincount(cell, minlength=before + after))
    return drawn[:before] + ZERO + drawn[before:]


def _blocks(counts: npt.NDArray[np.intp]) -> str:
    most = int(counts.max())
    heights = [math.ceil(int(number) / most * len(BLOCKS)) for number in counts]
    return "".join(BLOCKS[height - 1] if height else " " for height in heights)


def _first_that_fits(choices: list[str], width: int) -> str:
    return next((choice for choice in choices if len(choice) <= width), "")
