"""Made-up imports, which need no files of other tools."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.model.files import record_bytes
from steelyard.model.foreign import ForeignBenchmark, ForeignFile, ForeignResults, Provenance
from steelyard.model.structs import validated

Values = dict[str, list[list[float]]]

CREATED = "2026-01-01T00:00:00+00:00"


def foreign_results(
    benchmarks: Values,
    *,
    name: str = "a.json",
    format: str = "pyperf",  # noqa: A002
    unit: str = "s",
    higher_is_better: bool = False,
    machine: dict[str, str] | None = None,
    seconds: float | None = 30.0,
) -> ForeignResults:
    """Return an import of these benchmarks."""
    told = repr((name, benchmarks)).encode()
    files = [ForeignFile(name=name, sha256=hashlib.sha256(told).hexdigest())]
    return ForeignResults(
        tool="0",
        created=CREATED,
        provenance=Provenance(format=format, tool=format, files=files),
        machine=machine or {},
        benchmarks=[
            benchmark_of(name=title, unit=unit, higher_is_better=higher_is_better, values=values, seconds=seconds)
            for title, values in benchmarks.items()
        ],
    )


def benchmark_of(**told: Any) -> ForeignBenchmark:
    """Return a validated benchmark from fields as a file has them; its samples are packed."""
    return validated(ForeignBenchmark, told)


def fields_in_file(record: ForeignResults) -> dict[str, Any]:
    """Return the fields in the file of an import."""
    fields: dict[str, Any] = json.loads(b"".join(record_bytes(record, Path("a.json"))))
    return fields


def processes(
    count: int, level: float = 1.0, *, seed: int = 1, noise: float = 0.002, samples: int = 3
) -> list[list[float]]:
    """Return the samples of `count` processes, scattered around a level."""
    chance = np.random.default_rng(seed)
    return [[float(level * np.exp(noise * z)) for z in chance.standard_normal(samples)] for _ in range(count)]


def hyperfine(path: Path, **commands: Sequence[float]) -> Path:
    """Write a file of hyperfine's with the times of these commands, in seconds."""
    results = [
        {"command": name, "times": list(times), "exit_codes": [0] * len(times)} for name, times in commands.items()
    ]
    path.write_text(json.dumps({"results": results}))
    return path
