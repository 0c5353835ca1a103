"""Pictures that need no script: the bar of a change in its row, shares of a variance, and functions as an icicle."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.report import figures
from steelyard.report.page.elements import Markup, element, joined, text
from steelyard.report.printable import plain, shown

# Size of a bar's picture, in its own units.
_WIDTH, _HEIGHT, _EDGE = 200, 20, 8
_ROW_HEIGHT = 30
# If more than _FEW changes and interval ends (as many as four rows have) lie beyond the margin, the scale reaches at
# most _FARTHEST times as far as two thirds of them.
_FEW_ENDS, _FARTHEST_FACTOR = 12, 5.0
# As a share of the whole; anything narrower could not be seen, let alone pointed at.
_NARROWEST_SHARE = 0.002


@dataclass(frozen=True)
class Scale:
    """The scale shared by the bars of one metric in a table: from -limit to +limit."""

    limit: float
    margin: float | None
    id: str

    def x(self, change: float) -> float:
        """Return the x position of a change."""
        inside = max(-1.0, min(1.0, change / self.limit))
        return round(_WIDTH / 2 + inside * (_WIDTH / 2 - _EDGE), 1)

    def symbol(self) -> Markup:
        """Return the background of the bars without a margin of their own, as a symbol."""
        symbol = f'<symbol id="{self.id}" viewBox="0 0 {_WIDTH} {_HEIGHT}">{self.ground(self.margin)}</symbol>'
        return Markup(f'<svg class="defs" aria-hidden="true" width="0" height="0">{symbol}</svg>')

    def ground(self, margin: float | None) -> Markup:
        """Draw the margin and the line of no change."""
        low, high = self.x(-(margin or 0)), self.x(margin or 0)
        band = element("rect", x=low, y=0, width=round(high - low, 1), height=_HEIGHT, class_="margin")
        middle = element("path", d=f"M{_WIDTH // 2} 0V{_HEIGHT}", class_="zero")
        return joined([band, middle] if margin else [middle])


def fitting_scale(ends: Iterable[float], margin: float | None, name: str) -> Scale:
    """Return a scale that fits nearly all of these changes; a few far larger ones do not flatten the others."""
    sizes = np.abs([end for end in ends if math.isfinite(end)] or [0.01])
    limit = 1.15 * float(np.quantile(sizes, 0.95 if len(sizes) > 40 else 1.0))
    beyond_margin = sizes[sizes > (margin or 0.0)]
    if len(beyond_margin) > _FEW_ENDS:
        limit = min(limit, _FARTHEST_FACTOR * float(np.quantile(beyond_margin, 2 / 3, method="higher")))
    return Scale(_round_up(max(limit, 3 * (margin or 0.0), 1e-6)), margin, name)


def _round_up(limit: float) -> float:
    power: float = 10.0 ** math.floor(math.log10(limit))
    return next(step * power for step in (1, 1.5, 2, 3, 5, 7.5, 10) if step * power >= limit * (1 - 1e-9))


def change_bar(
    scale: Scale, change: float | None, interval: tuple[float, float] | None, margin: float | None = None
) -> Markup:
    """Draw a change and its interval on the scale, with arrows where they lie beyond it. Other cells have the words.

    `margin` is the verdict's own, if it has one.
    """
    drawn = [f'<use href="#{scale.id}"/>' if margin in (None, scale.margin) else scale.ground(margin)]
    middle = _HEIGHT // 2
    if interval is not None:
        low, high = (scale.x(end) for end in interval)
        drawn.append(f'<path class="i" d="M{low:g} {middle}H{max(high, low + 1):g}"/>')
    beyond = [end for end in (*(interval or ()), change) if end is not None and abs(end) > scale.limit]
    for sign in {math.copysign(1, end) for end in beyond}:
        arrow_tip, arrow_base = (_WIDTH - 1, _WIDTH - 7) if sign > 0 else (1, 7)
        drawn.append(f'<path class="a" d="M{arrow_base} 5L{arrow_tip} {middle}L{arrow_base} 15Z"/>')
    if change is not None:
        drawn.append(f'<circle cx="{scale.x(change):g}" cy="{middle}" r="4"/>')
    return Markup(f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" aria-hidden="true">{"".join(drawn)}</svg>')


# --- shares


@dataclass(frozen=True)
class Share:
    """A part of a whole, with parts of its own: a label, its size, what is said of it, and a CSS class."""

    label: str
    size: float
    told: str
    look: str = ""
    parts: Sequence[Share] = ()


def icicle(shares: Sequence[Share], label: str, levels: int = 1) -> Markup:
    """Draw shares of one whole side by side, each as wide as it is large, with their parts below them."""
    whole_size = sum(share.size for share in shares)
    if whole_size <= 0:
        return Markup()
    boxes = _boxes(shares, 0.0, whole_size, 0)
    return element(
        "svg", *boxes, class_="icicle", width="100%", height=levels * _ROW_HEIGHT, role="img", aria_label=label
    )


def _boxes(shares: Sequence[Share], start: float, whole_size: float, level: int) -> Iterator[Markup]:
    for share in shares:
        if share.size / whole_size >= _NARROWEST_SHARE:
            yield Markup(
                f'<svg x="{100 * start / whole_size:.2f}%" y="{level * _ROW_HEIGHT}" '
                f'width="{100 * share.size / whole_size:.2f}%" height="{_ROW_HEIGHT - 2}">'
                f"<title>{text(plain(share.label))}: {text(share.told)}</title>"
                f'<rect width="100%" height="100%" class="{share.look or "plain"}"/>'
                f"{_caption(share, whole_size)}</svg>"
            )
            yield from _boxes(share.parts, start, whole_size, level + 1)
        start += share.size


def _caption(share: Share, whole_size: float) -> Markup:
    room = int(120 * share.size / whole_size)
    return Markup(f'<text x="6" y="19">{text(shown(share.label, room))}</text>') if room >= 3 else Markup()


def ends_text(scale: Scale) -> str:
    """Return the ends of a scale in words."""
    return f"from {figures.change(-scale.limit)} to {figures.change(scale.limit)}"
