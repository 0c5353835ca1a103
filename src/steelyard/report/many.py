"""Several benchmarks on a terminal: a table, and what would decide the undecided ones."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from steelyard.model.derived import Verdict, deciding_of
from steelyard.model.metrics import is_counted
from steelyard.model.records import Weighing
from steelyard.report import budgets, counting, disturbances, figures, notes, ranking, sentences, suite_mean, words
from steelyard.report.bounds import most_changed, show_left_out
from steelyard.report.sheet import Sheet
from steelyard.report.verdicts import STYLES, print_margins, verdict_text

_NAME_COLUMNS = 24
_MOST_LISTED = 10
# Columns of the table after the name: with the medians, and without them.
_WITH_MEDIANS, _WITHOUT_MEDIANS = 6, 4
# More rows than this are read as a list: each on one line, if need be without the medians.
_FEW_ROWS = 12
_NAME_TITLE = "benchmark"
_THROUGHPUT = "throughput"


def show(sheet: Sheet, record: Weighing, verdicts: list[Verdict], told: notes.Told) -> None:
    """Print a table for each metric, and below it what concerns several benchmarks; `told` as for a weighing."""
    notes_at_verdict, notes_below = notes.split_by_place(told.anew(notes.of_weighing(record, verdicts)))
    means = suite_mean.of_weighing(record)
    for metric in dict.fromkeys(verdict.metric for verdict in verdicts):
        chosen = [verdict for verdict in verdicts if verdict.metric == metric]
        sheet.blank()
        sheet.row("metric", sentences.metric(metric, record.settings))
        shown = most_changed(chosen)
        titles = _print_table(sheet, shown, figures.confidence(record.settings.alpha))
        if _THROUGHPUT not in titles:
            _print_throughputs(sheet, shown)
        show_left_out(sheet, len(chosen) - len(shown), ", which changed less")
        weighed = [verdict for verdict in chosen if not verdict.control]
        counts_s = counting.counting_s(record) if is_counted(metric) else None
        taken = figures.seconds(record.seconds if counts_s is None else counts_s)
        tally = f"{sentences.tally_in(record, weighed)} in {taken}{' of counts, added up' if counts_s else ''}"
        if any(verdict.baseline is not None for verdict in chosen):  # not if none of them was measured
            are_shown = "baseline" in titles
            tally += "; baseline and candidate are medians" if are_shown else "; --markdown FILE has the medians"
        sheet.row("in all", tally, *([means[metric]] if metric in means else []))
    notes.show(sheet, notes_at_verdict)
    print_margins(sheet, record)
    deciding = deciding_of(verdicts)
    ranking.show(sheet, record, deciding)
    _print_undecided(sheet, record, deciding)
    if notes_below or any(verdict.disturbed for verdict in deciding):
        sheet.blank()
    if noise := disturbances.of_several(deciding, lambda worst: sheet.name(worst.benchmark, _NAME_COLUMNS)):
        sheet.row("noise", noise)
    notes.show(sheet, notes_below)


def _print_undecided(sheet: Sheet, record: Weighing, verdicts: list[Verdict]) -> None:
    """Print what is known about the undecided benchmarks all the same, and what would decide them."""
    undecided = [verdict for verdict in verdicts if verdict.verdict == "undecided"]
    if not undecided:
        return
    lines = []
    names = sheet.names([verdict.benchmark for verdict in undecided], sheet.text_width - 1)
    for verdict, name in list(zip(undecided, names, strict=True))[:_MOST_LISTED]:
        excluded = sentences.what_is_ruled_out(verdict, record.settings) or "nothing is known"
        lines.append(Text.assemble((name, "bold"), f": {excluded}"))
    if len(undecided) > _MOST_LISTED:
        lines.append(Text(_more(len(undecided))))
    sheet.blank()
    sheet.row("undecided", *lines, *budgets.budget_of_all(undecided, record), style=STYLES["undecided"])


def _more(number: int) -> str:
    # Not in the table: it says less of each, and leaves most of very many out.
    return f"and {number - _MOST_LISTED:,} more: --markdown FILE has all of them"


def _print_table(sheet: Sheet, verdicts: Sequence[Verdict], confidence: str) -> list[str]:
    """Print a row per benchmark, below its name if both do not fit on one line; leave out the least needed columns.

    Returns the titles shown. The medians are among them unless, with many rows, they would take two lines.
    """
    pairs = sentences.title_of_pairs(verdict.metric for verdict in verdicts)
    titles = ["verdict", "change", f"interval at {confidence}", pairs, "baseline", "candidate"]
    optional = {column_title: column for column_title, column in _optional_columns(verdicts).items() if any(column)}
    titles += optional
    cells = [
        [*_cells(verdict), *(Text(column[place]) for column in optional.values())]
        for place, verdict in enumerate(verdicts)
    ]
    column_widths = [
        max(map(cell_len, (column_title, *column))) + 2
        for column_title, *column in zip(titles, *([cell.plain for cell in row] for row in cells), strict=True)
    ]
    names = sheet.names([verdict.benchmark for verdict in verdicts], sheet.width)
    longest = max(map(cell_len, (_NAME_TITLE, *names)))
    widths = [*range(len(titles), _WITH_MEDIANS - 1, -1), *([_WITHOUT_MEDIANS] if len(verdicts) > _FEW_ROWS else [])]
    for fewest in (min(longest, _NAME_COLUMNS), 0):
        for columns in widths:
            room = sheet.width - sum(column_widths[:columns])
            if room >= fewest and not sheet.narrow:
                _print_grid(sheet, titles[:columns], [row[:columns] for row in cells], names, room if fewest else 0)
                return titles[:columns]
    for verdict, name, row in zip(verdicts, names, cells, strict=True):
        _print_in_list(sheet, name, verdict, row)
    return titles[:_WITH_MEDIANS]


def _print_grid(sheet: Sheet, title_texts: list[str], cells: list[list[Text]], names: list[str], room: int) -> None:
    """Print rows beside their names, for which there are `room` columns, or below them if that is 0."""
    right = frozenset({2, 4, 5, 6})
    first = [sheet.name(_NAME_TITLE, room), *sheet.names(names, room)] if room else [""] * (len(names) + 1)
    titles = [Text(title, "dim") for title in title_texts]
    rows = [[Text(name), *row] for name, row in zip(first, [titles, *cells], strict=True)]
    rows[0][0].stylize("dim")
    sheet.grid(rows, right, above=() if room else ["", *names])


def _print_in_list(sheet: Sheet, name: str, verdict: Verdict, cells: Sequence[Text]) -> None:
    """Print one benchmark where there is no room for columns."""
    _, change, interval, _, *medians = (cell.plain for cell in cells)
    change_text = " ".join(filter(None, (change, interval)))
    line = Text.assemble(verdict_text(verdict), f" {change_text}, {sentences.pairs_text(verdict)}")
    sheet.row(name, line, *([" -> ".join(medians[:2])] if all(medians[:2]) else []), style="")


def _print_throughputs(sheet: Sheet, verdicts: Sequence[Verdict]) -> None:
    """Print the throughput of both sides below a table that had no room for it."""
    rates_by_name = {verdict.benchmark: rates for verdict in verdicts if (rates := _throughput_text(verdict))}
    lines = [
        Text.assemble((sheet.head_name(name), "bold"), f": {rates}")
        for name, rates in list(rates_by_name.items())[:_MOST_LISTED]
    ]
    if len(rates_by_name) > _MOST_LISTED:
        lines.append(Text(_more(len(rates_by_name))))
    if lines:
        sheet.row(_THROUGHPUT, *lines)


def _optional_columns(verdicts: Sequence[Verdict]) -> dict[str, list[str]]:
    """Return the columns shown only if there is room: both sides' throughput, and a change in words."""
    return {
        _THROUGHPUT: [_throughput_text(verdict) for verdict in verdicts],
        "in words": [words.speed_of(verdict) or "" for verdict in verdicts],
    }


def _throughput_text(verdict: Verdict) -> str:
    """Write both sides' throughput in the first unit alone; Markdown and JSON have all units."""
    rates = [sentences.rates(side)[:1] for side in (verdict.baseline, verdict.candidate) if side is not None]
    return " -> ".join(rate for side in rates for rate in side)


def _cells(verdict: Verdict) -> list[Text]:
    sides = (verdict.baseline, verdict.candidate)
    medians = [figures.quantity(part.median, verdict.metric) if part else "" for part in sides]
    plain = [
        figures.change(verdict.change),
        figures.interval(verdict.interval, unknown=""),
        f"{verdict.pairs:,}",
        *medians,
    ]
    return [verdict_text(verdict), *map(Text, plain)]
