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
_COMMAND_COLUMNS = 40
_OF, _APART = 3, 2
# Those that are shown, by how much room there is then for the commands.
_COLUMNS = (
    ((0, 1, 2, 3, 4), _COMMAND_COLUMNS),
    ((0, 2, 3, 4), 12),
    ((2, 3, 4), 12),
)
_NARROWEST = (2, 4)
# A file's name begins with its time; by as much as no other has the store finds it too.
_SECONDS, _MICROSECONDS = 15, 22


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
    files = [Path(entry.path).name for entry in entries]
    rows = [[Text(title, "dim") for title in ("begun (UTC)", "kind", "result", "of", "name")]]
    for entry, file in zip(entries, files, strict=True):
        of, called = sheet.name(" | ".join(entry.subjects), _COMMAND_COLUMNS), entry.name or _short(file, files)
        rows.append([Text(_begun(entry)), Text(entry.kind), _result(entry), Text(of), Text(called)])
    columns, room = _fitting([max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)], sheet.width)
    for row in rows:
        row[_OF] = Text(sheet.name(row[_OF].plain, room), row[_OF].style)
    sheet.grid([[row[place] for place in columns] for row in rows])


def _fitting(widths: Sequence[int], width: int) -> tuple[Sequence[int], int]:
    """The columns that there is room for, and how much of it the commands have: rather that than all the others."""
    for columns, least in _COLUMNS:
        room = width - sum(widths[place] + _APART for place in columns if place != _OF)
        if room >= min(least, widths[_OF]):
            return columns, min(room, widths[_OF])
    return _NARROWEST, widths[_OF]


def _short(name: str, others: Sequence[str]) -> str:
    """As much of a file's name as finds it: its time, to the second if no other was begun in it."""
    for end in (_SECONDS, _MICROSECONDS):
        if sum(other.startswith(name[:end]) for other in others) == 1:
            return name[:end]
    return name


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
