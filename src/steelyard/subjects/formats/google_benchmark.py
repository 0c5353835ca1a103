"""Google Benchmark's JSON: the repetitions are samples of one process."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING, Any

from steelyard.model.errors import LaunchError
from steelyard.model.foreign import CORES
from steelyard.model.kept import Finding
from steelyard.subjects.formats.contents import Contents, Format, Found, Opened, entries, facts, grouped, text
from steelyard.subjects.responses import shown

if TYPE_CHECKING:
    from steelyard.subjects.adapters.google_benchmark import Repetition

# Aggregates over all sizes of a benchmark together, so there are no samples for them.
_OF_COMPLEXITY = frozenset({"BigO", "RMS"})
_WAY_OUT = "leave out ReportAggregatesOnly and --benchmark_report_aggregates_only, for the repetitions themselves"


def _recognises(opened: Opened) -> bool:
    report = opened.json
    return isinstance(report, dict) and isinstance(report.get("context"), dict) and "benchmarks" in report


def _read(opened: Opened) -> Contents:
    from steelyard.subjects.adapters.google_benchmark import repetitions_of

    aggregated = [one for one in entries(opened, "benchmarks") if one.get("run_type") == "aggregate"]
    if aggregated and len(aggregated) == len(opened.json["benchmarks"]):
        raise LaunchError(f"wrote only aggregates: {_WAY_OUT}")
    repetitions = repetitions_of(opened.text)
    groups = grouped(repetitions, lambda one: one.name)
    context = opened.json.get("context") or {}
    return Contents(
        [*(_found(name, group) for name, group in groups.items()), *_without_repetitions(aggregated, groups.keys())],
        version=text(context.get("library_version")),
        measured=text(context.get("date")),
        machine=facts(host=context.get("host_name"), **{CORES: context.get("num_cpus")}),
        findings=_debug(context.get("library_build_type")),
    )


def _found(name: str, repetitions: list[Repetition]) -> Found:
    told = repetitions[0].repetitions
    if told is not None and len(repetitions) > told:
        raise LaunchError(f"lists {shown(name)} twice: each benchmark needs a name of its own")
    samples = [one.sample for one in repetitions if one.sample]
    return Found(
        name,
        "ns",  # of one iteration, whichever unit its code chose to show it in
        [[one.iteration_ns for one in repetitions if one.sample]],
        seconds=sum(sample.ns for sample in samples) / 1e9,
        processed=next((one.processed for one in repetitions if one.processed), {}),
        error=next((f"it failed ({one.error})" for one in repetitions if one.error), ""),
    )


def _without_repetitions(aggregated: list[dict[str, Any]], known: Set[str]) -> list[Found]:
    alone = [one for one in aggregated if one.get("aggregate_name") not in _OF_COMPLEXITY]
    names = dict.fromkeys(text(one.get("run_name")) for one in alone)
    error = f"only its aggregates were written ({_WAY_OUT})"
    return [Found(name, "ns", [], error=error) for name in names if name and name not in known]


def _debug(build: object) -> list[Finding]:
    if build != "debug":
        return []
    message = "Google Benchmark says that it was built as a debug library, which can slow what it times"
    return [Finding(code="debug-library", message=message, remedy="build the library with -DCMAKE_BUILD_TYPE=Release")]


GOOGLE_BENCHMARK = Format("google-benchmark", "Google Benchmark", _recognises, _read)
