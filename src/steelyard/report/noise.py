"""The noise that was measured, as tables: how far pairs differ, and how many of them a change takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich.text import Text

from steelyard.model.noise import Expected, Noise, Spread, Way, Work
from steelyard.report import figures
from steelyard.report.sheet import Sheet

_KINDS: Final[Sequence[tuple[Work, Way, str]]] = (
    ("loop", "adjacent", "loop"),
    ("loop", "tandem", "in tandem"),
    ("memory", "adjacent", "memory"),
    ("memory", "tandem", "in tandem"),
)
_MOST = 100_000
_FEWEST_COLUMNS = 3
_RIGHT: Final = frozenset(range(1, 8))


def noise(sheet: Sheet, found: Noise) -> None:
    """Print a table: of each kind and length the spread of a pair, and the pairs for a change of 1 % and of 0.1 %."""
    told = f"identical programs for {figures.seconds(found.seconds)}{', interrupted' if found.interrupted else ''}"
    sheet.row("measured", f"{told}; of a change, how many pairs find it:")
    changes = sorted({one.change for one in found.expected}, reverse=True)
    heads = ["", "launch", "differ by", *(f"{100 * change:g} %" for change in changes for _ in range(2))]
    heads[4::2] = ["takes" for _ in changes]
    rows = [[Text(head, "dim") for head in heads]]
    for work, pairing, name in _KINDS:
        label = name
        for one in found.spreads:
            if (one.work, one.pairing, one.cpu) == (work, pairing, None):
                rows.append([Text(cell) for cell in (label, *_cells(one, found.expected))])
                label = ""
    while len(rows[0]) > _FEWEST_COLUMNS and _width(rows) > sheet.width:
        rows = [row[:-1] for row in rows]
    sheet.grid(rows, _RIGHT)


def _width(rows: Sequence[Sequence[Text]]) -> int:
    widths: list[int] = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
    return sum(widths) + 2 * (len(widths) - 1)


def _cells(one: Spread, expected: Iterable[Expected]) -> Iterable[str]:
    place = (one.work, one.pairing, one.median_ns / 1e6)
    mine = [found for found in expected if (found.work, found.pairing, found.ms) == place]
    yield figures.duration(one.median_ns)
    yield f"{100 * mine[0].deviation:.2f} %"
    for found in mine:
        if found.pairs > _MOST:
            yield from (f"> {_MOST:,}", "")
        else:
            yield from (f"{found.pairs:,}", figures.seconds(found.seconds))
