"""Google Benchmark's JSON, as its compare.py reads it: a repetition per sample."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steelyard.report.data.series import Series


def of_series(series: Sequence[Series], context: Mapping[str, Any]) -> bytes:
    """Return the repetitions of all series, times in ns per iteration; `context` describes the machine.

    If no processor time is known, `cpu_time` repeats `real_time`: readers of such a file need both.
    """
    document = {
        "context": dict(context),
        "benchmarks": [repetition for number, one in enumerate(series) for repetition in _repetitions(one, number)],
    }
    return json.dumps(document, indent=2, allow_nan=False).encode() + b"\n"


def _repetitions(series: Series, family: int) -> Iterator[dict[str, Any]]:
    repetitions = [
        (process.loops, value, cpu)
        for process in series.processes
        for value, cpu in zip(process.values, process.cpu or process.values, strict=True)
    ]
    for number, (loops, value, cpu) in enumerate(repetitions):
        yield {
            "name": series.name,
            "family_index": family,
            "per_family_instance_index": 0,
            "run_name": series.name,
            "run_type": "iteration",
            "repetitions": len(repetitions),
            "repetition_index": number,
            "threads": 1,
            "iterations": loops,
            "real_time": value * 1e9,
            "cpu_time": cpu * 1e9,
            "time_unit": "ns",
        }
