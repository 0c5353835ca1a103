"""What is kept, as a table on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from steelyard.model.inventory import Entry
from steelyard.model.records import VerdictName
from steelyard.report import figures
from steelyard.report.sheet import Sheet
from steelyard.report.verdicts import STYLES

_ORDER: tuple[VerdictName, ...] = ("slower", "faster", "same", "undecided")
_NAME_COLUMNS = 40
# Those that are shown, by how much room there is.
_COLUMNS = ((0, 1, 2, 3, 4), (0, 2, 3, 4), (0, 2, 4), (2, 4))


def show(console: Console, entries: Sequence[Entry], folder: Path) -> None:
    """Print the named runs, and then the records, a line each."""
    sheet = Sheet(console)
    named = [entry for entry in entries if entry.name is not None]
    others = [entry for entry in entries if entry.name is None]
    if named:
        sheet.line(Text("baselines, by name", "bold"))
        _table(sheet, named)
        sheet.blank()
    sheet.line(Text(f"records in {folder}, newest first", "bold"))
    if others:
        _table(sheet, others)
    else:
        sheet.line(Text("none yet"))


def _table(sheet: Sheet, entries: Sequence[Entry]) -> None:
    rows = [[Text(title, "dim") for title in ("begun (UTC)", "kind", "result", "of", "name or file")]]
    for entry in entries:
        called = entry.name or Path(entry.path).name
        rows.append([Text(_begun(entry)), Text(entry.kind), _result(entry), Text(_of(sheet, entry)), Text(called)])
    widths = [max(cell.cell_len for cell in column) + 2 for column in zip(*rows, strict=True)]
    columns = next((some for some in _COLUMNS if sum(widths[place] for place in some) <= sheet.width), _COLUMNS[-1])
    sheet.grid([[row[place] for place in columns] for row in rows])


def _begun(entry: Entry) -> str:
    return (entry.created or "not known").replace("T", " ").removesuffix("+00:00")


def _result(entry: Entry) -> Text:
    if entry.state != "ended":
        return Text(entry.state, "yellow")
    told = [f"{entry.verdicts[name]} {name}" for name in _ORDER if name in entry.verdicts]
    if len(told) == 1 and entry.benchmarks == 1:
        word = next(name for name in _ORDER if name in entry.verdicts)
        return Text(word, STYLES[word])
    return Text(", ".join(told) or figures.count(entry.benchmarks, "benchmark"))


def _of(sheet: Sheet, entry: Entry) -> str:
    return sheet.name(" | ".join(entry.subjects), _NAME_COLUMNS)
