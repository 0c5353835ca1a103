"""JMH's -rf json: a fork is a process, its iterations are samples. For throughput, higher is better."""

from __future__ import annotations

import json
import re
from typing import Any

from steelyard.subjects.adapters.jmh import Result, results_of_json
from steelyard.subjects.formats.contents import Contents, Format, FoundBenchmark, Opened, facts, text

_PLAIN, _THROUGHPUT = "avgt", "thrpt"
_TIME = re.compile(r"([0-9]+) (ns|us|ms|s|m|min|hr)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "hr": 3600.0}

_HISTOGRAM = "its mode keeps a histogram, and not the iterations, as -bm avgt would"


def _recognises(opened: Opened) -> bool:
    results = opened.json
    return (
        isinstance(results, list) and bool(results) and isinstance(results[0], dict) and "primaryMetric" in results[0]
    )


def _read(opened: Opened) -> Contents:
    # JMH's sampling mode keeps a histogram instead; the file's other benchmarks can be imported all the same.
    entries = [{**entry, "primaryMetric": {"rawData": [], **entry["primaryMetric"]}} for entry in opened.json]
    first = entries[0] if entries else {}
    results = results_of_json(entries, lambda: json.dumps(entries))
    return Contents(
        [_benchmark(*pair) for pair in zip(results, entries, strict=True)],
        version=text(first.get("jmhVersion")),
        machine=facts(jdk=first.get("jdkVersion"), vm=first.get("vmName"), **{"vm version": first.get("vmVersion")}),
    )


def _benchmark(result: Result, entry: dict[str, Any]) -> FoundBenchmark:
    forks = [list(fork) for fork in entry["primaryMetric"]["rawData"]]
    return FoundBenchmark(
        # A benchmark may be measured in several modes.
        result.name if result.mode == _PLAIN else f"{result.name} [{result.mode}]",
        result.unit,
        forks,
        higher_is_better=result.mode == _THROUGHPUT,
        params=facts(**(entry.get("params") or {})),
        seconds=_seconds(entry, sum(map(len, forks))),
        error=_HISTOGRAM if "rawDataHistogram" in entry["primaryMetric"] else "",
    )


def _seconds(entry: dict[str, Any], iterations: int) -> float | None:
    """Return how long the iterations took: each as long as it was told to; None for other modes, as single shots."""
    time = _TIME.fullmatch(str(entry.get("measurementTime")))
    if entry["mode"] not in (_PLAIN, _THROUGHPUT) or not time:
        return None
    return iterations * int(time[1]) * _SECONDS[time[2]]


JMH = Format("jmh", "JMH", _recognises, _read)
