"""The log of Swift's Benchmark_O --verbose: the samples of one process, or of several, one after the other."""

from __future__ import annotations

import re

from steelyard.model.errors import LaunchError
from steelyard.model.grouping import grouped
from steelyard.subjects.adapters.swift import SwiftResult, results_in
from steelyard.subjects.formats.contents import Contents, Format, FoundBenchmark, Opened

_BEGIN = "--- DATA ---"
_RUNNING = re.compile(r"^Running \S", re.MULTILINE)
_SAMPLE = "\n    Sample 0,"
_END = re.compile(r"^Total(?:s,| performance tests executed:)", re.MULTILINE)


def _recognises(opened: Opened) -> bool:
    running = _RUNNING.search(opened.text) if opened.json is None else None
    return running is not None and _SAMPLE in opened.text[running.end() :]


def _read(opened: Opened) -> Contents:
    _, *processes = opened.text.split(_BEGIN)
    if not processes:
        raise LaunchError(f"printed no line {_BEGIN}: was it Benchmark_O, with --verbose?")
    for text in processes:
        if not _END.search(text):
            raise LaunchError("did not come to its end, or its log was cut: the line of the totals is missing")
    results = [result for text in processes for result in _results(text)]
    return Contents([_benchmark(name, group) for name, group in grouped(results, lambda result: result.name).items()])


def _results(text: str) -> list[SwiftResult]:
    results = results_in(text)
    for name, group in grouped(results, lambda result: result.name).items():
        if len(group) > 1:
            raise LaunchError(f"ran {name} {len(group)} times in one process: each benchmark needs a name of its own")
    return results


def _benchmark(name: str, results: list[SwiftResult]) -> FoundBenchmark:
    values = [[float(us) for us in result.samples_us] for result in results]
    micros = sum(result.loops * sum(samples) for result, samples in zip(results, values, strict=True))
    error = "" if all(values) else "it has no samples"
    return FoundBenchmark(name, "us", values, seconds=micros / 1e6, error=error)


SWIFT = Format("swift", "Benchmark_O", _recognises, _read)
