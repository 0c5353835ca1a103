"""Google Benchmark's JSON: the repetitions are samples of one process."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TYPE_CHECKING, Any

from steelyard.model.errors import LaunchError
from steelyard.model.findings import Finding
from steelyard.model.foreign import CORES
from steelyard.model.grouping import grouped
from steelyard.subjects.formats.contents import Contents, Format, FoundBenchmark, Opened, entries, facts, text

if TYPE_CHECKING:
    from steelyard.subjects.adapters.google_benchmark import Repetition

# Aggregates over all sizes of a benchmark together, so there are no samples for them.
_COMPLEXITY_AGGREGATES = frozenset({"BigO", "RMS"})
_WAY_OUT = "leave out ReportAggregatesOnly and --benchmark_report_aggregates_only, for the repetitions themselves"


def _recognises(opened: Opened) -> bool:
    report = opened.json
    return isinstance(report, dict) and isinstance(report.get("context"), dict) and "benchmarks" in report


def _read(opened: Opened) -> Contents:
    from steelyard.subjects.adapters.google_benchmark import repetitions_of

    aggregated = [entry for entry in entries(opened, "benchmarks") if entry.get("run_type") == "aggregate"]
    if aggregated and len(aggregated) == len(opened.json["benchmarks"]):
        raise LaunchError(f"wrote only aggregates: {_WAY_OUT}")
    repetitions = repetitions_of(opened.text)
    groups = grouped(repetitions, lambda entry: entry.name)
    context = opened.json.get("context") or {}
    return Contents(
        [
            *(_benchmark(name, each) for name, group in groups.items() for each in _apart(group)),
            *_without_repetitions(aggregated, groups.keys()),
        ],
        version=text(context.get("library_version")),
        measured=text(context.get("date")),
        machine=facts(host=context.get("host_name"), **{CORES: context.get("num_cpus")}),
        findings=_debug_findings(context.get("library_build_type")),
    )


def _apart(repetitions: list[Repetition]) -> Iterator[list[Repetition]]:
    """Return the repetitions of each benchmark that has this name: there are several if more are listed than announced.

    Older versions do not announce how many there are.
    """
    announced = repetitions[0].repetitions or len(repetitions)
    return (repetitions[start : start + announced] for start in range(0, len(repetitions), announced))


def _benchmark(name: str, repetitions: list[Repetition]) -> FoundBenchmark:
    samples = [repetition.sample for repetition in repetitions if repetition.sample]
    return FoundBenchmark(
        name,
        "ns",  # of one iteration, whichever unit its code chose to show it in
        [[repetition.iteration_ns for repetition in repetitions if repetition.sample]],
        seconds=sum(sample.ns for sample in samples) / 1e9,
        processed=next((repetition.processed for repetition in repetitions if repetition.processed), {}),
        error=next(filter(None, map(_why_not, repetitions)), ""),
    )


def _why_not(repetition: Repetition) -> str:
    """Return why a repetition has no sample; empty if it has one."""
    if repetition.skips or not repetition.error:
        return repetition.error or (f"it {repetition.refusal}" if repetition.refusal else "")
    return f"it failed ({repetition.error})"


def _without_repetitions(aggregated: list[dict[str, Any]], known: Set[str]) -> list[FoundBenchmark]:
    plain_aggregates = [entry for entry in aggregated if entry.get("aggregate_name") not in _COMPLEXITY_AGGREGATES]
    names = dict.fromkeys(text(entry.get("run_name")) for entry in plain_aggregates)
    error = f"only its aggregates were written ({_WAY_OUT})"
    return [FoundBenchmark(name, "ns", [], error=error) for name in names if name and name not in known]


def _debug_findings(build: object) -> list[Finding]:
    if build != "debug":
        return []
    message = "Google Benchmark says that it was built as a debug library, which can slow what it times"
    return [Finding(code="debug-library", message=message, remedy="build the library with -DCMAKE_BUILD_TYPE=Release")]


GOOGLE_BENCHMARK = Format("google-benchmark", "Google Benchmark", _recognises, _read)
