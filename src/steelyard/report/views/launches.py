"""Every launch as a row: what it measured, how long it waited, and how often it was interrupted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from rich.text import Text

from steelyard.model.foreign import ForeignResults
from steelyard.model.launches import FloatArray
from steelyard.model.metrics import of_one_process
from steelyard.model.records import Run, Weighing
from steelyard.model.rows import ROLES, USED
from steelyard.model.sides import SIDES
from steelyard.report import figures
from steelyard.report.bounds import show_left_out
from steelyard.report.sheet import Sheet
from steelyard.report.views.pairs import MOST_ROWS
from steelyard.report.views.series import Scale, Series, below_headings


@dataclass(frozen=True)
class _Column:
    """One number of a launch; on a narrow terminal, those of the highest `rank` are left out first."""

    title: str
    rank: int
    cell: Callable[[int], str]


def show(sheet: Sheet, record: Weighing | Run, drawn: Sequence[Series]) -> None:
    """Print the launches of these benchmarks, in the order in which they ran."""
    for series in below_headings(sheet, drawn):
        launches, repeat = record.launches, record.settings.repeat
        if repeat > 1:
            sheet.row(
                "launch", f"{repeat:,} processes: {series.metric} is that of one of them, all else is of the launch"
            )
        positions = np.flatnonzero(np.asarray(launches.benchmark, dtype=np.int64) == series.index)
        shown = positions[np.argsort(launches.column("start_ns")[positions], kind="stable")][:MOST_ROWS]
        styles = {place: "" if ROLES[launches.role[place]] == USED else "dim" for place in shown.tolist()}
        _print_rows(sheet, _columns(record, series), styles)
        show_left_out(sheet, len(positions) - len(shown), noun="more launch", where="--csv FILE")


def _columns(record: Weighing | Run, series: Series) -> list[_Column]:
    launches = record.launches
    values = of_one_process(launches.metric(series.metric), series.metric, record.settings.repeat)
    waits = launches.waiting_share()
    begun_ns = launches.column("start_ns").min() if len(launches) else 0.0

    def number(name: str, written: Callable[[float], str] = "{:,}".format) -> Callable[[int], str]:
        column = getattr(launches, name)
        return lambda place: figures.NOT_KNOWN if column[place] is None else written(column[place])

    time = partial(number, written=figures.duration)

    return [
        _Column("pair" if isinstance(record, Weighing) else "launch", 0, number("pair")),
        *([_Column("side", 0, lambda place: SIDES[launches.side[place]])] if isinstance(record, Weighing) else []),
        _Column("role", 3, lambda place: ROLES[launches.role[place]]),
        _Column(series.metric, 0, lambda place: _value(float(values[place]), series.scale)),
        _Column("waited", 1, lambda place: figures.NOT_KNOWN if np.isnan(waits[place]) else _percent(waits[place])),
        _Column("user", 5, time("user_ns")),
        _Column("sys", 5, time("sys_ns")),
        _Column("lost cpu", 2, number("involuntary_switches")),
        _Column("gave up cpu", 4, number("voluntary_switches")),
        _Column("minor faults", 3, number("minor_faults")),
        _Column("major", 4, number("major_faults")),
        _Column("max_rss", 6, lambda place: figures.size(launches.max_rss_bytes[place])),
        _Column("steal", 7, time("steal_ns")),
        _Column("at", 6, lambda place: figures.seconds((launches.start_ns[place] - begun_ns) / 1e9)),
    ]


def _columns_of_import(values: Sequence[FloatArray], scale: Scale) -> list[_Column]:
    return [
        _Column("process", 0, lambda place: f"{place}"),
        _Column("samples", 1, lambda place: f"{len(values[place]):,}"),
        _Column("median", 0, lambda place: scale.shown(float(np.median(values[place])))),
        _Column("lowest", 2, lambda place: scale.shown(float(values[place].min()))),
        _Column("highest", 2, lambda place: scale.shown(float(values[place].max()))),
    ]


def _percent(share: float) -> str:
    return figures.percent(share) if share >= 0.0005 else "0 %"


def _value(value: float, scale: Scale) -> str:
    return scale.shown(value) if np.isfinite(value) else figures.NOT_KNOWN


def _print_rows(sheet: Sheet, columns: Sequence[_Column], styles: Mapping[int, str]) -> None:
    """Print the columns that fit, with a row for each of the places, in its style."""
    shown = _columns_that_fit(columns, styles, sheet.width)
    rows = [[Text(column.title, "dim") for column, _ in shown]]
    for style, *cells in zip(styles.values(), *(cells for _, cells in shown), strict=True):
        rows.append([Text(cell, style) for cell in cells])
    right = frozenset(place for place, (column, _) in enumerate(shown) if column.title not in ("side", "role"))
    sheet.grid(rows, right=right)


def _columns_that_fit(columns: Sequence[_Column], places: Iterable[int], width: int) -> list[tuple[_Column, list[str]]]:
    """Return the columns that fit, with their cells."""
    columns_with_cells = [(column, [column.cell(place) for place in places]) for column in columns]
    while len(columns_with_cells) > 1:
        if sum(max(len(column.title), *map(len, cells), 0) + 2 for column, cells in columns_with_cells) - 2 <= width:
            break
        worst = max(column.rank for column, _ in columns_with_cells)
        if not worst:
            break
        last = max(place for place, (column, _) in enumerate(columns_with_cells) if column.rank == worst)
        del columns_with_cells[last]
    return columns_with_cells


def show_foreign(sheet: Sheet, record: ForeignResults, drawn: Sequence[Series]) -> None:
    """Print the processes of an import, of which nothing but their samples is known."""
    for series in below_headings(sheet, drawn):
        benchmark = record.benchmarks[series.index]
        values = np.split(series.sides[0].values, np.cumsum([len(process) for process in benchmark.values])[:-1])
        _print_rows(sheet, _columns_of_import(values, series.scale), dict.fromkeys(range(len(values))[:MOST_ROWS], ""))
        show_left_out(sheet, len(values) - MOST_ROWS, noun="more process", where="--csv FILE")
