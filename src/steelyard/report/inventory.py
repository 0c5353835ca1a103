"""The kept runs and records, as a table on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from steelyard.model.inventory import Entry
from steelyard.model.metrics import is_counted
from steelyard.report import figures
from steelyard.report.sheet import Sheet, column_widths
from steelyard.report.verdicts import STYLES

_COMMAND_COLUMNS = 60
_FEWEST_SUBJECT_COLUMNS = 8
_RESULT_COLUMN, _SUBJECTS, _GAP = 2, 3, 2
_SEPARATOR = " | "
# Which columns are shown, by the room that is then left for the commands; a record's name tells its time, too.
_ALL_COLUMNS = (0, 1, 2, 3, 4)
_RECORD_LAYOUTS = ((_ALL_COLUMNS, 40), ((1, 2, 3, 4), 24), ((2, 3, 4), 12))
_BASELINE_LAYOUTS = ((_ALL_COLUMNS, 40), ((0, 2, 3, 4), 12), ((2, 3, 4), 12))
_FEWEST_COLUMNS = (2, 4)
# A file's name begins with its time. The store finds it by the second, or by as many digits as make it unique.
_SECONDS, _MICROSECONDS = 15, 22

_Layouts = Sequence[tuple[Sequence[int], int]]


def show(console: Console, entries: Sequence[Entry], folder: Path) -> None:
    """Print the named runs and then the records, one line each."""
    sheet = Sheet(console)
    named = [entry for entry in entries if entry.name is not None]
    others = [entry for entry in entries if entry.name is None]
    if named:
        sheet.line(Text("baselines, by name", "bold"))
        _table(sheet, named, _BASELINE_LAYOUTS)
        sheet.blank()
    sheet.line(Text(f"records in {folder}, newest first", "bold"))
    if others:
        _table(sheet, others, _RECORD_LAYOUTS)
    else:
        sheet.line(Text("none yet"))


def _table(sheet: Sheet, entries: Sequence[Entry], layouts: _Layouts) -> None:
    files = [Path(entry.path).name for entry in entries]
    rows = [[Text(title, "dim") for title in ("begun (UTC)", "kind", "result", "of", "name")]]
    for entry, file in zip(entries, files, strict=True):
        subjects, name = _subjects_text(sheet, entry, _COMMAND_COLUMNS), entry.name or _unique_prefix(file, files)
        rows.append([Text(_begun_text(entry)), Text(entry.kind), _result(entry), Text(subjects), Text(name)])
    if not sheet.has_room_for(rows):
        for row, entry in zip(rows[1:], entries, strict=True):
            row[_RESULT_COLUMN] = _result(entry, brief=True)
    columns, room = _columns_that_fit(column_widths(rows), sheet.width, layouts)
    for row, entry in zip(rows[1:], entries, strict=True):
        row[_SUBJECTS] = Text(_subjects_text(sheet, entry, room))
    sheet.grid([[row[place] for place in columns] for row in rows])


def _columns_that_fit(widths: Sequence[int], width: int, layouts: _Layouts) -> tuple[Sequence[int], int]:
    """Return the columns that fit and the width of the commands, which matter more than all other columns."""
    for columns, fewest in layouts:
        room = width - sum(widths[place] + _GAP for place in columns if place != _SUBJECTS)
        if room >= min(fewest, widths[_SUBJECTS]):
            return columns, min(room, widths[_SUBJECTS])
    return _FEWEST_COLUMNS, widths[_SUBJECTS]


def _subjects_text(sheet: Sheet, entry: Entry, width: int) -> str:
    """Write the subjects in at most `width` columns: part of each, if that tells them apart.

    Revisions stand behind their command, which tells more than they do.
    """
    whole = _SEPARATOR.join([*filter(None, [entry.command]), *entry.subjects])
    if cell_len(whole) <= width:
        return sheet.name(whole, width)
    subjects = _without_folders([entry.command] if entry.command else entry.subjects)
    room = width - len(_SEPARATOR) * (len(subjects) - 1)
    if room >= _FEWEST_SUBJECT_COLUMNS * len(subjects):
        shown_subjects = _cut_evenly(sheet, subjects, room)
        if len(set(shown_subjects)) == len(set(subjects)):
            return _SEPARATOR.join(shown_subjects)
    return sheet.name(_SEPARATOR.join(subjects), width)


def _cut_evenly(sheet: Sheet, names: Sequence[str], room: int) -> list[str]:
    """Cut names to `room` columns in all; what a short one leaves over goes to the others."""
    shown = dict[int, str]()
    for place in sorted(range(len(names)), key=lambda one: len(names[one])):
        shown[place] = sheet.name(names[place], room // (len(names) - len(shown)))
        room -= cell_len(shown[place])
    return [shown[place] for place in range(len(names))]


def _without_folders(subjects: Sequence[str]) -> list[str]:
    """Return commands without the folders of their programs, unless these tell them apart."""
    shortened = []
    for subject in subjects:
        program, space, words = subject.partition(" ")
        is_path = program.startswith(("/", "./", "../"))  # any other slash may be a division in a statement
        shortened.append(f"{program.rpartition('/')[2]}{space}{words}" if is_path else subject)
    return shortened if len(set(shortened)) == len(set(subjects)) else list(subjects)


def _unique_prefix(name: str, others: Sequence[str]) -> str:
    """Return the part of a file's name that finds it: its time, to the second if that is unique."""
    for end in (_SECONDS, *range(_SECONDS + 2, _MICROSECONDS + 1)):
        if sum(other.startswith(name[:end]) for other in others) == 1:
            return name[:end]
    return name


def _begun_text(entry: Entry) -> str:
    return (entry.created or "not known").replace("T", " ").removesuffix("+00:00")


def _result(entry: Entry, *, brief: bool = False) -> Text:
    """Say how an entry ended; for several benchmarks, tally the verdicts, or if `brief` give the first count alone."""
    if entry.state != "ended":
        return Text(entry.state, "yellow")
    names = [name for name in figures.VERDICTS if name in entry.verdicts]
    if len(names) == 1 and entry.benchmarks == 1:
        return Text(names[0], STYLES[names[0]])
    if brief and len(names) > 1:
        return Text(f"{entry.verdicts[names[0]]} {names[0]} of {sum(entry.verdicts.values())}")
    tally = figures.tally(entry.verdicts)
    if not tally and entry.metric is not None and is_counted(entry.metric):
        return Text(
            f"{entry.benchmarks} counted" if brief else f"{figures.count(entry.benchmarks, 'benchmark')}, counted"
        )
    return Text(tally or figures.count(entry.benchmarks, "benchmark"))
