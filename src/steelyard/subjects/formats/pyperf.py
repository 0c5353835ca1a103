"""pyperf's JSON: each of its runs is a process with values of its own."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from operator import mul
from typing import Any

import numpy as np

from steelyard.model.errors import LaunchError
from steelyard.model.foreign import CORES, PROCESSOR
from steelyard.model.grouping import grouped
from steelyard.model.samples import concatenated
from steelyard.subjects.adapters.pyperf import Result, results_of_json
from steelyard.subjects.formats.contents import Contents, Format, FoundBenchmark, Opened, entries, facts, text
from steelyard.subjects.responses import json_of, shown

_UNITS = {"second": "s", "byte": "B", "integer": "count"}
"""What pyperf measures; lower is better for all of it."""


def _recognises(opened: Opened) -> bool:
    benchmarks = entries(opened, "benchmarks")
    return bool(benchmarks) and "runs" in benchmarks[0]


def _read(opened: Opened) -> Contents:
    report = json_of(opened.text, "file of pyperf's results") if opened.json is None else opened.json
    results = results_of_json(report, lambda: opened.text)
    shared = opened.json.get("metadata") or {}
    benchmarks = [{**shared, **(benchmark.get("metadata") or {})} for benchmark in opened.json["benchmarks"]]
    _check_names(benchmarks)
    first = benchmarks[0] if benchmarks else {}
    return Contents(
        [_benchmark(name, runs) for name, runs in grouped(results, lambda result: result.name).items()],
        version=text(first.get("perf_version")),
        measured=_start_date(opened.json["benchmarks"]),
        machine=facts(
            host=first.get("hostname"),
            system=first.get("platform"),
            python=first.get("python_version"),
            **{PROCESSOR: first.get("cpu_model_name"), CORES: first.get("cpu_count")},
        ),
        rest=_without_values(opened.json) if opened.rest is None else opened.rest,
    )


def _without_values(report: dict[str, Any]) -> bytes:
    """Return the file as JSON, with the values of each run replaced by their number; modifies `report`.

    It is formatted as pyperf formats it, and as the reader of large files leaves it.
    """
    for benchmark in report["benchmarks"]:
        for run in benchmark["runs"]:
            if values := run.get("values"):
                run["values"] = len(values)
    return json.dumps(report, separators=(",", ":")).encode()


def _check_names(benchmarks: list[dict[str, Any]]) -> None:
    name, count = (
        Counter(str(benchmark.get("name")) for benchmark in benchmarks).most_common(1)[0] if benchmarks else ("", 0)
    )
    if count > 1:
        raise LaunchError(f"wrote {shown(name)} twice: each benchmark needs a name of its own")


def _benchmark(name: str, results: list[Result]) -> FoundBenchmark:
    units = {result.unit for result in results}
    if len(units) > 1 or not units <= _UNITS.keys():
        shown_units = " and ".join(shown(unit) for unit in sorted(units))
        raise LaunchError(f"measured {shown(name)} in {shown_units}, where pyperf has one of {', '.join(_UNITS)}")
    (unit,) = units
    # Runs that only calibrated have no values.
    return FoundBenchmark(name, _UNITS[unit], [result.values for result in results], seconds=_seconds(results, unit))


def _seconds(results: list[Result], unit: str) -> float | None:
    if unit != "second":
        return None
    try:
        return _total(results)
    except TypeError:  # a value is no number
        return None


def _total(results: list[Result]) -> float:
    """Return the sum over all results of their loops times their values."""
    loops, values = [result.loops * result.inner_loops for result in results], [result.values for result in results]
    if not all(isinstance(result, array) for result in values):
        return float(sum(map(mul, loops, map(sum, values))))
    repeated_loops = np.repeat(np.array(loops, dtype=np.float64), list(map(len, values)))
    return float(repeated_loops @ np.frombuffer(concatenated(values)))


def _start_date(benchmarks: list[dict[str, Any]]) -> str:
    dates = (text((run.get("metadata") or {}).get("date")) for benchmark in benchmarks for run in benchmark["runs"])
    return next(filter(None, dates), "")


PYPERF = Format("pyperf", "pyperf", _recognises, _read, reads_packed=True)
