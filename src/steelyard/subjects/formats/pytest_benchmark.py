"""pytest-benchmark's --benchmark-json: the rounds are samples of one process."""

from __future__ import annotations

from typing import Any

from steelyard.model.errors import LaunchError, UsageError
from steelyard.model.foreign import CORES, PROCESSOR
from steelyard.subjects.adapters.pytest_benchmark import Result, results_in
from steelyard.subjects.formats.contents import Contents, Format, FoundBenchmark, Opened, facts, text


def _recognises(opened: Opened) -> bool:
    report = opened.json
    return isinstance(report, dict) and "benchmarks" in report and "machine_info" in report


def _read(opened: Opened) -> Contents:
    report = opened.json
    if any("data" not in entry["stats"] for entry in report["benchmarks"]):
        raise UsageError(
            f"cannot import {opened.path} as pytest-benchmark: it has statistics alone, and not the rounds they are "
            "of: have pytest write these, by --benchmark-json=FILE or, when it saves, --benchmark-save-data"
        )
    machine = report.get("machine_info") or {}
    processor = machine.get("cpu") or {}
    return Contents(
        [_benchmark(*pair) for pair in zip(results_in(opened.text), report["benchmarks"], strict=True)],
        version=text(report.get("version")),
        measured=text(report.get("datetime")),
        machine=facts(
            host=machine.get("node"),
            system=machine.get("system"),
            python=machine.get("python_version"),
            **{PROCESSOR: processor.get("brand_raw"), CORES: processor.get("count")},
        ),
    )


def _benchmark(result: Result, entry: dict[str, Any]) -> FoundBenchmark:
    try:
        result.samples()
    except LaunchError as refusal:
        return FoundBenchmark(result.name, "s", [], error=f"it {refusal}")
    return FoundBenchmark(
        result.name,
        "s",
        [list(result.data)],
        params=facts(**(entry.get("params") or {})),
        seconds=float(sum(result.data)) * result.iterations,
    )


PYTEST_BENCHMARK = Format("pytest-benchmark", "pytest-benchmark", _recognises, _read)
