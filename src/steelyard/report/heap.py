"""The heap in a report: what each side asked of its allocator, and what changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from rich.text import Text

from steelyard.model.heap import HeapLaunch
from steelyard.model.records import Run, Weighing
from steelyard.report import figures
from steelyard.report.markup import code, table
from steelyard.report.sheet import Sheet

TITLE = "from launches of their own, under a library that counts: not those that are timed"
CAUTION = "the share of time is an estimate"
_NAME_COLUMNS = 24
SIDES = ("baseline", "candidate", "change")


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


@dataclass(frozen=True)
class _Row:
    """One benchmark: for each column the cells of the sides and the change."""

    benchmark: str
    cells: list[list[str]]


def show(sheet: Sheet, record: Weighing | Run) -> None:
    """Print what was seen of the heap, if it was watched."""
    benchmark_rows = _benchmark_rows(record)
    if not benchmark_rows:
        return
    sheet.blank()
    sheet.row("heap", f"{TITLE}; {CAUTION}")
    table = (
        _table_of_one(record, benchmark_rows[0])
        if len(benchmark_rows) == 1
        else _table_of_several(sheet, record, benchmark_rows)
    )
    if sheet.has_room_for(table):
        sheet.grid(table, right=frozenset(range(1, len(table[0]))))
    else:
        for row in benchmark_rows:
            for column, cells in zip(_COLUMNS, row.cells, strict=True):
                sheet.row(f"{sheet.name(row.benchmark, _NAME_COLUMNS)} {column.title}", ", ".join(filter(None, cells)))
    sheet.blank()


def _table_of_one(record: Weighing | Run, row: _Row) -> list[list[Text]]:
    """Return the table for a single benchmark: a line for each number, with both sides."""
    table = [[Text(column.title, "dim"), *map(Text, cells)] for column, cells in zip(_COLUMNS, row.cells, strict=True)]
    if isinstance(record, Weighing):
        table.insert(0, [Text(title, "dim") for title in ("", *SIDES)])
    return table


def _table_of_several(sheet: Sheet, record: Weighing | Run, rows: Sequence[_Row]) -> list[list[Text]]:
    """Return the table for several benchmarks, one line each; of a weighing, only the changes."""
    first_title = "change of" if isinstance(record, Weighing) else "benchmark"
    table = [[Text(title, "dim") for title in (first_title, *(column.title for column in _COLUMNS))]]
    for row in rows:
        name = Text(sheet.name(row.benchmark, _NAME_COLUMNS))
        table.append([name, *(Text(cells[-1]) for cells in row.cells)])
    return table


def markdown(record: Weighing | Run) -> list[str]:
    """Return what was seen of the heap as lines of Markdown."""
    benchmark_rows = _benchmark_rows(record)
    if not benchmark_rows:
        return []
    sides = SIDES if isinstance(record, Weighing) else ("",)
    titles = ["benchmark", "heap", *sides]
    lines = [
        [code(row.benchmark), column.title, *cells]
        for row in benchmark_rows
        for column, cells in zip(_COLUMNS, row.cells, strict=True)
    ]
    return [f"heap: {TITLE}; {CAUTION}", "", *table(titles, lines), ""]


def cells(record: Weighing | Run, benchmark: int) -> list[list[str]]:
    """Return what was seen of one benchmark's heap: a row for each number, its title first; empty if not watched."""
    return [
        [column.title, *values]
        for row in _benchmark_rows(record, benchmark)
        for column, values in zip(_COLUMNS, row.cells, strict=True)
    ]


def _benchmark_rows(record: Weighing | Run, only_benchmark: int | None = None) -> list[_Row]:
    if record.heap is None:
        return []
    rows = []
    launches_by_place = record.heap.by_place()
    for number, benchmark in enumerate(record.benchmarks):
        sides = [launches_by_place.get((number, side), []) for side in range(len(record.subjects[:2]))]
        if any(sides) and only_benchmark in (None, number):
            rows.append(_Row(benchmark.name, [_cells(sides, column) for column in _COLUMNS]))
    return rows


def _cells(sides: Sequence[Sequence[HeapLaunch]], column: _Column) -> list[str]:
    """Return each side's value, and the change if both are known."""
    values = [[value for value in map(column.value, side) if value is not None] for side in sides]
    cells = [_level(side, column) for side in values]
    if len(sides) == 1:
        return cells
    return [*cells, _change(values, column)]


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
        return f"{round(100 * (after - before), 1) + 0.0:+.1f} points"  # avoids -0.0
    if before == after:
        return "none"
    return figures.change(after / before - 1) if before else figures.NOT_KNOWN
