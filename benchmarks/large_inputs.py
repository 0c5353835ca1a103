"""Large files for the benchmarks: results of pyperf, and records of long weighings, written without a measurement.

python benchmarks/large_inputs.py pyperf FILE BENCHMARKS SEED
python benchmarks/large_inputs.py record|run|journal FILE LAUNCHES BENCHMARKS
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from steelyard.machine.facts import read_facts
from steelyard.model.records import Run, Weighing
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark, Subject

IntArray = npt.NDArray[np.int64]

_COMPACT = json.JSONEncoder(separators=(",", ":"))
_CREATED = "2026-01-01T00:00:00+00:00"
# How many rows are formed at once.
_AT_ONCE = 10_000
# 2 % of noise per launch, and 1 % more for the candidate: the sizes of noise and change that the tool is made for.
_NOISE, _CHANGE = 0.02, 0.01


@dataclass(frozen=True)
class Size:
    """How much a pyperf file holds."""

    benchmarks: int = 500
    processes: int = 40
    values: int = 100


def write_pyperf(path: Path, size: Size, seed: int) -> None:
    """Write a file like `pyperf ... -o`, with metadata for each process."""
    generator = np.random.default_rng(seed)
    machine = {"cpu_count": 2, "cpu_model_name": "Benchmark", "hostname": "host", "platform": "Linux"}
    about = {**machine, "perf_version": "2.10.0", "python_version": "3.11.7 (64-bit)", "unit": "second"}
    with path.open("w") as file:
        file.write('{"benchmarks":[')
        for number in range(size.benchmarks):
            level = 0.01 * (1 + number % 7)
            runs = [_process(level * _noise(generator, size.values), process) for process in range(size.processes)]
            benchmark = {"metadata": {"name": f"benchmark_{number}", "loops": 128}, "runs": runs}
            file.write("," * (number > 0) + _COMPACT.encode(benchmark))
        file.write(f'],"metadata":{_COMPACT.encode(about)},"version":"1.0"}}')


def _process(values: npt.NDArray[np.float64], number: int) -> dict[str, Any]:
    about = {
        "date": f"2026-01-01 00:{number:02}:00.123456",
        "duration": float(values.sum() * 128),
        "load_avg_1min": 0.5,
        "mem_max_rss": 18_919_424,
        "runnable_threads": 1,
        "uptime": 11_760.968832492828 + number,
    }
    return {"metadata": about, "values": values.tolist(), "warmups": [[128, float(1.1 * values[0])]]}


def _noise(generator: np.random.Generator, count: int) -> npt.NDArray[np.float64]:
    return np.exp(_NOISE * generator.standard_normal(count))


# --- records


def write_record(path: Path, pairs: int, benchmarks: int = 1) -> None:
    """Write the record of a weighing with so many pairs in all, like `compare --json`."""
    with path.open("w") as file:
        _write_record(file, _header(benchmarks), _columns(pairs, benchmarks))


def write_run(path: Path, launches: int, benchmarks: int = 1) -> None:
    """Write the record of a run, like `run -o`."""
    with path.open("w") as file:
        _write_record(file, _run_header(benchmarks), _columns(launches, benchmarks, sides=1))


def write_journal(path: Path, pairs: int, benchmarks: int = 1) -> None:
    """Write the journal of the weighing whose record `write_record` writes."""
    columns = dict(_columns(pairs, benchmarks))
    header = _header(benchmarks).model_dump(mode="json", exclude={"launches", "derived"})
    with path.open("w") as file:
        file.write(json.dumps(header) + "\n")
        for start in range(0, 2 * pairs, _AT_ONCE):
            parts = [column[start : start + _AT_ONCE] for column in columns.values()]
            lists = [[None] * len(part) if part.dtype == bool else part.tolist() for part in parts]
            file.writelines(f"{_COMPACT.encode((*row, []))}\n" for row in zip(*lists, strict=True))
        file.write(json.dumps({"stop": ["pairs"] * benchmarks, "seconds": pairs * 0.026}) + "\n")


def _write_record(file: IO[str], header: Weighing | Run, columns: Iterator[tuple[str, IntArray]]) -> None:
    fields = header.model_dump(mode="json", exclude={"launches"})
    file.write(json.dumps(fields)[:-1] + ', "launches": {')
    for place, (name, column) in enumerate(columns):
        values = [None] * len(column) if column.dtype == bool else column.tolist()
        file.write(", " * (place > 0) + f'"{name}": {json.dumps(values)}')
    file.write(', "samples": []}}')


def _columns(pairs: int, benchmarks: int, sides: int = 2) -> Iterator[tuple[str, IntArray]]:
    """Each column by its name; one of booleans stands for nulls."""
    generator = np.random.default_rng(1)
    numbers = np.arange(sides * pairs)
    pair, side = numbers // sides, numbers % sides
    wall = (12e6 * np.exp(_NOISE * generator.standard_normal(len(numbers)) + _CHANGE * side)).astype(np.int64)
    yield "benchmark", pair % benchmarks
    yield "pair", pair // benchmarks
    yield "side", side
    yield "order", np.repeat(generator.integers(0, 2, pairs), sides) ^ side
    yield "role", np.ones_like(numbers)
    for name, below in (("hash_seed", 2**32), ("padding_bytes", 4096)):
        yield name, np.repeat(generator.integers(0, below, pairs), sides)
    yield "layout", np.zeros_like(numbers)
    yield "start_ns", 13_000_000 * numbers
    yield "wall_ns", wall
    yield "spawn_ns", generator.integers(90_000, 110_000, len(numbers))
    yield "cpu_ns", wall - generator.integers(0, 90_000, len(numbers))
    yield "delay_ns", generator.integers(0, 90_000, len(numbers))
    yield "timeslices", generator.integers(1, 4, len(numbers))
    yield "user_ns", wall // 1_000 * 900
    yield "sys_ns", wall // 1_000 * 100
    yield "max_rss_bytes", 4096 * generator.integers(400, 420, len(numbers))
    yield "minor_faults", generator.integers(110, 130, len(numbers))
    for name in ("major_faults", "voluntary_switches"):
        yield name, np.zeros_like(numbers)
    yield "involuntary_switches", generator.integers(0, 3, len(numbers))
    for name in ("others_ns", "pressure_ns", "steal_ns", "exit_code"):
        yield name, np.zeros_like(numbers)
    yield "signal", np.ones(len(numbers), dtype=bool)
    yield "overhead_ns", np.zeros_like(numbers)


def _header(benchmarks: int) -> Weighing:
    return Weighing(
        tool="benchmark",
        created=_CREATED,
        machine=read_facts(),
        # No look decides, so that all looks are taken.
        settings=Settings(margin=0.0001, alpha=1e-9, max_time_s=None),
        subjects=[_subject("old"), _subject("new")],
        benchmarks=_names(benchmarks),
        stop=["pairs"] * benchmarks,
        seconds=1000.0,
        launches={},  # type: ignore[arg-type] # none
    )


def _run_header(benchmarks: int) -> Run:
    weighing = _header(benchmarks)
    fields = {
        name: getattr(weighing, name) for name in ("tool", "created", "machine", "settings", "benchmarks", "stop")
    }
    return Run(**fields, subjects=[_subject("old")], seconds=1000.0, launches={})  # type: ignore[arg-type] # none


def _subject(name: str) -> Subject:
    return Subject(name=name, command=name, argv=[name], program=f"/bin/{name}")


def _names(benchmarks: int) -> list[Benchmark]:
    return [Benchmark(name=f"work {number}") for number in range(benchmarks)]


def main(kind: str, file: str, amount: int, other: int) -> None:
    """Write one file: for pyperf with so many benchmarks and a seed, otherwise with so many launches and benchmarks."""
    path = Path(file)
    match kind:
        case "pyperf":
            write_pyperf(path, Size(benchmarks=amount), seed=other)
        case "run":
            write_run(path, amount, other)
        case "record":
            write_record(path, amount // 2, other)
        case "journal":
            write_journal(path, amount // 2, other)
        case _:
            raise SystemExit(f"{kind} is unknown: give pyperf, record, run or journal")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Large files for the benchmarks, written without a measurement.")
    parser.add_argument("kind", help="pyperf, record, run or journal")
    parser.add_argument("file")
    parser.add_argument("amount", type=int, help="of pyperf's file benchmarks, of others launches")
    parser.add_argument("other", type=int, help="of pyperf's file the seed, of others how many benchmarks")
    main(**vars(parser.parse_args()))
