"""Counts on a terminal: what was counted and how, the functions, and where a change comes from."""

from __future__ import annotations

from rich.text import Text

from steelyard.model.counting import INSTRUCTIONS, Counting, CountSettings, Functions
from steelyard.model.records import Run, Summary, Verdict, Weighing
from steelyard.report import attribution, words
from steelyard.report.sheet import Sheet
from steelyard.stats import cost
from steelyard.stats.attribution import Function, attribute, shown

_EQUAL = {
    "exact": "equal counts",
    "stable": "counts within 1e-5 of each other",
    "noisy": "counts that differ",
}


def how(sheet: Sheet, record: Weighing | Run) -> None:
    """Print what counted: the tool, what is simulated, what a hit costs."""
    if record.counting is None:
        return
    settings = record.settings.counting or CountSettings()
    tool = record.counting.tool
    text = f"{tool.tool} {tool.version}"
    if settings.cache_simulation:
        text += f", {_caches(settings)}; cost is l1 x {settings.weights.l1:g} + ll x {settings.weights.ll:g}"
        text += f" + ram x {settings.weights.ram:g} ({settings.weights.name} weights: a convention, not a time)"
    sheet.row("counted by", text)
    if settings.loops is not None:
        sheet.row("loops", f"{settings.loops:,} loops alone: the counts of twice as many less those of so many")
    if settings.body:
        sheet.row("body", "only what lies between the target's own start and stop requests")


def _caches(settings: CountSettings) -> str:
    caches = settings.caches
    sizes = (words.size(shape[0]) for shape in (caches.i1, caches.d1, caches.ll))
    return f"caches {caches.name} (I1, D1, last level {', '.join(sizes)})"


def equality(verdict: Verdict) -> str:
    """Say how equal the counts of one program are."""
    if verdict.stability is None:
        return "not known"
    text = f"{verdict.stability}: {_EQUAL[verdict.stability]}"
    if verdict.floor:
        text += f"; the same program differs by {words.extent(verdict.floor)}"
    if verdict.pairs_needed:
        text += f", and {verdict.pairs_needed} counts a side are needed to decide"
    return text


def changes(sheet: Sheet, record: Weighing, verdict: Verdict, most: int) -> None:
    """Print which functions a benchmark's change comes from."""
    sides = [_functions(record.counting, verdict.index, place) for place in (0, 1)]
    if sides[0] is None or sides[1] is None or most < 1:
        return
    baseline, candidate = (_own(part, record, verdict.metric) for part in (sides[0], sides[1]))
    rows, rest = shown(attribute(baseline, candidate), most)
    total = sum(part.own for part in baseline)
    if rows:
        sheet.blank()
        unit = "cost" if _by_cost(record, verdict.metric) else "instructions"
        sheet.row("functions", f"where the change comes from, in {unit}")
        change = sum(part.own for part in candidate) - total
        attribution.show(sheet, rows, rest, change, total)


def largest(sheet: Sheet, record: Run, summary: Summary, most: int) -> None:
    """Print the functions that most of a run's counts belong to."""
    functions = _functions(record.counting, summary.index, 0)
    if functions is None or most < 1:
        return
    own = _own(functions, record, summary.metric)
    total = sum(part.own for part in own) or 1
    sheet.blank()
    rows = []
    for part in sorted(own, key=lambda function: -function.own)[:most]:
        name = sheet.name(part.name, max(8, sheet.text_width - 28))
        rows.append([Text(f"{part.own:,}"), Text(words.percent(part.own / total)), Text(name)])
    sheet.grid(rows, right=frozenset({0, 1}))


def _functions(counting: Counting | None, benchmark: int, place: int) -> Functions | None:
    parts = counting.functions if counting else []
    return next((part for part in parts if (part.benchmark, part.side) == (benchmark, place)), None)


def _by_cost(record: Weighing | Run, metric: str) -> bool:
    """Whether functions are shown by cost: only whole weights add up exactly."""
    settings = record.settings.counting or CountSettings()
    weights = settings.weights
    return metric == "cost" and all(weight % 1 == 0 for weight in (weights.l1, weights.ll, weights.ram))


def _own(part: Functions, record: Weighing | Run, metric: str) -> list[Function]:
    by_cost = _by_cost(record, metric)
    weights = (record.settings.counting or CountSettings()).weights
    own = part.events[INSTRUCTIONS] if part.name else []
    if by_cost:
        events = [dict(zip(part.events, counts, strict=True)) for counts in zip(*part.events.values(), strict=True)]
        own = [round(cost.cost(each, weights.l1, weights.ll, weights.ram)) for each in events]
    inclusive = part.inclusive if part.inclusive and not by_cost else [None] * len(part.name)
    columns = zip(part.name, part.file, part.object, part.line, own, inclusive, strict=True)
    return [Function(*row) for row in columns]
