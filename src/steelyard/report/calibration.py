"""A calibration on a terminal, its chart also as SVG: the weights, how well they fit, that they do not carry over."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from html import escape

from rich.console import Console
from rich.text import Text

from steelyard.model.calibration import Calibration, InterruptedCalibration, PatternFit, Point
from steelyard.model.counting import Caches, Weights
from steelyard.report import figures, notes, printable
from steelyard.report.sheet import Sheet

# Narrower than this, a chart would show nothing.
CHART_COLUMNS = 40
_WIDEST_CHART, _GUTTER = 72, 9
_SEVERAL_MARK, _DIAGONAL_MARK = "*", "."
_PATTERN_MARKS = {"linear-i32": "l", "random-i32": "r", "linear-u64": "L", "random-u64": "R", "chase": "c"}
# Below this ratio of longest to shortest, a pattern's times hardly vary, and there is little for a cost to follow.
_LITTLE_VARIATION = 1.5

# A point as drawn: pattern, measured ns, predicted ns.
DrawnPoint = tuple[str, float, float]


def show(console: Console, calibration: Calibration, stored: str) -> None:
    """Print the weights, the caution, the patterns, the chart and where it was stored."""
    sheet = Sheet(console)
    l1_time = figures.duration(calibration.fit.l1_ns)
    sheet.row("weights", Text.assemble((_ratio(calibration.weights), "bold"), f", where an L1 hit takes {l1_time}"))
    sheet.row("", f"hits of L1 : LL : RAM, fitted to {figures.count(len(calibration.points), 'point')} of all patterns")
    sheet.row("caution", Text(caution(calibration), "yellow"), style="bold yellow")
    sheet.blank()
    _print_patterns(sheet, calibration)
    hardly_varying = [
        fit.pattern for fit in calibration.patterns if _time_range(calibration, fit.pattern)[2] < _LITTLE_VARIATION
    ]
    if hardly_varying:
        text = f"{', '.join(hardly_varying)}: these times hardly vary, so that a correlation says little"
        notes.show(sheet, [notes.Note(text)])
    sheet.blank()
    _print_chart(sheet, calibration)
    sheet.row("off most", worst_point_sentence(calibration))
    sheet.row("caches", f"{_cache_sizes(calibration.caches)} ({calibration.caches.name})")
    if len(calibration.last_levels) > 1:
        sheet.row("", _last_level_sentence(calibration))
    sheet.row("machine", f"{calibration.processor or 'unknown'} ({calibration.machine})")
    launches = figures.count(calibration.repeats, "launch")
    sheet.row("measured", f"in {figures.seconds(calibration.seconds)}, {launches} a point")
    sheet.row("stored", stored)


def kept_sentence(record: InterruptedCalibration, where: str) -> str:
    """Say where the measurements of a calibration are kept that ended before weights were fitted."""
    measurements = figures.count(record.measurements(), "measurement")
    return f"what was measured until then ({measurements}) is kept in {where}"


def caution(calibration: Calibration) -> str:
    """Say that the weights do not hold for other access patterns, with the weights that single patterns would give."""
    weighted = [fit for fit in calibration.patterns if fit.fit.weights is not None]
    text = "these weights do not carry over between access patterns"
    if len(weighted) > 1:
        extremes = (min(weighted, key=_ram_weight), max(weighted, key=_ram_weight))
        text += ": " + ", ".join(f"fitted to {fit.pattern} alone they are {_own_weights(fit)}" for fit in extremes)
    return f"{text}. A cost is a convention, not a time: to know how long a program takes, time it"


def _ram_weight(fit: PatternFit) -> float:
    return fit.fit.weights.ram if fit.fit.weights else math.nan


def _ratio(weights: Weights) -> str:
    return ":".join(_weight_text(weight) for weight in (weights.l1, weights.ll, weights.ram))


def _own_weights(fit: PatternFit) -> str:
    return _ratio(fit.fit.weights) if fit.fit.weights else figures.NOT_KNOWN


def _weight_text(weight: float) -> str:
    return f"{weight:,.0f}" if weight >= 9.95 else f"{weight:.1f}".removesuffix(".0")


def _cache_sizes(caches: Caches) -> str:
    shapes = (("I1", caches.i1), ("D1", caches.d1), ("LL", caches.ll))
    return ", ".join(f"{name} {_size_text(size)}" for name, (size, _, _) in shapes)


def _last_level_sentence(calibration: Calibration) -> str:
    """Say which size of the last level explains the times best: the one the machine reports, or a smaller one."""
    reported, *smaller = calibration.last_levels
    best = min(calibration.last_levels, key=lambda level: level.error)
    if best is reported:
        least = _size_text(smaller[-1].size_bytes)
        return f"as the machine says: with a smaller last level, down to {least}, the fit is worse"
    reported_error, best_error = figures.whole_percent(reported.error), figures.whole_percent(best.error)
    return (
        f"this machine says {_size_text(reported.size_bytes)} of LL, but {_size_text(best.size_bytes)} explain the "
        f"times better: the fit is off by {best_error} (root mean square) instead of {reported_error}"
    )


def _size_text(size_bytes: int) -> str:
    number, unit = figures.size(size_bytes).split()
    return f"{number.rstrip('0').rstrip('.') if '.' in number else number} {unit}"


def worst_point_sentence(calibration: Calibration) -> str:
    """Name the point that the fit misses by the largest factor."""

    def factor(point: Point) -> float:
        ratio = calibration.fit.predicted_ns(point) / point.ns
        return max(ratio, 1 / ratio) if ratio > 0 else math.inf

    worst = max(calibration.points, key=factor)
    predicted = _ns_text(calibration.fit.predicted_ns(worst))
    measured, size = _ns_text(worst.ns), figures.size(worst.size_bytes)
    return f"{worst.pattern} over {size}: {measured} ns measured, {predicted} ns predicted"


# --- the patterns

_HEADER = ("", "pattern", "time of a step", "own weights", "default", "fitted", "own")


def _print_patterns(sheet: Sheet, calibration: Calibration) -> None:
    rows = [list(_cells(sheet, calibration, fit)) for fit in calibration.patterns]
    styled = [[Text(cell, "bold" if place < 2 else "") for place, cell in enumerate(row)] for row in rows]
    table = [[Text(title, "dim") for title in _HEADER], *styled]
    sheet.row(
        "patterns",
        "how well the cost follows the CPU time, by Pearson's correlation: at the default weights, at those fitted to "
        "all patterns, and at the pattern's own",
    )
    if sheet.has_room_for(table):
        sheet.grid(table, right=frozenset({4, 5, 6}))
    else:
        for mark, pattern, time, own, *correlations in rows:
            named_correlations = zip(_HEADER[-3:], correlations, strict=True)
            text = f"{time}; own weights {own}; {', '.join(f'{name} {value}' for name, value in named_correlations)}"
            sheet.row(f"{mark} {pattern}", text, style="bold")


def _cells(sheet: Sheet, calibration: Calibration, fit: PatternFit) -> Iterator[str]:
    low, high, _ = _time_range(calibration, fit.pattern)
    yield _PATTERN_MARKS.get(fit.pattern, "+")
    yield sheet.name(fit.pattern, 16)
    yield f"{_ns_text(low)} to {_ns_text(high)} ns"
    yield _own_weights(fit)
    for correlation in (fit.by_default, fit.by_calibrated, fit.by_own):
        yield correlation_text(correlation)


def correlation_text(correlation: float | None) -> str:
    """Write a correlation, if it is known."""
    return figures.NOT_KNOWN if correlation is None else f"{correlation:.2f}"


def _time_range(calibration: Calibration, pattern: str) -> tuple[float, float, float]:
    """Return the shortest and the longest time of a pattern, ns, and their ratio."""
    times = [point.ns for point in calibration.points if point.pattern == pattern]
    return min(times), max(times), max(times) / min(times)


def _ns_text(time: float) -> str:
    return f"{time:,.0f}" if time >= 99.5 else f"{time:.3g}" if time >= 9.95 else f"{time:.2g}"


# --- the chart


def _print_chart(sheet: Sheet, calibration: Calibration) -> None:
    lines = list(chart(calibration, min(sheet.width, _WIDEST_CHART)))
    if not lines:
        return
    sheet.row("chart", "predicted (up) against measured time of a step, both scales logarithmic")
    for line in lines:
        sheet.line(Text(line))
    marks = ", ".join(f"{_PATTERN_MARKS.get(fit.pattern, '+')} {fit.pattern}" for fit in calibration.patterns)
    sheet.row("", f"{marks}; {_SEVERAL_MARK} several; {_DIAGONAL_MARK} as predicted")
    sheet.blank()


def chart(calibration: Calibration, width: int) -> Iterator[str]:
    """Draw predicted (up) against measured times, in lines of at most `width` columns; nothing if that is too narrow.

    Both scales are logarithmic and the same, so points predicted exactly lie on the diagonal.
    """
    points = _drawn_points(calibration)
    if width < CHART_COLUMNS or not points:
        return
    low, high = _axis_range(points)
    columns = width - _GUTTER
    rows = columns // 3
    grid = [[" "] * columns for _ in range(rows)]
    for column in range(columns):
        grid[column * rows // columns][column] = _DIAGONAL_MARK

    def position(value: float, cells: int) -> int:
        return min(cells - 1, int(math.log(value / low) / math.log(high / low) * cells))

    for pattern, measured, predicted in points:
        row, column = position(predicted, rows), position(measured, columns)
        mark, occupant = _PATTERN_MARKS.get(pattern, "+"), grid[row][column]
        grid[row][column] = mark if occupant in (_DIAGONAL_MARK, " ", mark) else _SEVERAL_MARK
    labels = {position(tick, rows): f"{_ns_text(tick)} ns" for tick in _ticks(low, high)}
    for row in reversed(range(rows)):
        yield f"{labels.get(row, ''):>{_GUTTER - 2}} |{''.join(grid[row])}".rstrip()
    yield " " * (_GUTTER - 1) + "+" + "-" * columns
    yield _tick_line({position(tick, columns): f"{_ns_text(tick)} ns" for tick in _ticks(low, high)}, columns)


def _tick_line(labels: dict[int, str], columns: int) -> str:
    line = ""
    for column, label in sorted(labels.items()):
        start = min(column, columns - len(label))
        if not line or start > len(line):
            line = line.ljust(start) + label
    return " " * _GUTTER + line


def _drawn_points(calibration: Calibration) -> list[DrawnPoint]:
    points = [(point.pattern, point.ns, calibration.fit.predicted_ns(point)) for point in calibration.points]
    return [point for point in points if point[2] > 0]  # 0 has no logarithm


def _axis_range(points: Iterable[DrawnPoint]) -> tuple[float, float]:
    values = [value for _, *pair in points for value in pair]
    return min(values) / 1.2, max(values) * 1.2


def _ticks(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times each power of ten in the range; the powers alone if there are many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if len(powers) <= 4 else (1,)
    return [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]


# --- SVG

# Okabe and Ito's colours, which colour-blind readers can tell apart; in black and white the letters do that.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_SIDE, _LEFT, _TOP, _LEGEND = 480, 70, 50, 190
_BOTTOM = _TOP + _SIDE
_STYLE = (
    "text{font-family:sans-serif;font-size:12px;fill:#222}.title{font-size:15px}"
    ".grid{stroke:#ddd}.frame{fill:none;stroke:#222}.mark{font-size:9px;fill:#fff}"
)


def svg(calibration: Calibration) -> str:
    """Draw predicted against measured times as a self-contained SVG file."""
    points = _drawn_points(calibration)
    low, high = _axis_range(points) if points else (1.0, 10.0)

    def offset(value: float) -> float:
        return _SIDE * math.log(value / low) / math.log(high / low)

    names = dict.fromkeys([*(fit.pattern for fit in calibration.patterns), *(pattern for pattern, *_ in points)])
    colours = {name: _COLOURS[position % len(_COLOURS)] for position, name in enumerate(names)}
    lines = [
        *_frame(calibration),
        *(line for tick in _ticks(low, high) for line in _grid(offset(tick), _ns_text(tick))),
    ]
    for pattern, measured, predicted in points:
        tooltip = f"{pattern}: measured {_ns_text(measured)} ns, predicted {_ns_text(predicted)} ns"
        lines.append(_dot(_LEFT + offset(measured), _BOTTOM - offset(predicted), pattern, colours[pattern], tooltip))
    for position, fit in enumerate(calibration.patterns):
        lines += _legend(position, fit, colours[fit.pattern])
    return "\n".join([*lines, "</svg>"]) + "\n"


def _frame(calibration: Calibration) -> list[str]:
    width, height = _LEFT + _SIDE + _LEGEND, _BOTTOM + 60
    up = f'transform="translate(20 {_TOP + _SIDE / 2:g}) rotate(-90)" text-anchor="middle"'
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
        f"<title>{_text(f'Predicted against measured time, {calibration.processor}')}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        _label(_LEFT, 24, "Predicted against measured time of a step", kind="title"),
        _label(_LEFT, 41, f"weights {_ratio(calibration.weights)}, {calibration.processor}"),
        _line((_LEFT, _BOTTOM), (_LEFT + _SIDE, _TOP), "frame"),
        f'<rect class="frame" x="{_LEFT}" y="{_TOP}" width="{_SIDE}" height="{_SIDE}"/>',
        _label(_LEFT + _SIDE / 2, _BOTTOM + 42, "measured, ns", anchor="middle"),
        f"<text {up}>predicted, ns</text>",
    ]


def _grid(offset: float, label: str) -> list[str]:
    return [
        _line((_LEFT + offset, _TOP), (_LEFT + offset, _BOTTOM), "grid"),
        _line((_LEFT, _BOTTOM - offset), (_LEFT + _SIDE, _BOTTOM - offset), "grid"),
        _label(_LEFT + offset, _BOTTOM + 18, label, anchor="middle"),
        _label(_LEFT - 8, _BOTTOM - offset + 4, label, anchor="end"),
    ]


def _legend(position: int, fit: PatternFit, colour: str) -> list[str]:
    x, y = _LEFT + _SIDE + 20, _TOP + 14 + 40 * position
    return [
        _dot(x, y - 4, fit.pattern, colour, fit.pattern),
        _label(x + 12, y, fit.pattern),
        _label(x + 12, y + 15, f"correlation {correlation_text(fit.by_calibrated)}"),
    ]


def _dot(x: float, y: float, pattern: str, colour: str, tooltip: str) -> str:
    mark = _text(_PATTERN_MARKS.get(pattern, "+"))
    return (
        f'<g><title>{_text(tooltip)}</title><circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{colour}"/>'
        f'<text class="mark" x="{x:.1f}" y="{y + 3:.1f}" text-anchor="middle">{mark}</text></g>'
    )


def _label(x: float, y: float, text: str, *, anchor: str = "start", kind: str = "label") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{_text(text)}</text>'


def _line(start: tuple[float, float], end: tuple[float, float], kind: str) -> str:
    return f'<line class="{kind}" x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"/>'


def _text(text: str) -> str:
    return escape(printable.plain(text))
