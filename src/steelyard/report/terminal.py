"""A weighing or a run on a terminal: the verdict at a glance, and below it everything that it rests on."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from steelyard.model.derived import Summary, Verdict
from steelyard.model.findings import Finding
from steelyard.model.launches import FloatArray
from steelyard.model.metrics import METRICS, is_counted, of_one_process
from steelyard.model.records import Run, Weighing
from steelyard.model.sides import SIDES
from steelyard.report import (
    budgets,
    counting,
    disturbances,
    figures,
    heap,
    layouts,
    levels,
    notes,
    printable,
    sentences,
)
from steelyard.report.bounds import MOST_BENCHMARKS, most_changed, show_left_out
from steelyard.report.lockstep import pair_values
from steelyard.report.sheet import Sheet
from steelyard.report.strip import strip
from steelyard.report.verdicts import STYLES, print_margins, print_verdict, verdict_text
from steelyard.stats.changes import relative_changes

_QUALITIES = {"quiet": "green", "noisy": "yellow", "disturbed": "red"}
_STRIP_COLUMNS = 60


def weighing(
    console: Console,
    record: Weighing,
    verdicts: list[Verdict],
    *,
    functions: int = 10,
    running: bool = False,
    told: notes.Told | None = None,
) -> None:
    """Print a weighing: a single benchmark in full, several as a table.

    For counted benchmarks, show up to `functions` functions that account for the change. `told` has the notes of other
    weighings above it.
    """
    sheet, told = Sheet(console), told or notes.Told()
    _print_stopped(sheet, record, running=running)
    if record.unmeasured is not None:
        _print_unmeasured(sheet, record, record.unmeasured, told)
        return
    if not verdicts:
        sheet.row("no result", budgets.NO_PAIR, style="bold yellow")
        notes.show(sheet, told.anew(notes.of_weighing(record, verdicts)))
    elif len(record.benchmarks) > 1:
        from steelyard.report import many

        _print_names(sheet, record)
        many.show(sheet, record, verdicts, told)
    else:
        _print_single(sheet, record, verdicts, told)
    _print_counts(sheet, record, verdicts, functions)
    heap.show(sheet, record)
    if len(record.launches) and not record.parts:  # each part had its own plan
        _print_plan(sheet, record)


def run(console: Console, record: Run, summaries: list[Summary], *, functions: int = 10, running: bool = False) -> None:
    """Print a run: each benchmark's level, spread and noise, and for a counted one the largest `functions`."""
    sheet = Sheet(console)
    _print_stopped(sheet, record, running=running)
    if not summaries:
        sheet.row("no result", sentences.NO_LAUNCH, style="bold yellow")
        notes.show(sheet, notes.of_run(record, summaries))
        return
    sheet.title("subject", record.subjects[0].name)
    _print_build(sheet, record)
    has_name = sentences.has_benchmark_name(record)
    explained: set[str] = set()
    numbers = list(dict.fromkeys(summary.index for summary in summaries))
    are_shown = {*numbers[:MOST_BENCHMARKS]}
    shown = [summary for summary in summaries if summary.index in are_shown]
    for position, summary in enumerate(shown):
        is_first = position == 0 or summaries[position - 1].benchmark != summary.benchmark
        if is_first and has_name:
            if len(record.benchmarks) > 1:
                sheet.blank()
            sheet.title("benchmark", summary.benchmark)
        _print_summary(sheet, record, summary, is_full=is_first, explained=explained)
    show_left_out(sheet, len(numbers) - MOST_BENCHMARKS)
    notes.show(sheet, notes.of_run(record, summaries))
    counting.show_method(sheet, record)
    for summary in counting.first_counted(shown):
        counting.show_largest(sheet, record, summary, functions)
    heap.show(sheet, record)
    if len(record.launches):
        _print_plan(sheet, record)


def _print_counts(sheet: Sheet, record: Weighing, verdicts: list[Verdict], functions: int) -> None:
    """Print how the benchmarks were counted and, for each one that changed, where the change comes from."""
    if record.counting is None:
        return
    sheet.blank()
    counting.show_method(sheet, record)
    changed = counting.changed_verdicts(verdicts) if functions else []
    shown = most_changed(changed)
    for verdict in shown:
        if len(record.benchmarks) > 1:
            sheet.blank()
            sheet.title("benchmark", verdict.benchmark)
        counting.show_sources(sheet, record, verdict, functions)
    show_left_out(sheet, len(changed) - len(shown), ", which changed less", where="--html FILE")


def _print_plan(sheet: Sheet, record: Weighing | Run) -> None:
    sheet.row("plan", Text(sentences.plan(record.settings), "dim"))


def _print_stopped(sheet: Sheet, record: Weighing | Run, *, running: bool) -> None:
    if text := sentences.stopped(record.stop, running=running):
        sheet.row("running" if running else "stopped", Text(text, "yellow"))
        sheet.blank()


def _print_unmeasured(sheet: Sheet, record: Weighing, reason: Finding, told: notes.Told) -> None:
    """Print why nothing had to be measured, and the other findings about both sides."""
    _print_names(sheet, record)
    sheet.blank()
    word, style = ("no verdict", "bold yellow") if record.identical is None else ("same", STYLES["same"])
    is_new = told.remember(notes.Note(reason.message, reason.remedy))
    sheet.row(word, reason.message, *([reason.remedy] if reason.remedy and is_new else []), style=style)
    notes.show(sheet, told.anew(notes.of_unmeasured(record, reason)))


def _print_build(sheet: Sheet, record: Weighing | Run) -> None:
    if built := sentences.built(record):
        sheet.row("command", Text(sheet.name(built, 3 * sheet.text_width), "dim"))


def _print_part(sheet: Sheet, record: Weighing) -> None:
    if part := sentences.part(record):
        sheet.row("part", part)


def _print_names(sheet: Sheet, record: Weighing) -> None:
    for label, names in zip(SIDES, record.sides(), strict=True):
        for name in names:
            sheet.title(label, name)
    _print_build(sheet, record)
    _print_part(sheet, record)


# --- one benchmark


def _print_single(sheet: Sheet, record: Weighing, verdicts: list[Verdict], told: notes.Told) -> None:
    first, others = verdicts[0], verdicts[1:]
    notes_at_verdict, notes_below = notes.split_by_place(told.anew(notes.of_weighing(record, verdicts)))
    if sentences.has_benchmark_name(record):
        sheet.title("benchmark", first.benchmark)
    _print_sides(sheet, record, first)
    _print_build(sheet, record)
    _print_part(sheet, record)
    sheet.blank()
    evidence = sentences.evidence(first, record.settings)
    print_verdict(sheet, first, evidence, sentences.explanation(first, record))
    notes.show(sheet, notes_at_verdict)
    sheet.blank()
    sheet.row("metric", sentences.metric(first.metric, record.settings))
    if not is_counted(first.metric):
        _print_strip(sheet, "pairs", _pair_changes(record, first), "no change")
    _print_details(sheet, first)
    print_margins(sheet, record)
    if others:
        _print_other_metrics(sheet, others)
    notes.show(sheet, notes_below)


def _print_sides(sheet: Sheet, record: Weighing, verdict: Verdict) -> None:
    """Print both sides: name and numbers on one line each where both fit, otherwise below each other."""
    benchmark = record.benchmarks[verdict.index]
    subject_names = [record.subjects[position].name for position in (benchmark.baseline, benchmark.candidate)]
    names = [sheet.name(name, 3 * sheet.text_width) for name in subject_names]
    sides = (verdict.baseline, verdict.candidate)
    parts = [sentences.side(part, verdict.metric) if part else [] for part in sides]
    if all(parts):
        aligned = _aligned(parts)
        name_width = max(map(cell_len, names))
        if not sheet.narrow and name_width + 2 + len(aligned[0]) <= sheet.text_width:
            for label, name, numbers in zip(SIDES, names, aligned, strict=True):
                padding = " " * (name_width - cell_len(name) + 2)
                sheet.row(label, Text.assemble((name, "bold"), padding + numbers))
            return
    for label, name, numbers_of_side in zip(SIDES, names, parts, strict=True):
        sheet.row(label, Text(name, "bold"), ", ".join(numbers_of_side) or "not known")


def _aligned(parts: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*parts, strict=True)]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in parts]


def _print_details(sheet: Sheet, verdict: Verdict) -> None:
    if resolution := sentences.resolution(verdict):
        sheet.row("resolution", resolution)
    if noise := counting.noise(verdict):
        sheet.row("noise", noise)
    layouts.show(sheet, verdict)


def _print_other_metrics(sheet: Sheet, verdicts: list[Verdict]) -> None:
    """Print the metrics that do not decide, one line each."""
    sheet.blank()
    if sheet.narrow:
        for verdict in verdicts:
            numbers = sentences.estimate(verdict)
            sheet.row(verdict.metric, Text.assemble(verdict_text(verdict), f" {numbers}"))
        return
    rows = [
        [
            Text(each.metric, "dim"),
            verdict_text(each),
            Text(figures.change(each.change)),
            Text(figures.interval(each.interval, unknown="")),
            _medians_text(each),
        ]
        for each in verdicts
    ]
    widest = max(9, *(len(verdict.metric) for verdict in verdicts))
    rows[0][0].pad_right(widest - rows[0][0].cell_len)
    sheet.grid(rows, optional=1)


def _medians_text(verdict: Verdict) -> Text:
    if verdict.baseline is None or verdict.candidate is None:
        return Text()
    values = (figures.quantity(part.median, verdict.metric) for part in (verdict.baseline, verdict.candidate))
    return Text(f"medians {' -> '.join(values)}", "dim")


def _print_strip(sheet: Sheet, label: str, changes: FloatArray, zero: str) -> None:
    width = min(sheet.text_width, _STRIP_COLUMNS)
    drawn = strip(changes, width, sheet.encoding)
    if not drawn:
        return
    mark = printable.symbols("┊", sheet.encoding)
    legend = [f"{mark} {zero}"] if mark in drawn else []
    if drawn.endswith(")") and "beyond" not in drawn:
        legend.append(f"{drawn[drawn.rindex('(') :]} beyond the ends")
    line = "  ".join([drawn, *legend])
    if len(line) <= sheet.text_width:
        sheet.row(label, Text(drawn) + Text(line[len(drawn) :], "dim"))
    else:
        sheet.row(label, drawn, *(Text(text, "dim") for text in legend if sheet.narrow))


def _pair_changes(record: Weighing, verdict: Verdict) -> FloatArray:
    positions = record.launches.complete_pairs(verdict.index)
    return relative_changes(*pair_values(record.launches, positions, verdict.metric))


# --- a run


def _print_summary(sheet: Sheet, record: Run, summary: Summary, *, is_full: bool, explained: set[str]) -> None:
    """Print one metric of a benchmark. A metric's meaning, and a noise sentence that several share, are printed once.

    `explained` collects what has been printed already; unless `is_full`, only the level, spread and modes are printed.
    """
    metric = summary.metric
    level = Text.assemble((f"{figures.quantity(summary.median, metric)} median", "bold"))
    if interval := levels.interval(summary):
        level.append(f" {interval} {figures.at_confidence(record.settings.alpha)} while it ran")
    sheet.blank()
    rates = ", ".join(sentences.rates(summary))
    sheet.row(metric, level, *([rates] if rates else []), sentences.spread(summary), style="bold" if is_full else "dim")
    if len(summary.modes) > 1:
        modes = " and ".join(figures.quantity(mode, metric) for mode in summary.modes)
        sheet.row("modes", f"the launches cluster at {modes}, as if they did different things")
    if not is_full:
        return
    if metric in METRICS and metric not in explained:
        sheet.row("metric", sentences.metric(metric, record.settings))
    if not is_counted(metric):
        _print_strip(sheet, "launches", _around_median(record, summary), "the median")
        noise = disturbances.noise(summary)
        sheet.row("noise", _quality_text(summary, "" if noise in explained else noise))
        explained.add(noise)
    explained.add(metric)


def _quality_text(summary: Summary, noise: str) -> Text:
    """Return how quiet the machine was, with the `noise` sentence; launches may vary without any disturbance."""
    name, quiet_prefix = disturbances.quality(summary), "quiet, "
    if name != summary.quality:  # `noise` already says that the quality is not known
        return Text(noise or name)
    quality = Text(name, _QUALITIES[summary.quality])
    conjunction = ", though " if noise.startswith(quiet_prefix) and name != "quiet" else ": "
    return Text.assemble(quality, f"{conjunction}{noise.removeprefix(quiet_prefix)}" if noise else "")


def _around_median(record: Run, summary: Summary) -> FloatArray:
    values = record.launches.metric(summary.metric)[record.launches.judged(summary.index)]
    values = of_one_process(values, summary.metric, record.settings.repeat)
    return values / summary.median - 1 if summary.median > 0 else values[:0]
