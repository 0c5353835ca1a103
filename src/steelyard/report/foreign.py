"""Other tools' results, and what two of them say, as text, Markdown and CSV. That they are imported comes first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from steelyard.model.grouping import grouped
from steelyard.model.throughput import per_second
from steelyard.model.units import PER_OPERATION, ns_of
from steelyard.report import figures, notes, sentences, suite_mean
from steelyard.report.bounds import MOST_BENCHMARKS, most_changed, show_left_out
from steelyard.report.markup import code, document, escape, items, table
from steelyard.report.sheet import Sheet
from steelyard.report.unpaired import APART, drift_sentence, show_means
from steelyard.report.verdicts import print_verdict

if TYPE_CHECKING:
    from steelyard.model.foreign import ForeignBenchmark, ForeignReport, ForeignResults, ForeignVerdict, Level

WARNING = "imported, not measured by Steelyard"
UNPAIRED_WARNING = f"{WARNING}, and {APART}"
_MOST_FILES = 3
_MOST_NAMED = 3
_IF_DRIFT_SMALL = "if drift was no more than told"


def value_text(amount: float, unit: str) -> str:
    """Write a value in its unit: times and sizes as everywhere, `12.81 ms`, others unchanged, `1,204 ops/s`."""
    unit_name = unit.removesuffix(PER_OPERATION)
    per_operation = unit.removeprefix(unit_name)
    if (ns := ns_of(unit)) is not None:
        return figures.duration(amount * ns) + per_operation
    if unit_name == "B":
        return figures.size(amount) + per_operation
    return f"{figures.amount(amount, 'count')} {unit}"


def rates(benchmark: ForeignBenchmark, level: Level) -> list[str]:
    """Write the throughput at the median, if the benchmark tells what it processes: `512.3 MiB/s`."""
    if (ns := ns_of(benchmark.unit)) is None:
        return []
    per_unit = per_second(benchmark.processed, "wall", level.median * ns)
    return [figures.rate(amount, unit) for unit, amount in per_unit.items()]


def direction(higher_is_better: bool) -> str:
    """Say which direction is better."""
    return f"{better_word(higher_is_better)} is better"


def better_word(higher_is_better: bool) -> str:
    """Write the cell of a table's column `better`."""
    return "higher" if higher_is_better else "lower"


def origin(record: ForeignResults) -> str:
    """Say where the results come from: `imported, not measured by Steelyard: pyperf 2.10.0, 2 files, ...`."""
    return f"{WARNING}: {source(record)}"


def source(record: ForeignResults) -> str:
    """Say which tool measured the results, and in how many files: `pyperf 2.10.0, 2 files, ...`."""
    provenance = record.provenance
    tool = f"{provenance.tool} {provenance.version}" if provenance.version else f"{provenance.tool}, version not told"
    files = figures.count(len(provenance.files), "file")
    measured = f", measured {provenance.measured[0]}" if provenance.measured else ""
    return f"{tool}, {files}{measured}"


def effort(level: Level) -> str:
    """Write how many processes and samples there are, and how much they vary."""
    parts = []
    if level.between is not None:
        parts.append(f"varies by {figures.percent(level.between)} from process to process")
    if level.within is not None:
        parts.append(f"varies by {figures.percent(level.within)} within a process")
    counts = f"{figures.count(level.processes, 'process')}, {figures.count(level.samples, 'sample')}"
    return ", ".join([*parts, counts])


# --- one import


def show(console: Console, record: ForeignResults, levels: Sequence[Level]) -> None:
    """Print imported results: where they come from, then the levels of the first `MOST_BENCHMARKS` benchmarks."""
    sheet = Sheet(console)
    sheet.row("imported", Text(origin(record), "yellow"), style="bold yellow")
    for file in record.provenance.files[:_MOST_FILES]:
        sheet.row("file", Text(f"{sheet.name(file.name, sheet.text_width)}", "dim"), f"SHA-256 {file.sha256[:16]}…")
    if (more := len(record.provenance.files) - _MOST_FILES) > 0:
        sheet.row("", f"and {figures.count(more, 'more file')}")
    if record.machine:
        sheet.row("machine", ", ".join(f"{name} {value}" for name, value in record.machine.items()))
    shown = record.benchmarks[:MOST_BENCHMARKS]
    for benchmark, level in zip(shown, levels[:MOST_BENCHMARKS], strict=True):
        sheet.blank()
        sheet.title("benchmark", benchmark.name)
        median = ", ".join([f"{value_text(level.median, benchmark.unit)} median", *rates(benchmark, level)])
        line = Text.assemble((median, "bold"), f", {direction(benchmark.higher_is_better)}")
        sheet.row("value", line, effort(level))
    show_left_out(sheet, len(record.benchmarks) - len(shown))
    notes.show(sheet, notes.of_findings(record.findings))


def markdown(record: ForeignResults, levels: Sequence[Level]) -> str:
    """Write imported results as a GitHub table."""
    titles = ["benchmark", "median", "better", "processes vary by", "samples vary by", "processes", "samples"]
    rows = []
    for benchmark, level in zip(record.benchmarks, levels, strict=True):
        rows.append(
            [
                code(benchmark.name),
                escape(", ".join([value_text(level.median, benchmark.unit), *rates(benchmark, level)])),
                better_word(benchmark.higher_is_better),
                *(figures.NOT_KNOWN if one is None else figures.percent(one) for one in (level.between, level.within)),
                f"{level.processes:,}",
                f"{level.samples:,}",
            ]
        )
    lines = [f"_{escape(origin(record))}_", "", *table(titles, rows)]
    return document([*lines, *_list_lines(notes.markdown(notes.of_findings(record.findings)))])


def csv(record: ForeignResults) -> str:
    """Write every sample as one row, in the order of the file."""
    from steelyard.report.table import csv_text

    titles = ["benchmark_name", "process", "sample", "value", "unit", "higher_is_better"]
    rows = (
        [benchmark.name, process, sample, amount, benchmark.unit, benchmark.higher_is_better]
        for benchmark in record.benchmarks
        for process, values in enumerate(benchmark.values)
        for sample, amount in enumerate(values)
    )
    return csv_text(titles, rows)


# --- two of them


def show_diff(console: Console, report: ForeignReport) -> None:
    """Print what two imports say, each benchmark in full; what is said of several is printed only once."""
    sheet = Sheet(console)
    sheet.row("imported", Text(UNPAIRED_WARNING, "yellow"), style="bold yellow")
    sheet.blank()
    for label, record in (("A", report.baseline), ("B", report.candidate)):
        name = Text(sheet.name(record.provenance.files[0].name, sheet.text_width), "bold")
        benchmark_name = [sheet.name(one, sheet.text_width) for one in _renamed_benchmark(record, report)]
        sheet.row(label, name, *benchmark_name, source(record))
    shown = most_changed(report.verdicts)
    explained: set[str] = set()
    for verdict in shown:
        sheet.blank()
        sheet.title("benchmark", verdict.benchmark)
        explanations = [one for one in explanation(verdict, report.margin) if one not in explained]
        print_verdict(sheet, verdict, evidence(verdict, report.alpha), explanations)
        for label, level in (("A", verdict.baseline), ("B", verdict.candidate)):
            sheet.row(label, f"{value_text(level.median, verdict.unit)} median, {effort(level)}")
        if (wandered := drift(verdict)) not in explained:
            sheet.row("drift", wandered)
        explained.update(explanations, [wandered])
    show_left_out(sheet, len(report.verdicts) - len(shown), ", which changed less")
    show_means(sheet, mean_sentences(report))
    notes.show(sheet, notes.of_two_foreign(report))


def _renamed_benchmark(record: ForeignResults, report: ForeignReport) -> list[str]:
    """Return the name of a side's only benchmark if the other side's has another name; both may come from one file."""
    names = {one.name for side in (report.baseline, report.candidate) for one in side.benchmarks}
    is_renamed = len(report.baseline.benchmarks) == len(report.candidate.benchmarks) == 1 and len(names) == 2
    return [record.benchmarks[0].name] if is_renamed else []


def mean_sentences(report: ForeignReport) -> list[str]:
    """Say what all benchmarks of a unit say together; only as certain as the least certain of their intervals."""
    has_limits = any(verdict.findings and verdict.interval is not None for verdict in report.verdicts)
    confidence = _IF_DRIFT_SMALL if has_limits else figures.at_confidence(report.alpha)
    kinds = [(verdict.unit, verdict.higher_is_better) for verdict in report.verdicts]
    return suite_mean.of_unpaired(report.means, kinds, confidence)


def evidence(verdict: ForeignVerdict, alpha: float) -> str:
    """Write the change of the value, its interval and its evidence."""
    candidate = figures.count(verdict.candidate.processes, "process")
    processes = f"{verdict.baseline.processes:,} and {candidate}"
    change = f"{figures.change(verdict.change)} {direction(verdict.higher_is_better).join('()')}"
    if verdict.interval is None:
        return f"{change}, no interval: {processes} are too few for one"
    certainty = _IF_DRIFT_SMALL if verdict.findings else figures.at_confidence(alpha)
    return f"{change} {figures.interval(verdict.interval)} {certainty}, {processes}"


def explanation(verdict: ForeignVerdict, margin: float) -> list[str]:
    """Explain what the verdict's name and the numbers leave open."""
    if verdict.verdict == "same":
        return [sentences.within_margin(margin)]
    if verdict.verdict == "undecided":
        return ["steelyard compare decides it, in adjacent pairs"]
    direction_word = "lower" if verdict.change < 0 else "higher"
    amount = f"{figures.extent(verdict.change)} {direction_word} in B than in A"
    return [f"it is {amount}, which is more than drift between the two would explain"]


def drift(verdict: ForeignVerdict) -> str:
    """Say the between-block spread, or that it could not be seen, and the least spread assumed."""
    if verdict.block_spreads is None:
        assumed = figures.percent(verdict.assumed)
        return f"cannot be seen in so few or such short processes; {assumed} is assumed, and it may have been more"
    return drift_sentence(verdict.block_spreads, verdict.assumed)


def diff_markdown(report: ForeignReport) -> str:
    """Write what two imports say as a GitHub table."""
    titles = ["benchmark", "verdict", "change", f"interval at {figures.confidence(report.alpha)}", "better", "A", "B"]
    names = [
        ": ".join(map(code, (record.provenance.files[0].name, *_renamed_benchmark(record, report))))
        for record in (report.baseline, report.candidate)
    ]
    known = grouped((one for one in report.verdicts if one.interval), drift)
    drifts = [
        f"{figures.first_few([code(one.benchmark) for one in of_these], _MOST_NAMED)}: drift {escape(wandered)}"
        for wandered, of_these in known.items()
    ]
    lines = [
        f"_{escape(UNPAIRED_WARNING)}_",
        "",
        f"A {names[0]}, B {names[1]}",
        "",
        *table(titles, map(_row, report.verdicts)),
    ]
    list_items = [*map(escape, mean_sentences(report)), *drifts, *notes.markdown(notes.of_two_foreign(report))]
    return document([*lines, *_list_lines(list_items)])


def _row(verdict: ForeignVerdict) -> list[str]:
    sides = (
        escape(f"{value_text(level.median, verdict.unit)}, {figures.count(level.processes, 'process')}")
        for level in (verdict.baseline, verdict.candidate)
    )
    bounds = figures.interval(verdict.interval)
    if verdict.interval is not None and verdict.findings:  # no confidence can be given for it
        bounds += f" {_IF_DRIFT_SMALL}"
    first = [code(verdict.benchmark), f"**{verdict.verdict}**", figures.change(verdict.change), bounds]
    return [*first, better_word(verdict.higher_is_better), *sides]


def _list_lines(texts: Sequence[str]) -> list[str]:
    return ["", *items(texts)] if texts else []
