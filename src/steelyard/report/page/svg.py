"""Pictures that need no script: the bar of a change in its row, levels of a variance, and functions as an icicle."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.report import figures
from steelyard.report.page.elements import Markup, element, joined, text
from steelyard.report.printable import plain, shorten

# Of the picture of a bar, in its own units.
_WIDTH, _HEIGHT, _EDGE = 200, 20, 8
_ROW = 30
# Of changes and ends of intervals beyond the margin: more than those of four rows, and how far beyond two thirds of
# them the scale goes.
_FEW, _FARTHEST = 12, 5.0
# Of the whole: what is narrower could not be seen, let alone pointed at.
_NARROWEST = 0.002


@dataclass(frozen=True)
class Scale:
    """The scale that the bars of one metric in a table share: from -limit to +limit."""

    limit: float
    margin: float | None
    id: str

    def x(self, change: float) -> float:
        """Where a change lies."""
        inside = max(-1.0, min(1.0, change / self.limit))
        return round(_WIDTH / 2 + inside * (_WIDTH / 2 - _EDGE), 1)

    def symbol(self) -> Markup:
        """What is behind each bar that has no margin of its own."""
        symbol = f'<symbol id="{self.id}" viewBox="0 0 {_WIDTH} {_HEIGHT}">{self.ground(self.margin)}</symbol>'
        return Markup(f'<svg class="defs" aria-hidden="true" width="0" height="0">{symbol}</svg>')

    def ground(self, margin: float | None) -> Markup:
        """The margin, and no change."""
        low, high = self.x(-(margin or 0)), self.x(margin or 0)
        band = element("rect", x=low, y=0, width=round(high - low, 1), height=_HEIGHT, class_="margin")
        middle = element("path", d=f"M{_WIDTH // 2} 0V{_HEIGHT}", class_="zero")
        return joined([band, middle] if margin else [middle])


def scale(ends: Iterable[float], margin: float | None, name: str) -> Scale:
    """A scale on which nearly all of these changes lie; a few that are far larger do not flatten the others."""
    sizes = np.abs([end for end in ends if math.isfinite(end)] or [0.01])
    limit = 1.15 * float(np.quantile(sizes, 0.95 if len(sizes) > 40 else 1.0))
    told = sizes[sizes > (margin or 0.0)]
    if len(told) > _FEW:
        limit = min(limit, _FARTHEST * float(np.quantile(told, 2 / 3, method="higher")))
    return Scale(_round_up(max(limit, 3 * (margin or 0.0), 1e-6)), margin, name)


def _round_up(limit: float) -> float:
    power: float = 10.0 ** math.floor(math.log10(limit))
    return next(step * power for step in (1, 1.5, 2, 3, 5, 7.5, 10) if step * power >= limit * (1 - 1e-9))


def change_bar(
    on: Scale, change: float | None, interval: tuple[float, float] | None, margin: float | None = None
) -> Markup:
    """A change and its interval on the scale; arrows where they lie beyond it. The cells beside it say it in words.

    `margin` is its own, where it has one.
    """
    drawn = [f'<use href="#{on.id}"/>' if margin in (None, on.margin) else on.ground(margin)]
    middle = _HEIGHT // 2
    if interval is not None:
        low, high = (on.x(end) for end in interval)
        drawn.append(f'<path class="i" d="M{low:g} {middle}H{max(high, low + 1):g}"/>')
    beyond = [end for end in (*(interval or ()), change) if end is not None and abs(end) > on.limit]
    for sign in {math.copysign(1, end) for end in beyond}:
        tip, back = (_WIDTH - 1, _WIDTH - 7) if sign > 0 else (1, 7)
        drawn.append(f'<path class="a" d="M{back} 5L{tip} {middle}L{back} 15Z"/>')
    if change is not None:
        drawn.append(f'<circle cx="{on.x(change):g}" cy="{middle}" r="4"/>')
    return Markup(f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" aria-hidden="true">{"".join(drawn)}</svg>')


# --- shares


@dataclass(frozen=True)
class Share:
    """A part of a whole, and what is part of it: a label, a class, how large it is, and what is said of it."""

    label: str
    size: float
    told: str
    look: str = ""
    parts: Sequence[Share] = ()


def icicle(whole: Share, levels: int, label: str) -> Markup:
    """Shares below what they are a share of, each as wide as it is large."""
    if whole.size <= 0:
        return Markup()
    boxes = list(_boxes(whole, 0.0, whole.size, 0))
    return element("svg", *boxes, class_="icicle", width="100%", height=levels * _ROW, role="img", aria_label=label)


def _boxes(share: Share, start: float, of: float, level: int) -> Iterable[Markup]:
    if share.size / of < _NARROWEST:
        return
    yield Markup(
        f'<svg x="{100 * start / of:.2f}%" y="{level * _ROW}" width="{100 * share.size / of:.2f}%" height="{_ROW - 2}">'
        f"<title>{text(plain(share.label))}: {text(share.told)}</title>"
        f'<rect width="100%" height="100%" class="{share.look or "plain"}"/>'
        f"{_caption(share, of)}</svg>"
    )
    for part in share.parts:
        yield from _boxes(part, start, of, level + 1)
        start += part.size


def _caption(share: Share, of: float) -> Markup:
    room = int(120 * share.size / of)
    return Markup(f'<text x="6" y="19">{text(shorten(plain(share.label), room))}</text>') if room >= 3 else Markup()


def stack(shares: Sequence[Share], label: str) -> Markup:
    """Shares of one whole beside each other."""
    whole = sum(share.size for share in shares)
    if whole <= 0:
        return Markup()
    start = 0.0
    drawn: list[Markup] = []
    for share in shares:
        drawn += _boxes(share, start, whole, 0)
        start += share.size
    return element("svg", *drawn, class_="icicle", width="100%", height=_ROW, role="img", aria_label=label)


def ends(on: Scale) -> str:
    """Those of a scale, in words."""
    return f"from {figures.change(-on.limit)} to {figures.change(on.limit)}"
