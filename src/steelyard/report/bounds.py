"""How much is printed of very many benchmarks: more than anybody reads takes minutes and buries what matters."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nlargest
from typing import TYPE_CHECKING, TypeVar

from steelyard.report import figures
from steelyard.report.sheet import Sheet

if TYPE_CHECKING:
    from steelyard.model.derived import Verdict
    from steelyard.model.foreign import ForeignVerdict
    from steelyard.model.unpaired import UnpairedVerdict

MOST_BENCHMARKS = 200

_Verdict = TypeVar("_Verdict", "Verdict", "UnpairedVerdict", "ForeignVerdict")


def most_changed(verdicts: Sequence[_Verdict], most: int = MOST_BENCHMARKS) -> Sequence[_Verdict]:
    """Return the verdicts to print, in their order: all of them, or if there are too many those that changed most."""
    if len(verdicts) <= most:
        return verdicts
    places = nlargest(most, range(len(verdicts)), key=lambda place: abs(verdicts[place].change or 0.0))
    return [verdicts[place] for place in sorted(places)]


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
