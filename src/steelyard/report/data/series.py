"""Values for other tools' files: for each benchmark and side, those of its processes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from steelyard.model.errors import UsageError
from steelyard.model.foreign import ForeignBenchmark, ForeignResults
from steelyard.model.launches import Launches
from steelyard.model.metrics import METRICS, PER_ITERATION, of_one_process, timed
from steelyard.model.placeholders import with_values
from steelyard.model.records import Run, Weighing
from steelyard.model.rows import USED, judged_samples, times_ns
from steelyard.model.sides import SideName
from steelyard.model.subject import Benchmark
from steelyard.model.units import ns_of

_INSTEAD_OF_ACTIVE = ("wall", "cpu")


def machine_facts(record: Weighing | Run, fields: Mapping[str, str]) -> dict[str, Any]:
    """Return facts about the machine, the `fields` of a record by the names of a format.

    Those in which the machines of a merged weighing differ are left out.
    """
    told = {name: {getattr(machine, one) for machine in record.machines} for name, one in fields.items()}
    return {name: values.pop() for name, values in told.items() if len(values) == 1}


@dataclass(frozen=True)
class Process:
    """One process: its values and warm-up values, in the unit of its series, each the mean over `loops`.

    `loops` counts iterations, or processes of --repeat. `cpu` holds the values' processor times in s, if known. `about`
    holds numbers of the launch (times are those of one of its processes), for formats that have a place for them.
    """

    values: Sequence[float]
    warm_up: Sequence[float] = ()
    loops: int = 1
    cpu: Sequence[float] | None = None
    about: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Series:
    """One benchmark on one side."""

    name: str
    unit: Literal["s", "bytes", "count"]
    processes: Sequence[Process]
    params: dict[str, str] = field(default_factory=dict)
    command: str | None = None
    """The command with its parameters' values; None for a benchmark of a harness or an import."""
    side: SideName | None = None


def metric_of(record: Weighing | Run, wanted: str | None, format_: str) -> str:
    """Return the metric to write: `wanted`, or the first that was timed.

    If the first one is `active` and some launches lack it, return the one that most launches have, as for a verdict.
    Raises UsageError if there is no metric that `format_` can hold.
    """
    if wanted is not None and wanted not in METRICS:
        raise UsageError(f"--metric {wanted!r} is not known: choose from {', '.join(timed(METRICS))}")
    timed_metrics = timed(record.settings.metrics if wanted is None else [wanted])
    if wanted is not None and not timed_metrics:
        raise UsageError(f"{format_} holds times, and {wanted} is counted: csv, json-lines and parquet hold it")
    used = record.launches.in_role(USED)
    if timed_metrics and not used.any() and not record.counting and not record.heap:
        raise UsageError(
            f"nothing was timed to its end, so {format_} has nothing to hold: steelyard show says what was in the way"
        )
    if not timed_metrics or not used.any():
        how_measured = "watched" if record.heap and not record.counting else "counted"
        raise UsageError(
            f"{format_} holds what was timed, and this was {how_measured}: csv, json-lines and parquet hold every "
            "record"
        )
    candidates: list[str] = [
        timed_metrics[0],
        *(_INSTEAD_OF_ACTIVE if wanted is None and timed_metrics[0] == "active" else ()),
    ]
    shares = {name: float(np.isfinite(record.launches.metric(name)[used]).mean()) for name in candidates}
    if any(shares.values()):
        return max(candidates, key=lambda name: shares[name])  # the first in a tie
    raise UsageError(
        f"no launch of this record has a value of {candidates[0]}: choose another by --metric, as wall or cpu"
    )


def of_measured(record: Weighing | Run, metric: str, sides: Sequence[SideName]) -> Iterator[Series]:
    """Yield the series of these sides of a measured record, by benchmark and, within each, by side."""
    apart = record.launches.by_benchmark(len(record.benchmarks))
    for benchmark, launches in zip(record.benchmarks, apart, strict=True):
        if benchmark.control:
            continue
        for side in sides if isinstance(record, Weighing) else [None]:
            processes = list(_processes(launches, metric, side, record.settings.repeat))
            if any(process.values for process in processes):
                yield Series(
                    benchmark.name,
                    {"ns": "s", "bytes": "bytes", "count": "count"}[METRICS[metric].unit],  # type: ignore[arg-type]
                    processes,
                    benchmark.params,
                    _command(record, benchmark, side),
                    side,
                )


def _command(record: Weighing | Run, benchmark: Benchmark, side: SideName | None) -> str | None:
    if record.settings.harness is not None:
        return None
    place = 0 if isinstance(record, Run) else benchmark.subject_of(int(side == "candidate"))
    return with_values(record.subjects[place].command, benchmark.params)


def _processes(launches: Launches, metric: str, side: SideName | None, repeat: int) -> Iterator[Process]:
    """Yield a process for each judged launch, in the order in which they ran; a command's has one value."""
    values, cpu = (of_one_process(launches.metric(name), name, repeat) for name in (metric, "cpu"))
    scale = 1e-9 if METRICS[metric].unit == "ns" else 1.0
    is_of_side = np.asarray(launches.side, dtype=np.int64) == int(side == "candidate")
    for position in np.flatnonzero(is_of_side & launches.can_be_judged(1 if side is None else 2)).tolist():
        about = {name: getattr(launches, name)[position] for name in _LAUNCH_FIELDS}
        about |= {name: about[name] / repeat for name in _LAUNCH_FIELDS if name.endswith("_ns")}
        if launches.samples and metric in PER_ITERATION:
            yield from _of_samples(launches.samples[position], metric, about)
        elif not np.isnan(values[position]):
            time = None if np.isnan(cpu[position]) else [float(cpu[position]) * 1e-9]
            yield Process([float(values[position]) * scale], loops=repeat, cpu=time, about=about)


_LAUNCH_FIELDS = ("wall_ns", "user_ns", "sys_ns", "max_rss_bytes", "exit_code", "signal")


def _of_samples(samples: Sequence[Sequence[Any]], metric: str, about: dict[str, Any]) -> Iterator[Process]:
    judged = judged_samples(samples)
    times, cpu = times_ns(judged, metric), times_ns(judged, "cpu")
    if times:
        first = times_ns(samples[: -len(judged)], metric)
        yield Process(_seconds_of(times), _seconds_of(first), judged[0].loops, _seconds_of(cpu) if cpu else None, about)


def _seconds_of(times: Sequence[float]) -> list[float]:
    return [time * 1e-9 for time in times]


def of_foreign(record: ForeignResults, format_: str) -> Iterator[Series]:
    """Yield the series of an import, times in seconds; raise UsageError for a unit that `format_` cannot hold."""
    for benchmark in record.benchmarks:
        scale, unit = _scale_of(benchmark, format_)
        processes = [Process([value * scale for value in values]) for values in benchmark.values]
        yield Series(benchmark.name, unit, processes, benchmark.params)


def _scale_of(benchmark: ForeignBenchmark, format_: str) -> tuple[float, Literal["s", "bytes", "count"]]:
    ns = ns_of(benchmark.unit)
    if ns is not None and not benchmark.higher_is_better:
        return ns / 1e9, "s"
    if format_ == "pyperf" and benchmark.unit in ("B", "count") and not benchmark.higher_is_better:
        return 1.0, "bytes" if benchmark.unit == "B" else "count"
    raise UsageError(
        f"{format_} holds times, and {benchmark.name!r} is in {benchmark.unit}: csv, json-lines and parquet hold "
        "every unit"
    )
