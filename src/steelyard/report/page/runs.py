"""A run, measured alone, and an import, as parts of a page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.model.derived import Summary
from steelyard.model.foreign import ForeignBenchmark, ForeignResults, Level
from steelyard.model.launches import FloatArray, Launches
from steelyard.model.metrics import is_counted, of_one_process
from steelyard.model.records import Run
from steelyard.model.samples import concatenated
from steelyard.report import disturbances, figures, foreign, levels, notes, sentences
from steelyard.report.page import (
    budget,
    distributions,
    elements,
    functions,
    growth,
    measured,
    sequences,
    units,
)
from steelyard.report.page.data import Axis, Figure, Panel, Role
from steelyard.report.page.elements import Content
from steelyard.report.page.parts import HOW, MACHINE, Cell, Column, Detail, Facts, Part, Row, existing_figures, sentence

_MEDIAN_LABEL: tuple[tuple[str, Role], ...] = (("median", "baseline"),)


def of_run(record: Run, room: budget.Budget, *, running: bool) -> Part:
    """Return the part for a run."""
    summaries = record.summaries
    metrics = list(dict.fromkeys(one.metric for one in summaries))
    views = record.launches.by_benchmark(len(record.benchmarks))
    return Part(
        kind="run",
        title=record.subjects[0].name,
        headline=_headline(record, summaries),
        lines=[
            *_stopped_lines(record, summaries, running=running),
            *(f"{sentences.metric(name, record.settings)}." for name in metrics),
        ],
        caption=f"Levels, with the interval of the median {figures.at_confidence(record.settings.alpha)} while it ran",
        columns=[
            Column("benchmark", "text"),
            *([Column("metric", "text")] if len(metrics) > 1 else []),
            Column("median"),
            Column("interval of the median"),
            Column("varies by"),
            Column("launches"),
            Column("the machine was", "text"),
        ],
        rows=[
            _run_row(record, views[one.index], one, each, len(metrics))
            for one, each in zip(summaries, room.of_each([None] * len(summaries)), strict=True)
        ],
        whole=Detail(figures=_run_curves(record, summaries)),
        notes=notes.of_run(record, summaries),
        facts=[measured.facts(record), measured.machine(record.machine)],
        metric=metrics[0] if metrics else "",
    )


def _headline(record: Run, summaries: Sequence[Summary]) -> str:
    if not summaries:
        return sentences.capitalised(sentences.failed(record.stop) or sentences.NO_LAUNCH)
    if len(record.benchmarks) > 1:
        return f"{figures.count(len(record.benchmarks), 'benchmark')} measured alone"
    return f"{figures.quantity(summaries[0].median, summaries[0].metric)} median"


def _stopped_lines(record: Run, summaries: Sequence[Summary], *, running: bool) -> list[Content]:
    # Where no earlier measurements are shown, the headline itself says that it failed.
    is_in_headline = not summaries and "failed" in record.stop
    text = None if is_in_headline else sentences.cut_off(record.stop, running=running)
    return [sentence(text)] if text else []


def _run_row(record: Run, launches: Launches, summary: Summary, room: budget.Budget, metrics: int) -> Row:
    metric, benchmark = summary.metric, record.benchmarks[summary.index]
    quality = disturbances.quality(summary)
    cells = [
        Cell(elements.name(summary.benchmark), summary.benchmark),
        *([Cell(elements.breakable(metric), metric)] if metrics > 1 else []),
        Cell(figures.quantity(summary.median, metric), summary.median),
        Cell(levels.interval(summary), summary.interval[0] if summary.interval else None),
        Cell(levels.spread(summary), summary.spread),
        Cell(f"{summary.launches:,}", float(summary.launches)),
        # Counts do not depend on how quiet the machine was.
        Cell("", None) if is_counted(metric) else Cell(quality, quality),
    ]
    lines = [sentences.spread(summary), *([] if is_counted(metric) else [disturbances.noise(summary)])]
    tables = measured.heap_table(record, summary.index) if metric == record.settings.metrics[0] else []
    detail = Detail([*map(sentence, lines)], existing_figures(_run_figures(record, launches, summary, room)), tables)
    return Row(
        summary.benchmark, cells, detail, metric=metric, tags=tuple(benchmark.tags), params=dict(benchmark.params)
    )


def _run_figures(record: Run, launches: Launches, summary: Summary, room: budget.Budget) -> list[Figure | None]:
    if not room.points:
        return []
    if is_counted(summary.metric):
        return [functions.icicle(record, summary.index, summary.metric, room.functions)]
    positions = launches.judged(summary.index)
    values = of_one_process(launches.metric(summary.metric)[positions], summary.metric, record.settings.repeat)
    quantity = units.of_metric(summary.metric, values)
    role: Role = "baseline"
    return [
        sequences.launches_figure(
            launches, summary.index, values, positions, quantity, room.points, record.watch_of(summary.index)
        ),
        distributions.distribution_figure([distributions.Sample("launches", role, values)], quantity, room.points),
        distributions.four_plot("4-plot of the launches", quantity.along(values), quantity.axis, room.points, role),
        measured.inside(launches, {"launches": (role, positions)}, summary.metric, quantity, room),
    ]


def _run_curves(record: Run, summaries: Sequence[Summary]) -> list[Figure]:
    medians = [
        growth.Measured(summary.benchmark, record.benchmarks[summary.index].params, summary.metric, (summary.median,))
        for summary in summaries
    ]
    return growth.curves(medians, _MEDIAN_LABEL, units.of_metric)


# --- imports


def of_import(record: ForeignResults, levels: Sequence[Level], room: budget.Budget) -> Part:
    """Return the part for another tool's results."""
    provenance = record.provenance
    files: list[tuple[str, Content]] = [
        ("file", elements.joined([elements.name(file.name, 2), f", SHA-256 {file.sha256[:16]}…"]))
        for file in provenance.files
    ]
    described = list(zip(record.benchmarks, levels, strict=True))
    return Part(
        kind="import",
        title=provenance.files[0].name,
        headline=f"{figures.count(len(record.benchmarks), 'benchmark')} of {provenance.tool}",
        lines=[sentence(foreign.origin(record))],
        caption="Levels, as the other tool measured them",
        columns=[
            Column("benchmark", "text"),
            Column("median"),
            Column("better", "text"),
            Column("processes vary by"),
            Column("samples vary by"),
            Column("processes"),
            Column("samples"),
        ],
        rows=[
            _import_row(benchmark, level, each)
            for (benchmark, level), each in zip(described, room.of_each([None] * len(described)), strict=True)
        ],
        whole=Detail(figures=_import_curves(described)),
        notes=notes.of_findings(record.findings),
        facts=[
            Facts(
                HOW,
                [
                    *files,
                    ("imported", elements.name(figures.moment(record.created))),
                    ("Steelyard", elements.name(record.tool)),
                ],
            ),
            Facts(MACHINE, [(term, elements.name(said, 4)) for term, said in record.machine.items()]),
        ],
    )


def _import_row(benchmark: ForeignBenchmark, level: Level, room: budget.Budget) -> Row:
    cells = [
        Cell(elements.name(benchmark.name), benchmark.name),
        Cell(foreign.value_text(level.median, benchmark.unit), level.median),
        Cell(better := foreign.better_word(benchmark.higher_is_better), better),
        Cell("" if level.between is None else figures.percent(level.between), level.between),
        Cell("" if level.within is None else figures.percent(level.within), level.within),
        Cell(f"{level.processes:,}", float(level.processes)),
        Cell(f"{level.samples:,}", float(level.samples)),
    ]
    lines: list[Content] = [sentence(foreign.effort(level))]
    detail = Detail(lines, existing_figures(_import_figures(benchmark, room)))
    return Row(benchmark.name, cells, detail, params=dict(benchmark.params))


def _import_figures(benchmark: ForeignBenchmark, room: budget.Budget) -> list[Figure | None]:
    if not room.points:
        return []
    values = np.frombuffer(concatenated(benchmark.values), dtype=np.float64)
    quantity = units.of_foreign(benchmark.unit, values)
    return [
        _sequence_figure(values, quantity, len(benchmark.values), room.points),
        distributions.distribution_figure(
            [distributions.Sample("samples", "baseline", values)], quantity, room.points, "samples"
        ),
        distributions.four_plot(
            "4-plot of the samples", quantity.along(values), quantity.axis, room.points, "baseline"
        ),
    ]


def _sequence_figure(values: FloatArray, quantity: units.Quantity, processes: int, most: int) -> Figure:
    series = distributions.Sample("sample", "baseline", values).in_order(quantity, most)
    counts = f"{figures.count(len(values), 'sample')} of {figures.count(processes, 'process')}"
    text = f"{counts}, {'one behind the other, ' if len(values) > 1 else ''}{quantity.span(values)}."
    panel = Panel("Samples", Axis("number of the sample", whole=True), quantity.axis, [series])
    return Figure(
        "Every sample in its order", text, [panel], distributions.thinning_note(len(series.x), len(values), "samples")
    )


def _import_curves(described: Sequence[tuple[ForeignBenchmark, Level]]) -> list[Figure]:
    medians = [
        growth.Measured(benchmark.name, benchmark.params, benchmark.unit, (level.median,))
        for benchmark, level in described
    ]
    return growth.curves(medians, _MEDIAN_LABEL, units.of_foreign)
