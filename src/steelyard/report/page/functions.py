"""The counted functions: an icicle chart of them, and where a change comes from."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from steelyard.model.derived import Verdict
from steelyard.model.grouping import grouped
from steelyard.model.records import Run, Weighing
from steelyard.report import attribution, counting, figures
from steelyard.report.page import elements, svg
from steelyard.report.page.data import Figure
from steelyard.report.page.elements import Markup
from steelyard.stats.attribution import Function, attribute, summed

_LEVELS = 3
_NO_FILE = "no source file known"


def icicle(record: Weighing | Run, benchmark: int, metric: str, most: int) -> Figure | None:
    """Return a chart of all counts of the candidate, or of a run, by file and function; None without functions."""
    counts = counting.own_counts(record, benchmark, metric)
    if counts is None:
        return None
    functions = summed(counts.sides[-1])
    total = sum(function.own for function in functions)
    if total <= 0:
        return None
    has_baseline, unit = len(counts.sides) == 2, counts.unit
    changes = {(row.name, row.object): row.change for row in attribute(*counts.sides)} if has_baseline else {}
    # A function may have counted less with twice the loops; it has no width.
    ordered = sorted((function for function in functions if function.own > 0), key=lambda one: -one.own)

    def told(size: int) -> str:
        return f"{size:,} {unit}, {figures.percent(size / total)}"

    shares = _by_file(ordered[:most], ordered[most:], changes, told)
    largest_function = ordered[0]
    covered = f", of {counts.iterations} together" if counts.iterations else ""
    text = f"{total:,} {unit} in all{covered}. "
    text += f"The largest share is that of {largest_function.name}: {figures.percent(largest_function.own / total)}."
    if has_baseline:
        text += " Widths are the candidate's counts; + marks functions that count more than in the baseline, - less."
    all_functions = svg.Share("all", sum(share.size for share in shares), f"{total:,} {unit}", parts=shares)
    return Figure("Where the counts are: file, then function", text, drawn=svg.icicle([all_functions], text, _LEVELS))


def _by_file(
    largest: Sequence[Function],
    others: Sequence[Function],
    changes: dict[tuple[str, str], int],
    told: Callable[[int], str],
) -> list[svg.Share]:
    shares = []
    for file, members in grouped(largest, _file).items():
        parts = [_share(one, changes.get((one.name, one.object), 0), told(one.own)) for one in members]
        size = sum(function.own for function in members)
        shares.append(svg.Share(file, size, told(size), parts=parts))
    if others_count := sum(function.own for function in others):
        label = figures.count(len(others), "other function")
        shares.append(svg.Share(label, others_count, told(others_count)))
    return sorted(shares, key=lambda share: -share.size)


def _share(function: Function, change: int, text: str) -> svg.Share:
    if not change:
        return svg.Share(function.name, function.own, text)
    sign, css_class = ("+ ", "more") if change > 0 else ("- ", "less")
    return svg.Share(sign + function.name, function.own, f"{text}, {change:+,}", css_class)


def _file(function: Function) -> str:
    return attribution.file_name(function.file) or function.object.rpartition("/")[2] or _NO_FILE


def changes(record: Weighing, verdict: Verdict, most: int) -> list[Markup]:
    """Return a table of where a change comes from; empty if nothing changed or functions were not counted."""
    if (source := counting.source_of(record, verdict, most)) is None:
        return []
    body = [[elements.name(name, 2), *numbers] for name, *numbers in attribution.cells(source)]
    titles = ["function", "own change", "of all"]
    return [elements.table(f"Where the change comes from, in {source.unit}", titles, body, numbers=frozenset({1, 2}))]
