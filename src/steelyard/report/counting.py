"""Counts on a terminal: what was counted and how, the functions, and where a change comes from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from rich.text import Text

from steelyard.model.counting import INSTRUCTIONS, CountSettings, Functions, Weights
from steelyard.model.derived import Summary, Verdict
from steelyard.model.metrics import is_counted
from steelyard.model.records import Run, Weighing
from steelyard.report import attribution, disturbances, figures
from steelyard.report.bounds import most_changed
from steelyard.report.markup import code, table
from steelyard.report.sheet import Sheet
from steelyard.stats import cost
from steelyard.stats.attribution import Function, attribute, first_rows, summed

_STABILITY_WORDS = {
    "exact": "equal counts",
    "stable": "counts within 1e-5 of each other",
    "noisy": "counts that differ",
}
# Cache sizes are mostly whole numbers; this finds needless zeros after the point.
_ZERO_DECIMALS = re.compile(r"\.0+ ")
# Keeps the tables within the 65,536 characters of a comment on GitHub.
_MOST_TABLES = 12


def show_method(sheet: Sheet, record: Weighing | Run) -> None:
    """Print which tool counted, what it simulated and what a hit costs."""
    if record.counting is None:
        return
    settings = record.settings.counting or CountSettings()
    tool = record.counting.tool
    text = f"{tool.tool} {tool.version}"
    if settings.cache_simulation:
        text += f", {_caches_text(settings)}; cost is l1 x {settings.weights.l1:g} + ll x {settings.weights.ll:g}"
        text += f" + ram x {settings.weights.ram:g} ({settings.weights.name} weights: a convention, not a time)"
    sheet.row("counted by", text)
    if settings.loops is not None:
        loops_alone = f"{figures.count(settings.loops, 'loop')} alone"
        sheet.row("loops", f"{loops_alone}: the counts of {2 * settings.loops:,} minus those of {settings.loops:,}")
    if settings.body:
        sheet.row("body", "only what lies between the target's own start and stop requests")


def _caches_text(settings: CountSettings) -> str:
    caches = settings.caches
    sizes = (_ZERO_DECIMALS.sub(" ", figures.size(shape[0])) for shape in (caches.i1, caches.d1, caches.ll))
    return f"caches {caches.name} (I1, D1, last level {', '.join(sizes)})"


def stability_text(verdict: Verdict) -> str:
    """Say how equal the counts of one program are."""
    if verdict.stability is None:
        return "not known"
    text = f"{verdict.stability}: {_STABILITY_WORDS[verdict.stability]}"
    if verdict.floor:
        text += f"; the same program differs by {figures.extent(verdict.floor)}"
    if verdict.pairs_needed:
        text += f", and {verdict.pairs_needed} counts a side are needed to decide"
    return text


def noise(verdict: Verdict) -> str | None:
    """Say what disturbed a verdict's launches, or how equal its counts are; None if nothing was measured in pairs."""
    if verdict.baseline is None or not verdict.pairs:
        return None
    return stability_text(verdict) if is_counted(verdict.metric) else disturbances.noise(verdict)


def counting_s(record: Weighing | Run) -> float | None:
    """Return how long the counts beside launches took, in s, which the record's time leaves out; None without both.

    It is their sum: several may have run at once.
    """
    if record.counting is None or not len(record.launches):
        return None
    return sum(one.seconds for one in record.counting.counts)


def changed_verdicts(verdicts: list[Verdict]) -> list[Verdict]:
    """Return the verdicts of the benchmarks that changed, in the first counted metric."""
    counted = [verdict for verdict in verdicts if verdict.stability is not None]
    return [verdict for verdict in counted if verdict.metric == counted[0].metric and verdict.change]


def show_sources(sheet: Sheet, record: Weighing, verdict: Verdict, most: int) -> None:
    """Print which functions a benchmark's change comes from."""
    if (source := source_of(record, verdict, most)) is not None:
        sheet.blank()
        sheet.row("functions", f"where the change comes from, in {source.unit}")
        attribution.show(sheet, source)


def markdown(record: Weighing, verdicts: list[Verdict], most: int) -> list[str]:
    """Return where the change of each changed benchmark comes from, as lines of Markdown; empty without counts."""
    all_changed = changed_verdicts(verdicts)
    lines = []
    for verdict in most_changed(all_changed, _MOST_TABLES):
        if (source := source_of(record, verdict, most)) is not None:
            lines += [f"Where the change of {code(verdict.benchmark)} comes from, in {source.unit}:", ""]
            lines += [*attribution.markdown_rows(source), ""]
    left_out = len(all_changed) - _MOST_TABLES
    if left_out > 0 and most:
        others = f"{figures.count(left_out, 'more benchmark')} changed, and by less"
        lines += [f"{others}: the page of `steelyard report` has their functions.", ""]
    return lines


def source_of(record: Weighing, verdict: Verdict, most: int) -> attribution.Source | None:
    """Return up to `most` functions that a benchmark's change comes from; None if none are known."""
    counts = own_counts(record, verdict.index, verdict.metric) if most > 0 else None
    if counts is None:
        return None
    baseline, candidate = counts.sides
    rows, rest = first_rows(attribute(baseline, candidate), most)
    total = sum(part.own for part in baseline)
    change = sum(part.own for part in candidate) - total
    return attribution.Source(rows, rest, change, total, counts.unit_in_words) if rows else None


def show_largest(sheet: Sheet, record: Run, summary: Summary, most: int) -> None:
    """Print the functions with the largest counts, and the benchmark's name if there are several."""
    counts = own_counts(record, summary.index, summary.metric) if most > 0 else None
    if counts is None:
        return
    sheet.blank()
    has_several = len(record.benchmarks) > 1
    if has_several or counts.iterations:
        name = sheet.name(summary.benchmark, sheet.text_width)
        unit = f"in {counts.unit_in_words}"
        sheet.row("functions", Text.assemble((name, "bold"), f", {unit}") if has_several else unit)
    rows = []
    for count, share, function in _largest_cells(counts, most):
        if sheet.narrow:
            sheet.row(sheet.name(function, sheet.width), f"{count} {share}", style="")
        else:
            name = sheet.name(function, max(8, sheet.text_width - 28))
            rows.append([Text(count), Text(share), Text(name)])
    sheet.grid(rows, right=frozenset({0, 1}))


def markdown_largest(record: Run, summaries: list[Summary], most: int) -> list[str]:
    """Return the functions with the largest counts of each benchmark, as lines of Markdown; empty without counts."""
    chosen = first_counted(summaries) if most > 0 else []
    found = ((summary.benchmark, own_counts(record, summary.index, summary.metric)) for summary in chosen)
    known = [(benchmark, counts) for benchmark, counts in found if counts is not None]
    lines = []
    for benchmark, counts in known[:_MOST_TABLES]:
        rows = [[count, share, code(function)] for count, share, function in _largest_cells(counts, most)]
        lines += [f"Functions of {code(benchmark)}, in {counts.unit_in_words}:", ""]
        lines += [*table(["own count", "of all", "function"], rows), ""]
    if (left_out := len(known) - _MOST_TABLES) > 0:
        others = figures.count(left_out, "more benchmark")
        lines += [f"The page of `steelyard report` has the functions of {others}.", ""]
    return lines


def first_counted(summaries: list[Summary]) -> list[Summary]:
    """Return the summaries in the first counted metric, one of each benchmark."""
    counted = [summary for summary in summaries if is_counted(summary.metric)]
    return [summary for summary in counted if summary.metric == counted[0].metric]


def _largest_cells(counts: OwnCounts, most: int) -> list[tuple[str, str, str]]:
    """Return the functions with the largest counts: each one's count, its share of all, and its name."""
    own = summed(counts.sides[0])
    total = sum(part.own for part in own) or 1
    largest = sorted(own, key=lambda function: -function.own)[:most]
    return [(f"{part.own:,}", figures.percent(part.own / total), part.name) for part in largest]


@dataclass(frozen=True)
class OwnCounts:
    """What the functions of each side of a benchmark counted themselves; a run has one side."""

    sides: list[list[Function]]
    unit: Literal["cost", "instructions"]
    iterations: str | None
    """How many iterations the counts cover; None for a command, whose counts cover a launch."""

    @property
    def unit_in_words(self) -> str:
        """The unit, and how many iterations the counts cover if that is not one launch."""
        return f"{self.unit}, {self.iterations} together" if self.iterations else self.unit


def own_counts(record: Weighing | Run, benchmark: int, metric: str) -> OwnCounts | None:
    """Return the functions of a benchmark with what each counted itself; None unless those of each side are known.

    They are shown by cost only if each side has its events, and the weights are whole, so that costs add up exactly.
    """
    by_place = record.counting.functions_by_place if record.counting else {}
    sides = [by_place.get((benchmark, side)) for side in range(len(record.subjects[:2]))]
    known_sides = [side for side in sides if side is not None]
    if len(known_sides) < len(sides):
        return None
    weights = (record.settings.counting or CountSettings()).weights
    are_weights_whole = all(weight % 1 == 0 for weight in (weights.l1, weights.ll, weights.ram))
    has_events = all(set(cost.EVENTS) <= side.events.keys() for side in known_sides)
    is_cost = metric == "cost" and are_weights_whole and has_events
    loops = record.benchmarks[benchmark].loops
    return OwnCounts(
        [_own_counts(side, weights if is_cost else None) for side in known_sides],
        "cost" if is_cost else "instructions",
        figures.count(loops, "iteration") if loops else None,
    )


def _own_counts(functions: Functions, weights: Weights | None) -> list[Function]:
    """Return a side's functions with what each of them counted itself: instructions, or with `weights` their cost."""
    own = functions.events[INSTRUCTIONS] if functions.name else []
    if weights is not None:
        events = [
            dict(zip(functions.events, counts, strict=True)) for counts in zip(*functions.events.values(), strict=True)
        ]
        own = [round(cost.cost(each, weights.l1, weights.ll, weights.ram)) for each in events]
    inclusive = functions.inclusive if functions.inclusive and weights is None else [None] * len(functions.name)
    columns = zip(functions.name, functions.file, functions.object, functions.line, own, inclusive, strict=True)
    return [Function(*row) for row in columns]
