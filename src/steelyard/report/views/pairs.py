"""Every pair of a weighing in the order in which it ran: its change as a mark on a line, and what disturbed it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from rich.text import Text

from steelyard.model.launches import DISTURBED_FROM, FloatArray, Launches
from steelyard.model.records import Weighing
from steelyard.model.rows import DISTURBED, IN_TANDEM, ROLES, TRIED, USED, WARM_UP
from steelyard.model.sides import SIDES
from steelyard.report import figures
from steelyard.report.bounds import show_left_out
from steelyard.report.lockstep import pair_values
from steelyard.report.sheet import Sheet
from steelyard.report.views.series import Series, below_headings
from steelyard.stats.bins import fenced_range
from steelyard.stats.changes import relative_changes

MOST_ROWS = 2000
_FEWEST_CELLS, _MOST_CELLS = 9, 61
_REASON_COLUMNS = 24
_REASON_TITLE = "disturbed"
_NOTHING = "-"
_ROLE_WORDS = {WARM_UP: "warm-up", DISTURBED: "disturbed, repeated", TRIED: "not judged, tried in tandem"}


def show(sheet: Sheet, record: Weighing, drawn: Sequence[Series]) -> None:
    """Print the pairs of these benchmarks, one line each."""
    for series in below_headings(sheet, drawn):
        _print_pairs(sheet, record, series)


def _print_pairs(sheet: Sheet, record: Weighing, series: Series) -> None:
    positions = _pairs_in_time(record, series.index)
    changes = relative_changes(*pair_values(record.launches, positions, series.metric))
    sheet.row("metric", f"{series.metric}; each pair's change", "disturbed: baseline / candidate")
    shown = positions[:MOST_ROWS]
    rows = [
        [f"{record.launches.pair[first]}", _order(record, first), _change(float(change)), reason]
        for (first, _), change, reason in zip(shown, changes, _reasons(record.launches, shown), strict=False)
    ]
    _print_table(sheet, rows, changes[:MOST_ROWS], record.launches.in_role(USED)[shown[:, 0]])
    show_left_out(sheet, len(positions) - len(shown), noun="more pair", where="--csv FILE")


def _print_table(sheet: Sheet, rows: Sequence[Sequence[str]], changes: FloatArray, used: npt.NDArray[np.bool_]) -> None:
    titles = ["pair", "first", "change"]
    widths = [max(len(title), *(len(row[place]) for row in rows)) for place, title in enumerate(titles)]
    reason_columns = min(max((len(row[-1]) for row in rows), default=0), max(_REASON_COLUMNS, sheet.width // 3))
    if sum(widths) + 2 * len(widths) + reason_columns > sheet.width:
        # What disturbed a pair matters more than which side ran first.
        rows = [[row[0], *row[2:]] for row in rows]
        del titles[1], widths[1]
    columns_taken = sum(widths) + 2 * len(widths)
    cells = min(_MOST_CELLS, sheet.width - columns_taken - (reason_columns + 2 if reason_columns else 0))
    known_changes = changes[np.isfinite(changes) & used]
    low, high = _span(known_changes if len(known_changes) else changes[np.isfinite(changes)])
    is_line_drawn = cells >= _FEWEST_CELLS
    left = f"{figures.change(low)}".ljust(cells // 2) if is_line_drawn else ""
    ruler = f"{left}{figures.change(high).rjust(cells - len(left))}" if is_line_drawn else ""
    room = max(8, sheet.width - columns_taken - (cells + 2 if is_line_drawn else 0))
    grid = [[Text(title, "dim") for title in [*titles, *([ruler] if is_line_drawn else []), _REASON_TITLE]]]
    for row, change, is_used in zip(rows, changes, used, strict=True):
        style = "" if is_used else "dim"
        drawn = [Text(_mark_line(float(change), low, high, cells), style)] if is_line_drawn else []
        grid.append([*(Text(cell, style) for cell in row[:-1]), *drawn, Text(sheet.name(row[-1], room), "yellow")])
    if not any(row[-1] for row in rows):
        grid = [row[:-1] for row in grid]
    else:
        grid[0][-1] = Text(sheet.name(grid[0][-1].plain, room), "dim")
    sheet.grid(grid, right=frozenset({0, len(titles) - 1}))


def _span(changes: FloatArray) -> tuple[float, float]:
    """Return the ends of the line, which include no change and all pairs but stragglers."""
    if not len(changes):
        return -0.01, 0.01
    low, high = fenced_range(np.sort(changes))
    low, high = min(low, 0.0), max(high, 0.0)
    return (low, high) if high - low > 1e-6 else (low - 1e-4, high + 1e-4)


def _mark_line(change: float, low: float, high: float, cells: int) -> str:
    """Draw a line of `cells` columns: `┊` is no change, `●` the pair, or `<` `>` if it is beyond the ends."""
    line = [" "] * cells
    line[_cell(0.0, low, high, cells)] = "┊"
    if np.isfinite(change):
        mark = "<" if change < low else ">" if change > high else "●"
        line[_cell(min(max(change, low), high), low, high, cells)] = mark
    return "".join(line)


def _cell(value: float, low: float, high: float, cells: int) -> int:
    return min(cells - 1, max(0, round((value - low) / (high - low) * (cells - 1))))


def _pairs_in_time(record: Weighing, benchmark: int) -> npt.NDArray[np.intp]:
    """Return the positions of the launches of all complete pairs of any role, shape (pairs, 2), as they ran."""
    positions = np.concatenate([record.launches.complete_pairs(benchmark, role) for role in ROLES])
    return positions[np.argsort(record.launches.column("start_ns")[positions].min(axis=1), kind="stable")]


def _order(record: Weighing, first: int) -> str:
    order = record.launches.order[first]
    return SIDES[order % IN_TANDEM] + (", at once" if order >= IN_TANDEM else "")


def _change(change: float) -> str:
    return figures.change(change) if np.isfinite(change) else figures.NOT_KNOWN


def _reasons(launches: Launches, pairs: npt.NDArray[np.intp]) -> list[str]:
    """Say of each pair what disturbed it: how long each launch waited, what was stolen, how many pages were read.

    In `waited 2.6 % / -`, the second of two launches waited for less than one percent of its time.
    """
    waited, stolen = launches.waiting_share(), launches.share_of_elapsed("steal_ns").clip(max=1.0)
    reasons = []
    for pair in pairs:
        role = ROLES[launches.role[pair[0]]]
        read = [launches.major_faults[place] for place in pair]
        parts = [
            *([_ROLE_WORDS[role]] if role in _ROLE_WORDS else []),
            *_labelled_values("waited", map(_share, waited[pair].tolist())),
            *_labelled_values("stolen", map(_share, stolen[pair].tolist())),
            *_labelled_values("major faults", [f"{faults:,}" if faults else _NOTHING for faults in read]),
        ]
        reasons.append("; ".join(parts))
    return reasons


def _labelled_values(label: str, values: Iterable[str]) -> list[str]:
    shown = list(values)
    return [f"{label} {' / '.join(shown)}"] if any(value != _NOTHING for value in shown) else []


def _share(share: float) -> str:
    # Also false for NaN, where the machine does not tell.
    return figures.percent(float(f"{share:.2g}")) if share > DISTURBED_FROM else _NOTHING
