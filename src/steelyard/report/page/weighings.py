"""A weighing as a part of a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite

from steelyard.model.derived import Verdict, deciding_of
from steelyard.model.looks import LookBack
from steelyard.model.metrics import is_counted, of_one_process
from steelyard.model.records import Weighing
from steelyard.model.rows import USED
from steelyard.report import budgets, counting, figures, layouts, notes, ranking, sentences, suite_mean
from steelyard.report.page import (
    budget,
    distributions,
    elements,
    functions,
    growth,
    judged,
    measured,
    sequences,
    svg,
    units,
)
from steelyard.report.page.data import CHANGE, Figure, Role
from steelyard.report.page.elements import Content, Markup
from steelyard.report.page.parts import Cell, Column, Detail, Part, Row, existing_figures, sentence
from steelyard.stats.changes import relative_changes

SIDES: tuple[tuple[str, Role], ...] = (("baseline", "baseline"), ("candidate", "candidate"))


def weighing_part(
    record: Weighing, look_backs: Sequence[LookBack | None], room: budget.Budget, key: str, *, running: bool
) -> Part:
    """Return the part for a judged weighing; `look_backs` are the looks that led to each of its verdicts."""
    verdicts = record.verdicts
    metrics = list(dict.fromkeys(verdict.metric for verdict in verdicts))
    scales = judged.scales_of(verdicts, record.settings.margin, key)
    deciding = deciding_of(verdicts)
    only = deciding[0] if len(deciding) == 1 else None
    row_builder = _RowBuilder(record, scales, len(metrics) > 1, only)
    rooms = room.of_each([verdict.change for verdict in verdicts])
    rows = [row_builder.row(*each) for each in zip(verdicts, look_backs, rooms, strict=True)]
    headline = _headline(record, deciding, running=running)
    return Part(
        kind="weighing",
        title=_title(record),
        headline=headline,
        has_verdicts=bool(deciding) and record.identical is None,
        lines=[
            line for line in _summary_lines(record, verdicts, deciding, running=running) if line != sentence(headline)
        ],
        caption=f"Verdicts {figures.at_confidence(record.settings.alpha)}; the bars are {scales.legend()}",
        columns=_columns(record, scales, several=len(metrics) > 1),
        rows=rows,
        whole=Detail(figures=_growth_figures(verdicts, record)),
        notes=notes.of_unmeasured(record, record.identical)
        if record.identical is not None
        else notes.of_weighing(record, verdicts),
        facts=[measured.facts(record), *measured.machines(record)],
        metric=metrics[0] if metrics else "",
        below=_ranking_tables(record, deciding),
        defs=scales.symbols(),
    )


def _title(record: Weighing) -> str:
    baselines, candidates = record.sides()
    return f"{', '.join(candidates) or 'candidate'} against {', '.join(baselines)}"


def _headline(record: Weighing, deciding: Sequence[Verdict], *, running: bool) -> str:
    if record.identical is not None:
        return record.identical.message
    if record.new_suite is not None:
        return "Nothing is compared yet"  # a note says why
    if record.skipped_part is not None:
        return "Nothing is compared in this part"
    if not deciding:
        return sentences.capitalised(sentences.RUNNING if running else sentences.without_verdict(record.stop))
    return judged.headline(deciding, len(record.members))


def _summary_lines(
    record: Weighing, verdicts: Sequence[Verdict], deciding: Sequence[Verdict], *, running: bool
) -> list[Content]:
    lines: list[Content] = []
    if record.identical is not None and record.identical.remedy:
        lines.append(sentences.capitalised(record.identical.remedy))
    # Without any verdict, nothing is shown of what was measured before a failure.
    has_results = bool(verdicts) or "failed" not in record.stop
    if has_results and (text := sentences.cut_off(record.stop, running=running)):  # what failed is told above this
        lines.append(sentence(text))
    if len(deciding) == 1:
        lines += [sentence(line) for line in _evidence_lines(deciding[0], record)]
    elif undecided := [verdict for verdict in deciding if verdict.verdict == "undecided"]:
        lines += [sentence(f"undecided: {line}") for line in budgets.budget_of_all(undecided, record)]
    lines += [sentence(line) for line in suite_mean.of_each_metric(record)]
    metrics = dict.fromkeys(verdict.metric for verdict in verdicts if not verdict.control)
    lines += [f"{sentences.metric(name, record.settings)}." for name in metrics]
    if built := sentences.built(record):
        lines.append(elements.name(built, elements.LONGER))
    if part_of := sentences.part(record):
        lines.append(sentence(f"part {part_of}"))
    return lines


def _evidence_lines(verdict: Verdict, record: Weighing) -> list[str]:
    if record.identical is not None:
        return []  # as the headline says
    return [
        sentences.evidence(verdict, record.settings),
        *sentences.explanation(verdict, record),
    ]


def _ranking_tables(record: Weighing, deciding: Sequence[Verdict]) -> list[Markup]:
    """Return a table of several candidates from the fastest to the slowest, by benchmark; empty for one candidate."""
    rankings_found = ranking.rankings(record, deciding)
    if not rankings_found:
        return []
    several = len(rankings_found) > 1
    rows = [
        [*([elements.name(of_benchmark.of)] if several else []), elements.name(line.name), line.place, line.said]
        for of_benchmark in rankings_found
        for line in of_benchmark.lines
    ]
    ties = f"; {ranking.TIES}" if any(of_benchmark.has_ties for of_benchmark in rankings_found) else ""
    titles = [*(["benchmark"] if several else []), "subject", "place", "change"]
    return [elements.table(f"From the fastest to the slowest{ties}", titles, rows)]


def _columns(record: Weighing, scales: judged.Scales, *, several: bool) -> list[Column]:
    return [
        *judged.columns(scales, several_metrics=several),
        Column(sentences.title_of_pairs(record.settings.metrics)),
        Column("baseline"),
        Column("candidate"),
    ]


@dataclass(frozen=True)
class _RowBuilder:
    """What all rows of one weighing share."""

    record: Weighing
    scales: judged.Scales
    several_metrics: bool
    summed_up: Verdict | None
    """The verdict whose evidence stands above the table already."""
    described: set[int] = field(default_factory=set)
    """The benchmarks that have a row already; whatever is said once per benchmark is said there."""

    def row(self, verdict: Verdict, look_back: LookBack | None, room: budget.Budget) -> Row:
        """Return the row of a verdict; must be called in the order of the rows."""
        benchmark = self.record.benchmarks[verdict.index]
        no_alarm = sentences.without_alarm(verdict)
        cells = [
            *judged.cells(verdict, self.scales, verdict.metric if self.several_metrics else None, no_alarm),
            Cell(f"{verdict.pairs:,}", float(verdict.pairs)),
            *(
                Cell(figures.quantity(side.median, verdict.metric) if side else "", side.median if side else None)
                for side in (verdict.baseline, verdict.candidate)
            ),
        ]
        return Row(
            name=verdict.benchmark,
            cells=cells,
            detail=self._detail(verdict, look_back, room),
            verdict=no_alarm or verdict.verdict,
            metric=verdict.metric,
            tags=tuple(benchmark.tags),
            params=dict(benchmark.params),
        )

    def _detail(self, verdict: Verdict, look_back: LookBack | None, room: budget.Budget) -> Detail:
        record = self.record
        lines = [
            *([] if verdict is self.summed_up else _verdict_lines(verdict, record)),
            *map(sentence, filter(None, (sentences.resolution(verdict), counting.noise(verdict)))),
        ]
        figures_made: list[Figure | None] = []
        tables: list[Markup] = []
        if look_back is not None and room.points:
            figures_made += _timing_figures(verdict, look_back, record, room)
        if is_counted(verdict.metric):
            if room.points:
                figures_made.append(functions.icicle(record, verdict.index, verdict.metric, room.functions))
            tables += functions.changes(record, verdict, room.functions)
        figures_made += _variance_figures(verdict)
        if verdict.index not in self.described:
            self.described.add(verdict.index)
            tables += measured.heap_table(record, verdict.index)
        return Detail(lines, existing_figures(figures_made), tables)


def _verdict_lines(verdict: Verdict, record: Weighing) -> list[Content]:
    if quiet := sentences.without_alarm(verdict):
        return [judged.coloured_verdict(quiet), sentence(sentences.evidence(verdict, record.settings))]
    return [judged.coloured_verdict(verdict.verdict), *map(sentence, _evidence_lines(verdict, record))]


def _timing_figures(
    verdict: Verdict, look_back: LookBack, record: Weighing, room: budget.Budget
) -> list[Figure | None]:
    launches, watch = look_back.launches, record.watch_of(verdict.index)
    sides = [
        of_one_process(values, verdict.metric, record.settings.repeat)
        for values in (look_back.baseline, look_back.candidate)
    ]
    quantity = units.of_metric(verdict.metric, *sides)
    samples = [distributions.Sample(label, role, values) for (label, role), values in zip(SIDES, sides, strict=True)]
    changes = 100 * relative_changes(look_back.baseline, look_back.candidate)
    used = launches.complete_pairs(verdict.index, USED)
    positions = {label: (role, used[:, side]) for side, (label, role) in enumerate(SIDES)}
    return [
        sequences.pairs_figure(verdict, look_back, room.points, watch),
        distributions.distribution_figure(samples, quantity, room.points),
        sequences.looks_figure(look_back, verdict.interval, verdict.margin),
        distributions.four_plot("4-plot of the pairs' changes", changes, CHANGE, room.points, "change"),
        measured.inside(launches, positions, verdict.metric, quantity, room),
    ]


def _variance_figures(verdict: Verdict) -> list[Figure]:
    """Return the figure of a pair's variance by level, which also tells the change of each layout."""
    facts = verdict.layouts
    if facts is None or not facts.parts:
        return []
    text = " ".join(map(sentence, [layouts.differences(facts), *layouts.variance(facts)]))
    shares = [
        svg.Share(
            f"{part.level} {figures.percent(part.share)}",
            part.share,
            f"± {figures.percent(part.spread)}",
            f"level-{part.level}",
        )
        for part in facts.parts
    ]
    return [Figure("Variance of a pair's change by level", text, drawn=svg.icicle(shares, text))]


def _growth_figures(verdicts: Sequence[Verdict], record: Weighing) -> list[Figure]:
    medians = [
        growth.Measured(
            verdict.benchmark,
            record.benchmarks[verdict.index].params,
            verdict.metric,
            (verdict.baseline.median, verdict.candidate.median),
        )
        for verdict in verdicts
        if verdict.baseline and verdict.candidate and not verdict.control
    ]
    known_medians = [measured_levels for measured_levels in medians if all(map(isfinite, measured_levels.levels))]
    return growth.curves(known_medians, SIDES, units.of_metric)
