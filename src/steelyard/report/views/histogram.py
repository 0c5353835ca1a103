"""Histograms on a terminal: both sides over one axis with its unit, and the modes that `run` tests for, too."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from rich.text import Text

from steelyard.model.launches import FloatArray
from steelyard.report import figures, printable
from steelyard.report.sheet import Sheet
from steelyard.report.strip import BLOCKS
from steelyard.report.views.series import Scale, Series, Side, below_headings
from steelyard.stats.bins import Bins, bins, ticks
from steelyard.stats.modes import modes

_ROWS = 4
# Columns for a label and the gap to its neighbour.
_TICK_COLUMNS = 14
_STYLES = ("blue", "magenta")


def show(sheet: Sheet, drawn: Sequence[Series]) -> None:
    """Print the histograms of these benchmarks."""
    for series in below_headings(sheet, drawn):
        sides = [Side(side.label, side.values[np.isfinite(side.values)], side.noun) for side in series.sides]
        sides = [side for side in sides if len(side.values)]
        sheet.row("metric", f"{series.metric}, {_what_is_drawn(sides)}")
        _print_histogram(sheet, sides, series.scale)


def _what_is_drawn(sides: Sequence[Side]) -> str:
    text = "both sides on one axis, each as shares of its own launches" if len(sides) > 1 else ""
    return text or f"{figures.count(len(sides[0].values), sides[0].noun)}"


def _print_histogram(sheet: Sheet, sides: Sequence[Side], scale: Scale) -> None:
    width = sheet.text_width
    binned = bins([side.values for side in sides], width)
    cell_width = max(1, width // len(binned.counts[0]))
    tallest = max(counts.max() / len(side.values) for counts, side in zip(binned.counts, sides, strict=True))
    for place, (side, counts) in enumerate(zip(sides, binned.counts, strict=True)):
        sheet.blank()
        sheet.row(side.label, _side_sentence(side, binned, place, scale))
        for line in _bar_lines(counts / len(side.values) / tallest, cell_width):
            sheet.row("", Text(line, _STYLES[place]))
        _print_axis(sheet, binned, cell_width * len(counts), scale, labelled=place == len(sides) - 1)
    for side in sides:
        modes_found = modes(side.values)
        if len(modes_found) > 1:
            mode_texts = " and ".join(scale.shown(mode) for mode in modes_found)
            whose_launches = (
                f"the {side.label}" if len(sides) == 1 else f"the {side.label}'s {figures.plural_of(side.noun)}"
            )
            sheet.row("modes", f"{whose_launches} cluster at {mode_texts}")


def _side_sentence(side: Side, binned: Bins, place: int, scale: Scale) -> str:
    parts = [f"median {scale.shown(float(np.median(side.values)))}"]
    parts.append(figures.count(len(side.values), side.noun))
    if below := binned.below[place]:
        parts.append(f"{below:,} below the axis, down to {scale.shown(float(side.values.min()))}")
    if above := binned.above[place]:
        parts.append(f"{above:,} beyond the axis, up to {scale.shown(float(side.values.max()))}")
    return ", ".join(parts)


def _bar_lines(heights: FloatArray, cell_width: int) -> list[str]:
    """Return rows of block characters, the highest first; `heights` go up to 1."""
    eighths = np.ceil(heights * _ROWS * len(BLOCKS)).astype(int)
    lines = []
    for row in reversed(range(_ROWS)):
        height_in_row = np.clip(eighths - row * len(BLOCKS), 0, len(BLOCKS))
        lines.append("".join((BLOCKS[number - 1] if number else " ") * cell_width for number in height_in_row))
    return [line for line in lines if line.strip()]


def _print_axis(sheet: Sheet, counted: Bins, width: int, scale: Scale, *, labelled: bool) -> None:
    low, high = float(counted.edges[0]), float(counted.edges[-1])
    name, size = scale.unit_for(max(abs(low), abs(high)))
    marks = ticks(low / size, high / size, max(2, width // _TICK_COLUMNS))
    if len(marks) < 2:  # all round numbers but one miss the axis
        marks = ticks(low / size, high / size, 2 * max(2, width // _TICK_COLUMNS))
    columns = [min(width - 1, round((mark * size - low) / (high - low) * (width - 1))) for mark in marks]
    line = ["─"] * width
    for column in columns:
        line[column] = "┬"
    sheet.row("", Text("".join(line), "dim"))
    if labelled:
        sheet.row("", Text(_tick_labels(sheet, marks, columns, name, sheet.text_width), "dim"))


def _tick_labels(sheet: Sheet, marks: FloatArray, columns: Sequence[int], unit: str, width: int) -> str:
    """Return the marks' values, each below its mark, without those that would touch another."""
    step = float(marks[1] - marks[0]) if len(marks) > 1 else abs(float(marks[0])) if len(marks) else 1.0
    digits = max(0, -math.floor(math.log10(step or 1.0) + 1e-9))
    line = ""
    for mark, column in zip(marks, columns, strict=True):
        shown = round(float(mark), digits) + 0.0  # avoids -0
        label = printable.symbols(f"{shown:,.{digits}f} {unit}".rstrip(), sheet.encoding)
        start = max(0, min(column - len(label) // 2, width - len(label)))
        if not line or start >= len(line) + 2:
            line = line.ljust(start) + label
    return line
