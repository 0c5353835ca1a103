"""Two runs or two imports that were measured apart, as parts of a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np

from steelyard.model.foreign import ForeignReport, ForeignVerdict
from steelyard.model.launches import FloatArray
from steelyard.model.metrics import is_counted, of_one_process
from steelyard.model.records import Run
from steelyard.model.samples import concatenated
from steelyard.model.unpaired import UnpairedReport, UnpairedVerdict
from steelyard.report import figures, foreign, notes, sentences, unpaired
from steelyard.report.page import budget, distributions, elements, judged, measured, units
from steelyard.report.page.data import Axis, Figure, Panel, Role
from steelyard.report.page.parts import HOW, MACHINE, Cell, Column, Detail, Facts, Part, Row, existing_figures, sentence

_Verdict = TypeVar("_Verdict", UnpairedVerdict, ForeignVerdict)
_SIDES: tuple[tuple[str, Role], ...] = (("A", "baseline"), ("B", "candidate"))


def of_runs(report: UnpairedReport, room: budget.Budget, key: str) -> Part:
    """Return the part for two runs, and what they say of a change."""
    scales = judged.scales_of(report.verdicts, report.margin, key)
    metrics = list(dict.fromkeys(verdict.metric for verdict in report.verdicts))
    runs = (report.baseline, report.candidate)
    return Part(
        kind="diff",
        title=f"B {runs[1].subjects[0].name} against A {runs[0].subjects[0].name}",
        headline=judged.headline(report.deciding()),
        has_verdicts=True,
        lines=[
            sentence(unpaired.WARNING),
            *map(sentence, unpaired.mean_sentences(report)),
            *(f"{sentences.metric(one, runs[0].settings)}." for one in metrics),
        ],
        caption=f"Verdicts {figures.at_confidence(report.alpha)}, {_margin_text(report)}; the bars are "
        f"{scales.legend()}",
        columns=_columns("launches", scales, several=len(metrics) > 1),
        rows=[
            _row_of_runs(report, verdict, scales, each, several=len(metrics) > 1)
            for verdict, each in _with_budgets(report.verdicts, room)
        ],
        notes=notes.of_unpaired(report),
        facts=_facts_of_runs(*runs),
        metric=metrics[0],
        defs=scales.symbols(),
    )


def _margin_text(report: UnpairedReport | ForeignReport) -> str:
    return f"judged by a margin of {figures.threshold(report.margin)}"


def _with_budgets(verdicts: Sequence[_Verdict], room: budget.Budget) -> Iterable[tuple[_Verdict, budget.Budget]]:
    return zip(verdicts, room.of_each([one.change for one in verdicts]), strict=True)


def _facts_of_runs(baseline: Run, candidate: Run) -> list[Facts]:
    facts = [
        measured.facts(run, f"{HOW}: {label}") for (label, _), run in zip(_SIDES, (baseline, candidate), strict=True)
    ]
    if baseline.machine == candidate.machine:
        return [*facts, measured.machine(baseline.machine)]
    machines = zip(_SIDES, (baseline.machine, candidate.machine), strict=True)
    return [*facts, *(measured.machine(one, f"{MACHINE} of {label}") for (label, _), one in machines)]


def _columns(effort: str, scales: judged.Scales, *, several: bool) -> list[Column]:
    return [*judged.columns(scales, several_metrics=several), Column("A"), Column("B"), Column(effort)]


def _row_of_runs(
    report: UnpairedReport, verdict: UnpairedVerdict, scales: judged.Scales, room: budget.Budget, *, several: bool
) -> Row:
    sides = (verdict.baseline, verdict.candidate)
    launches = [side.launches for side in sides]
    cells = [
        *judged.cells(verdict, scales, verdict.metric if several else None),
        *(Cell(figures.quantity(side.median, verdict.metric), side.median) for side in sides),
        Cell(" and ".join(f"{launches_of_side:,}" for launches_of_side in launches), float(min(launches))),
    ]
    lines = [unpaired.evidence(verdict, report.alpha), *unpaired.explanation(verdict, report.margin)]
    if verdict.block_spreads is not None:
        lines.append(f"drift: {unpaired.drift_sentence(verdict.block_spreads, verdict.assumed)}")
    if smallest := sentences.resolution(verdict):
        lines.append(smallest)
    figures_shown = existing_figures(_figures_of_runs(report, verdict, room))
    detail = Detail([judged.coloured_verdict(verdict.verdict), *map(sentence, lines)], figures_shown)
    return Row(verdict.benchmark, cells, detail, verdict=verdict.verdict, metric=verdict.metric)


def _figures_of_runs(report: UnpairedReport, verdict: UnpairedVerdict, room: budget.Budget) -> list[Figure | None]:
    if is_counted(verdict.metric) or not room.points:
        return []
    values = [_values(run, verdict) for run in (report.baseline, report.candidate)]
    if not all(len(one) for one in values):
        return []
    return _figures_of_sides(values, units.of_metric(verdict.metric, *values), "launch", room)


def _values(run: Run, verdict: UnpairedVerdict) -> FloatArray:
    names = [benchmark.name for benchmark in run.benchmarks]
    position = names.index(verdict.benchmark) if verdict.benchmark in names else 0
    launches = run.launches.by_benchmark(len(names))[position]
    values = launches.metric(verdict.metric)[launches.judged(position)]
    return of_one_process(values[np.isfinite(values)], verdict.metric, run.settings.repeat)


def _figures_of_sides(
    values: Sequence[FloatArray], quantity: units.Quantity, noun: str, room: budget.Budget
) -> list[Figure | None]:
    samples = [distributions.Sample(label, role, one) for (label, role), one in zip(_SIDES, values, strict=True)]
    return [
        _sequence_figure(samples, quantity, noun, room.points),
        distributions.distribution_figure(samples, quantity, room.points, figures.plural_of(noun)),
    ]


def _sequence_figure(samples: Sequence[distributions.Sample], quantity: units.Quantity, noun: str, most: int) -> Figure:
    series = [side.in_order(quantity, most) for side in samples]
    texts = [f"{side.label}: {len(side.values):,} {quantity.span(side.values)}" for side in samples]
    panel = Panel("A and B, measured apart", Axis(f"number of the {noun}", whole=True), quantity.axis, series)
    thinned = distributions.thinning_note(sum(len(one.x) for one in series), sum(len(one.values) for one in samples))
    return Figure(f"Every {noun} in its order", f"{'; '.join(texts)}.", [panel], thinned)


# --- imports


def of_imports(report: ForeignReport, room: budget.Budget, key: str) -> Part:
    """Return the part for two imports, and what they say of a change."""
    scales = judged.scales_of(report.verdicts, report.margin, key)
    records = (report.baseline, report.candidate)
    values = [{one.name: one.values for one in record.benchmarks} for record in records]
    names = [record.provenance.files[0].name for record in records]
    directions = sorted({one.higher_is_better for one in report.verdicts})
    value = f"the value, of which {foreign.direction(directions[0])}" if len(directions) == 1 else "the value"
    return Part(
        kind="diff of imports",
        title=f"B {names[1]} against A {names[0]}",
        headline=judged.headline(report.verdicts),
        has_verdicts=True,
        lines=[
            sentence(foreign.UNPAIRED_WARNING),
            *(f"{label}: {foreign.source(record)}." for (label, _), record in zip(_SIDES, records, strict=True)),
            *map(sentence, foreign.mean_sentences(report)),
        ],
        caption=f"Changes of {value}, {_margin_text(report)}; the bars are {scales.legend()}",
        columns=[
            *_columns("processes", scales, several=False),
            *([Column("better", "text")] if len(directions) > 1 else []),  # the table has no width to spare
        ],
        rows=[
            _row_of_imports(
                report, one, [side.get(one.benchmark) for side in values], scales, each, differing=len(directions) > 1
            )
            for one, each in _with_budgets(report.verdicts, room)
        ],
        notes=notes.of_two_foreign(report),
        facts=[
            Facts(f"{MACHINE} of {label}", [(term, elements.name(value, 4)) for term, value in record.machine.items()])
            for (label, _), record in zip(_SIDES, records, strict=True)
        ],
        defs=scales.symbols(),
    )


def _row_of_imports(
    report: ForeignReport,
    verdict: ForeignVerdict,
    values: Sequence[Sequence[object] | None],
    scales: judged.Scales,
    room: budget.Budget,
    *,
    differing: bool,
) -> Row:
    levels = (verdict.baseline, verdict.candidate)
    processes = [level.processes for level in levels]
    cells = [
        *judged.cells(verdict, scales, None),
        *(Cell(foreign.value_text(level.median, verdict.unit), level.median) for level in levels),
        Cell(" and ".join(f"{one:,}" for one in processes), float(min(processes))),
        *([Cell(better := foreign.better_word(verdict.higher_is_better), better)] if differing else []),
    ]
    lines = [
        foreign.evidence(verdict, report.alpha),
        *foreign.explanation(verdict, report.margin),
        f"drift: {foreign.drift(verdict)}",
    ]
    figures_made: list[Figure | None] = []
    known_values = [one for one in values if one is not None]
    if len(known_values) == len(_SIDES) and room.points:
        arrays = [np.frombuffer(concatenated(one), dtype=np.float64) for one in known_values]
        figures_made = _figures_of_sides(arrays, units.of_foreign(verdict.unit, *arrays), "sample", room)
    detail = Detail([judged.coloured_verdict(verdict.verdict), *map(sentence, lines)], existing_figures(figures_made))
    return Row(verdict.benchmark, cells, detail, verdict=verdict.verdict)
