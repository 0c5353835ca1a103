"""Several benchmarks on a terminal: a table, and what would decide the undecided."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from steelyard.model.derived import Verdict, deciding_of
from steelyard.model.records import Weighing
from steelyard.report import budgets, disturbances, figures, notes, ranking, sentences, words
from steelyard.report.bounds import most_changed, show_left_out
from steelyard.report.sheet import Sheet
from steelyard.report.verdicts import STYLES, interval_of, margins_row, word_of
from steelyard.stats.verdict import CHANGED

_NAME_COLUMNS = 24
_MOST_OPEN = 10
# Columns of the table, behind the name, with which it has the medians.
_WITH_MEDIANS = 6
_THROUGHPUT = "throughput"


def rows(sheet: Sheet, record: Weighing, verdicts: list[Verdict]) -> None:
    """Print a table for each metric, and below it what is said of several of the benchmarks."""
    at_verdict, below = notes.parted(notes.of_weighing(record, verdicts))
    for metric in dict.fromkeys(verdict.metric for verdict in verdicts):
        chosen = [verdict for verdict in verdicts if verdict.metric == metric]
        sheet.blank()
        sheet.row("metric", sentences.metric(metric, record.settings))
        shown = most_changed(chosen, lambda verdict: verdict.change)
        titles = _table(sheet, shown, figures.confidence(record.settings.alpha))
        if _THROUGHPUT not in titles:
            _throughput_rows(sheet, shown)
        show_left_out(sheet, len(chosen) - len(shown), ", which changed less")
        counted = [verdict for verdict in chosen if not verdict.control]
        said = f"{sentences.tally_in(record, counted)} in {figures.seconds(record.seconds)}"
        sheet.row("in all", f"{said}; baseline and candidate are medians" if "baseline" in titles else said)
    notes.show(sheet, at_verdict)
    margins_row(sheet, record)
    first = deciding_of([verdict for verdict in verdicts if not verdict.control])
    ranking.rows(sheet, record, first)
    _open(sheet, record, first)
    if below or any(verdict.disturbed for verdict in first):
        sheet.blank()
    _noise(sheet, first)
    notes.show(sheet, below)


def _noise(sheet: Sheet, verdicts: Sequence[Verdict]) -> None:
    """Print how many launches waited, and in which benchmark one waited longest."""
    disturbed = sum(verdict.disturbed for verdict in verdicts)
    if not disturbed:
        return
    worst = max(verdicts, key=lambda verdict: verdict.worst_delay or 0.0)
    launches = figures.count(disturbed, "launch")
    where = "" if worst.worst_delay is None else f" ({sheet.name(worst.benchmark, _NAME_COLUMNS)})"
    waited = disturbances.waited(launches, worst.worst_delay) + where
    sheet.row("noise", disturbances.with_beside(waited, disturbances.together(verdicts), waited=True))


def _open(sheet: Sheet, record: Weighing, verdicts: list[Verdict]) -> None:
    """Say of the undecided benchmarks what is known all the same, and what would decide them."""
    undecided = [verdict for verdict in verdicts if verdict.verdict == "undecided"]
    if not undecided:
        return
    lines = []
    for verdict in undecided[:_MOST_OPEN]:
        known = sentences.excluded(verdict, record.settings) or "nothing is known"
        lines.append(Text.assemble((sheet.head_name(verdict.benchmark), "bold"), f": {known}"))
    if len(undecided) > _MOST_OPEN:
        lines.append(Text(f"and {len(undecided) - _MOST_OPEN} more, as the table has them"))
    sheet.blank()
    sheet.row("undecided", *lines, *budgets.budget_of_all(undecided, record), style=STYLES["undecided"])


def _table(sheet: Sheet, verdicts: Sequence[Verdict], confidence: str) -> list[str]:
    """Print one row a benchmark; columns that do not fit are left out, the least needed first.

    The titles of those that are shown are returned.
    """
    if sheet.narrow:
        for verdict in verdicts:
            name = sheet.name(verdict.benchmark, sheet.width)
            sheet.row(name, Text.assemble(word_of(verdict), f" {figures.change(verdict.change)}"), style="")
        return []
    head = ["benchmark", "verdict", "change", f"interval at {confidence}", "pairs", "baseline", "candidate"]
    beside = {title: column for title, column in _beside(verdicts).items() if any(column)}
    head += beside
    cells = [
        [*_cells(verdict), *(Text(column[place]) for column in beside.values())]
        for place, verdict in enumerate(verdicts)
    ]
    names = [Text(sheet.name(verdict.benchmark, sheet.width)) for verdict in verdicts]
    longest = max(len(head[0]), *(name.cell_len for name in names))
    columns = 0
    for columns in (*range(len(head) - 1, _WITH_MEDIANS, -1), _WITH_MEDIANS, 4, 3, 2):
        taken = [max(len(head[i + 1]), *(row[i].cell_len for row in cells)) + 2 for i in range(columns)]
        room = sheet.width - sum(taken)
        if room >= min(longest, _NAME_COLUMNS):
            break
    rows = [[Text(title, "dim") for title in head[: columns + 1]]]
    for verdict, row in zip(verdicts, cells, strict=True):
        rows.append([Text(sheet.name(verdict.benchmark, room)), *row[:columns]])
    sheet.grid(rows, right=frozenset({2, 4, 5, 6}))
    return head[: columns + 1]


def _throughput_rows(sheet: Sheet, verdicts: Sequence[Verdict]) -> None:
    """Print the throughput of both sides below a table that had no room for it."""
    told = {verdict.benchmark: rates for verdict in verdicts if (rates := _throughputs(verdict))}
    lines = [
        Text.assemble((sheet.head_name(name), "bold"), f": {rates}") for name, rates in list(told.items())[:_MOST_OPEN]
    ]
    if len(told) > _MOST_OPEN:
        lines.append(Text(f"and {len(told) - _MOST_OPEN} more: --markdown FILE has all of them"))
    if lines:
        sheet.row(_THROUGHPUT, *lines)


def _beside(verdicts: Sequence[Verdict]) -> dict[str, list[str]]:
    """What is said where there is room: the throughput of both sides, and how fast a change makes it."""
    return {
        _THROUGHPUT: [_throughputs(verdict) for verdict in verdicts],
        "in words": [
            (words.speed(verdict.change, verdict.metric) or "") if verdict.verdict in CHANGED else ""
            for verdict in verdicts
        ],
    }


def _throughputs(verdict: Verdict) -> str:
    """Of the first unit alone: Markdown and JSON have all of them."""
    rates = [sentences.rates(side)[:1] for side in (verdict.baseline, verdict.candidate) if side is not None]
    return " -> ".join(rate for side in rates for rate in side)


def _cells(verdict: Verdict) -> list[Text]:
    sides = (verdict.baseline, verdict.candidate)
    medians = [figures.quantity(part.median, verdict.metric) if part else "" for part in sides]
    plain = [figures.change(verdict.change), interval_of(verdict), f"{verdict.pairs:,}", *medians]
    return [word_of(verdict), *map(Text, plain)]
