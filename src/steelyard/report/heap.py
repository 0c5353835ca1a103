"""The heap in a report: what each side asked of its allocator, and what changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from rich.text import Text

from steelyard.model.heap import HeapLaunch
from steelyard.model.records import Run, Weighing
from steelyard.report import figures
from steelyard.report.bounds import MOST_BENCHMARKS, show_left_out
from steelyard.report.markup import code, table
from steelyard.report.sheet import Sheet, column_widths

TITLE = "from launches of their own, under a library that counts: not those that are timed"
CAUTION = "the share of time is an estimate"
_NAME_COLUMNS = 24
SIDES = ("baseline", "candidate", "change")
_Rows = list[list[str]]


@dataclass(frozen=True)
class _Column:
    title: str
    value: Callable[[HeapLaunch], float | None]
    shown: Callable[[float], str]


_COLUMNS = (
    _Column("allocations", lambda launch: launch.use.allocations, lambda value: f"{value:,.0f}"),
    _Column("bytes", lambda launch: launch.use.bytes, figures.size),
    _Column("peak", lambda launch: launch.use.peak_bytes, figures.size),
    _Column("time in it", HeapLaunch.share, figures.percent),
)


def show(sheet: Sheet, record: Weighing | Run) -> None:
    """Print what was seen of the heap, if it was watched."""
    watched = _watched(record)
    if not watched:
        return
    sheet.blank()
    sheet.row("heap", f"{TITLE}; {CAUTION}")
    shown = watched[:MOST_BENCHMARKS]
    table = _table_of_one(record, shown[0][1]) if len(watched) == 1 else _table_of_several(sheet, record, shown)
    if sheet.has_room_for(table):
        sheet.grid(table, right=frozenset(range(1, len(table[0]))))
    else:
        for name, rows in shown:
            for title, *values in rows:
                sheet.row(f"{sheet.name(name, _NAME_COLUMNS)} {title}", ", ".join(filter(None, values)))
    show_left_out(sheet, len(watched) - len(shown))
    sheet.blank()


def _table_of_one(record: Weighing | Run, rows: _Rows) -> list[list[Text]]:
    """Return the table for a single benchmark: a line for each number, with both sides."""
    table = [[Text(title, "dim"), *map(Text, values)] for title, *values in rows]
    if isinstance(record, Weighing):
        table.insert(0, [Text(title, "dim") for title in ("", *SIDES)])
    return table


def _table_of_several(sheet: Sheet, record: Weighing | Run, watched: Sequence[tuple[str, _Rows]]) -> list[list[Text]]:
    """Return the table for several benchmarks, one line each; of a weighing, only the changes."""
    first_title = "change of" if isinstance(record, Weighing) else "benchmark"
    titles = [Text(column.title, "dim") for column in _COLUMNS]
    numbers = [titles, *([Text(cells[-1]) for cells in rows] for _, rows in watched)]
    room = sheet.width - sum(width + 2 for width in column_widths(numbers))
    names = sheet.names([name for name, _ in watched], max(room, _NAME_COLUMNS))
    return [[first, *row] for first, row in zip([Text(first_title, "dim"), *map(Text, names)], numbers, strict=True)]


def markdown(record: Weighing | Run) -> list[str]:
    """Return what was seen of the heap as lines of Markdown."""
    lines = [[code(name), *cells] for name, rows in _watched(record) for cells in rows]
    if not lines:
        return []
    sides = SIDES if isinstance(record, Weighing) else ("",)
    return [f"heap: {TITLE}; {CAUTION}", "", *table(["benchmark", "heap", *sides], lines), ""]


def _watched(record: Weighing | Run) -> list[tuple[str, _Rows]]:
    """Return the name of each benchmark whose heap was watched, and what was seen of it."""
    return [(one.name, rows) for number, one in enumerate(record.benchmarks) if (rows := rows_of(record, number))]


def rows_of(record: Weighing | Run, benchmark: int) -> _Rows:
    """Return what was seen of one benchmark's heap: a row for each number, its title first; empty if not watched.

    The title is followed by the cells of the sides, and of a weighing by that of the change.
    """
    launches_by_place = record.heap.by_place if record.heap else {}
    sides = [launches_by_place.get((benchmark, side), []) for side in range(len(record.subjects[:2]))]
    return [[column.title, *_cells(sides, column)] for column in _COLUMNS] if any(sides) else []


def _cells(sides: Sequence[Sequence[HeapLaunch]], column: _Column) -> list[str]:
    """Return each side's value, and the change if both are known."""
    values = [[value for value in map(column.value, side) if value is not None] for side in sides]
    cells = [_level(side, column) for side in values]
    return cells if len(sides) == 1 else [*cells, _change(values, column)]


def _level(values: Sequence[float], column: _Column) -> str:
    """Return the value, or the range if launches differ; of the share of time, which is an estimate, the median."""
    if not values:
        return figures.NOT_KNOWN
    low, high = column.shown(min(values)), column.shown(max(values))
    if column.value is HeapLaunch.share or low == high:
        return column.shown(median(values))
    return f"{low} to {high}"


def _change(values: Sequence[Sequence[float]], column: _Column) -> str:
    """Return the change between the medians; of the share of time, in percentage points."""
    if not all(values):
        return figures.NOT_KNOWN
    before, after = (median(side) for side in values)
    if column.value is HeapLaunch.share:
        points = round(100 * (after - before), 1)
        return f"{points:+.1f} points" if points else "0.0 points"
    if before == after:
        return "none"
    return figures.change(after / before - 1) if before else figures.NOT_KNOWN
