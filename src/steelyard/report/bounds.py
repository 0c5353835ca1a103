"""How much is printed of very many benchmarks: more than anybody reads takes minutes and buries what matters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import nlargest
from typing import TypeVar

from steelyard.report import figures
from steelyard.report.sheet import Sheet

MOST_BENCHMARKS = 200

_Item = TypeVar("_Item")


def most_changed(items: Sequence[_Item], change: Callable[[_Item], float | None]) -> Sequence[_Item]:
    """Return the items to print, in their order: all of them, or if there are too many those that changed most."""
    if len(items) <= MOST_BENCHMARKS:
        return items
    positions = nlargest(MOST_BENCHMARKS, range(len(items)), key=lambda place: abs(change(items[place]) or 0.0))
    return [items[place] for place in sorted(positions)]


def show_left_out(
    sheet: Sheet,
    number: int,
    description: str = "",
    *,
    noun: str = "more benchmark",
    where: str = "--markdown FILE",
) -> None:
    """Print how many more items are not shown, a `description` of them, and where to find them."""
    if number > 0:
        sheet.row("left out", f"{figures.count(number, noun)}{description}: {where} has all of them")
