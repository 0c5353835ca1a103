"""Figures in SVG for experiments: rows of values along an axis, and curves, without a plotting library."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH = 760
_CHARACTER = 6.7
_ROW, _TOP, _BOTTOM, _PLOT = 26, 44, 48, 300
_MOST_LABEL = 300
# Okabe and Ito's colours, which colour-blind people can tell apart, too; lighter ones for dark backgrounds.
_LIGHT = ("#0072b2", "#d55e00", "#009e73", "#a0528a", "#b07d00", "#777")
_DARK = ("#56b4e9", "#ff8c42", "#2fd0a0", "#e39ac9", "#f0c94a", "#aaa")


def _classes(colours: Iterable[str]) -> str:
    return " ".join(f".c{number} {{ --c: {colour} }}" for number, colour in enumerate(colours))


_STYLE = f"""
svg {{ font: 12px system-ui, sans-serif; background: #fff; color: #222; }}
text {{ fill: currentColor; }} .title {{ font-size: 15px; font-weight: 600; }}
.grid {{ stroke: #ddd; }} .axis, .reference {{ stroke: currentColor; }} .reference {{ stroke-dasharray: 4 3; }}
{_classes(_LIGHT)}
.dot {{ fill: var(--c); opacity: .55; }}
.line, .bracket {{ stroke: var(--c); stroke-width: 1.6; fill: none; opacity: .85; }}
.mark {{ fill: var(--c); }}
@media (prefers-color-scheme: dark) {{ svg {{ background: #16181c; color: #e6e6e6; }} .grid {{ stroke: #3a3d44; }}
{_classes(_DARK)} }}
""".strip()


@dataclass(frozen=True)
class Row:
    """What is shown beside a label: single values, a bracket between two values, and a mark."""

    label: str
    dots: Sequence[float] = ()
    bracket: tuple[float, float] | None = None
    mark: float | None = None
    colour: int = 0

    def values(self) -> list[float]:
        """Return all values that need a place; an unknown end of a bracket has none."""
        ends = [*(self.bracket or ()), *([] if self.mark is None else [self.mark])]
        return [value for value in (*self.dots, *ends) if math.isfinite(value)]


class _Scale:
    """Maps values to places between two ends, linearly or logarithmically, with ticks at round values."""

    def __init__(self, values: Iterable[float], start: float, end: float, *, logarithmic: bool) -> None:
        known = [value for value in values if math.isfinite(value) and (value > 0 or not logarithmic)] or [1.0]
        self._of = math.log10 if logarithmic else float
        low, high = self._of(min(known)), self._of(max(known))
        room = (high - low) * 0.04 or abs(high) * 0.04 or 1.0
        self.low, self.high = low - room, high + room
        self._start, self._end, self._logarithmic = start, end, logarithmic

    def __call__(self, value: float) -> float:
        """Return the place of a value; that of a value outside is the nearer end."""
        if self._logarithmic and value <= 0:
            return self._start
        at = value if math.isinf(value) else self._of(value)
        share = (min(max(at, self.low), self.high) - self.low) / (self.high - self.low)
        return self._start + share * (self._end - self._start)

    def ticks(self) -> list[float]:
        """Return round values between the ends: 1, 2 and 5 of each power of ten, or about six at even steps."""
        if self._logarithmic:
            powers = range(math.floor(self.low), math.ceil(self.high) + 1)
            all_of_them = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
            within = [tick for tick in all_of_them if self.low <= math.log10(tick) <= self.high]
            if len(within) > 1:
                return within if len(within) < 12 else [tick for tick in within if math.log10(tick).is_integer()]
            return [10**self.low, 10**self.high]
        step = _round_up((self.high - self.low) / 7)
        first = math.ceil(self.low / step)
        return [step * number for number in range(first, math.floor(self.high / step) + 1)]


def _round_up(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step * (1 - 1e-9))


def rows(
    title: str,
    axis: str,
    shown: Sequence[Row],
    *,
    told: str = "",
    reference: float | None = None,
    logarithmic: bool = False,
) -> str:
    """Return a figure of each row's values along one axis; `told` is the text for those who cannot see it.

    `reference` is a value that is marked across all rows.
    """
    left = 16 + min(_MOST_LABEL, max((len(row.label) for row in shown), default=0) * _CHARACTER)
    bottom = _TOP + _ROW * len(shown)
    values = [value for row in shown for value in row.values()]
    if reference is not None:
        values.append(reference)
    scale = _Scale(values, left, WIDTH - 20, logarithmic=logarithmic)
    parts = [_vertical(scale(tick), bottom, _short(tick)) for tick in scale.ticks()]
    parts.append(_text((left + WIDTH - 20) / 2, bottom + 38, axis, "middle"))
    if reference is not None:
        at = f"{scale(reference):.1f}"
        parts.append(f'<line class="reference" x1="{at}" x2="{at}" y1="{_TOP}" y2="{bottom}"/>')
    for number, row in enumerate(shown):
        parts += _row(row, scale, _TOP + _ROW * (number + 0.5), left)
    return _document(title, told or axis, bottom + _BOTTOM, parts)


def curves(
    title: str,
    axes: tuple[str, str],
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    told: str = "",
    logarithmic: tuple[bool, bool] = (False, False),
) -> str:
    """Return a figure of each series' points, joined in order, over a horizontal and a vertical axis."""
    left, bottom = 70, _TOP + _PLOT
    points = [point for line in series.values() for point in line]
    across = _Scale([x for x, _ in points], left, WIDTH - 20, logarithmic=logarithmic[0])
    upwards = _Scale([y for _, y in points], bottom, _TOP + 20, logarithmic=logarithmic[1])
    parts = [_vertical(across(tick), bottom, _short(tick)) for tick in across.ticks()]
    for tick in upwards.ticks():
        at = upwards(tick)
        parts.append(f'<line class="grid" x1="{left}" x2="{WIDTH - 20}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(_text(left - 6, at + 4, _short(tick), "end"))
    middle = (_TOP + bottom) / 2
    parts.append(_text((left + WIDTH - 20) / 2, bottom + 38, axes[0], "middle"))
    parts.append(
        f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">{escape(axes[1])}</text>'
    )
    beside = float(left)
    for number, (name, line) in enumerate(series.items()):
        colour = f"c{number % len(_LIGHT)}"
        path = " ".join(f"{across(x):.1f},{upwards(y):.1f}" for x, y in line)
        parts.append(f'<g class="{colour}"><polyline class="line" points="{path}"/>')
        parts.append(f'<circle class="mark" cx="{beside + 5:.1f}" cy="{_TOP + 2}" r="5"/></g>')
        parts.append(_text(beside + 15, _TOP + 6, name, "start"))
        beside += 36 + len(name) * _CHARACTER
    return _document(title, told or axes[1], bottom + _BOTTOM, parts)


def _row(row: Row, scale: _Scale, y: float, left: float) -> list[str]:
    parts = [_text(left - 8, y + 4, row.label, "end"), f'<g class="c{row.colour % len(_LIGHT)}">']
    if row.bracket is not None:
        low, high = sorted(map(scale, row.bracket))
        parts.append(f'<path class="bracket" d="M{low:.1f},{y - 6:g}v12m0,-6H{high:.1f}m0,-6v12"/>')
    # A little apart, so that equal values can be seen as several; in the same way each time.
    parts += [
        f'<circle class="dot" cx="{scale(value):.1f}" cy="{y + (number * 5 % 9 - 4) * 1.2:.1f}" r="3"/>'
        for number, value in enumerate(row.dots)
    ]
    if row.mark is not None:
        at = scale(row.mark)
        parts.append(f'<path class="mark" d="M{at:.1f},{y - 7:g}l5,7l-5,7l-5,-7z"/>')
    return [*parts, "</g>"]


def _vertical(x: float, bottom: float, label: str) -> str:
    line = f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{bottom}"/>'
    return line + _text(x, bottom + 17, label, "middle")


def _short(tick: float) -> str:
    return f"{tick:,.10g}" if 1e-4 <= abs(tick) < 1e7 or tick == 0 else f"{tick:.3g}"


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _document(title: str, told: str, height: float, parts: Iterable[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}">'
    named = f"<title>{escape(title)}</title><desc>{escape(told)}</desc><style>{_STYLE}</style>"
    shown = f'<text class="title" x="16" y="24">{escape(title)}</text>'
    return "\n".join([head, named, shown, *parts, "</svg>\n"])
