"""The long table: a row per sample and metric, of what was timed, counted, watched or imported."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from steelyard.model.counting import INSTRUCTIONS, Count, Functions, Weights
from steelyard.model.foreign import ForeignResults
from steelyard.model.launches import Launches
from steelyard.model.metrics import METRICS, PER_ITERATION, of_one_process, timed
from steelyard.model.records import Run, Weighing
from steelyard.model.rows import DISTURBED, ROLES, USED
from steelyard.model.samples import concatenated as bits
from steelyard.model.sides import side_names
from steelyard.model.subject import Benchmark
from steelyard.report.data.table import (
    Column,
    Table,
    joined,
    no_number,
    numbers,
    text_of_all,
    texts,
    truths,
    whole,
)
from steelyard.stats import cost

COLUMNS: Mapping[str, str] = {
    "benchmark": "its name",
    "params": "values of its parameters, as a JSON object",
    "tags": "with commas between them",
    "control": "whether it is the baseline against itself",
    "side": "baseline or candidate; subject where there is but one",
    "subject": "the name of the side's subject",
    "instrument": "what measured: timer, valgrind, heap, or the tool whose results were imported",
    "level": "what the value is of: a sample, a launch or, of counts, a function",
    "launch": "number of the launch (of an import: process) in the record, from 0, for each instrument",
    "pair": "number of the pair within its benchmark",
    "order": "0 ran first in its pair, 1 second; 2 and 3 ran at once",
    "layout": "build variant, from 1; 0 where there is but one",
    "role": "warm-up, used, disturbed (and repeated) or tried",
    "sample": "number of the sample within its launch, from 0",
    "loops": "iterations, or processes of --repeat, that the value is the mean of",
    "function": "name of the function",
    "file": "its source file",
    "object": "its program or library",
    "metric": "what was measured",
    "unit": "ns, bytes, count; of an import that of its tool",
    "higher_is_better": "the metric's direction",
    "value": "the number, of one iteration where `loops` says of how many",
    "judged": "whether a verdict may rest on it: no warm-up, not the first of several samples, no count set aside",
    "start_ns": "monotonic clock just before the launch, ns",
    "waiting": "share of the launch's elapsed time in which it waited for a processor",
    "disturbed": "whether the pair was measured again because other work disturbed it",
}
"""The table's columns in their order, and what each one holds."""

_TIMER, _VALGRIND, _HEAP = "timer", "valgrind", "heap"
_HEAP_UNITS = {"bytes": "bytes", "peak_bytes": "bytes", "allocator_ns": "ns"}
_Positions = npt.NDArray[np.intp]


def of_measured(record: Weighing | Run, judged_counts: Sequence[bool] = ()) -> Table:
    """Return the rows of what Steelyard measured: launches that were timed, then counted, then watched.

    `judged_counts` says for each count whether it is judged.
    """
    parts = list(_of_launches(record)) + list(_of_counts(record, judged_counts)) + list(_of_heap(record))
    return joined(parts) if parts else _table(0, {})


def of_foreign(record: ForeignResults) -> Table:
    """Return the rows of an import: one per sample, in the order of benchmarks and processes."""
    lengths = [len(samples) for one in record.benchmarks for samples in one.values]
    processes = [len(one.values) for one in record.benchmarks]
    samples = np.array([sum(map(len, one.values)) for one in record.benchmarks])
    rows = int(samples.sum())
    of_process = np.concatenate([np.arange(count) for count in processes])
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)

    def each(values: Sequence[str | None]) -> Column:
        column = texts(values)
        return Column(np.repeat(column.values, samples), column.names)

    return _table(
        rows,
        {
            "benchmark": each([one.name for one in record.benchmarks]),
            "params": each([_params(one.params) for one in record.benchmarks]),
            "instrument": text_of_all(record.provenance.tool, rows),
            "level": text_of_all("sample", rows),
            "launch": whole(np.repeat(of_process, lengths)),
            "sample": whole(np.arange(rows) - starts),
            "metric": text_of_all("value", rows),
            "unit": each([one.unit for one in record.benchmarks]),
            "higher_is_better": truths(np.repeat([one.higher_is_better for one in record.benchmarks], samples)),
            "value": numbers(np.frombuffer(bits(chain.from_iterable(one.values for one in record.benchmarks)))),
        },
    )


# --- what was timed


def _of_launches(record: Weighing | Run) -> Iterator[Table]:
    launches = record.launches
    if not len(launches):
        return
    if not launches.samples:
        yield from _of_commands(record)
        return
    yield from _of_samples(record)
    for metric in timed([*METRICS]):
        if metric not in PER_ITERATION:
            known = np.flatnonzero(~np.isnan(values := launches.metric(metric)))
            yield _timed(record, known, metric, {"value": numbers(values[known])}, level="launch")


def _of_commands(record: Weighing | Run) -> Iterator[Table]:
    """Yield the values of a command's launches; of a launch with several processes one after the other, their mean."""
    launches, repeat = record.launches, record.settings.repeat
    for metric in timed([*METRICS]):
        values = of_one_process(launches.metric(metric), metric, repeat)
        known = np.flatnonzero(~np.isnan(values))
        told = {"value": numbers(values[known]), "sample": whole(np.zeros(len(known)))}
        if repeat > 1 and METRICS[metric].unit != "bytes":
            told["loops"] = whole(np.full(len(known), repeat))
        yield _timed(record, known, metric, told)


def _of_samples(record: Weighing | Run) -> Iterator[Table]:
    """Yield the values of the samples that a harness reported, per iteration."""
    launches = record.launches
    lengths = np.array([len(one) for one in launches.samples])
    places, flat = np.repeat(np.arange(len(lengths)), lengths), list(chain.from_iterable(launches.samples))
    sample = np.arange(len(flat)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    loops, ns, cpu_ns, delay_ns = (
        np.array([one[number] for one in flat], dtype=np.float64) if flat else np.zeros(0) for number in range(4)
    )
    # In launches that ran at the same time, samples have a wall time of their own only if they took turns.
    ns_apart = np.where((launches.in_tandem() & np.isnan(launches.metric("wall")))[places], np.nan, ns)
    first_of_several = (sample == 0) & (lengths[places] > 1)
    for metric, times in (("wall", ns_apart), ("cpu", cpu_ns), ("active", ns - delay_ns)):
        known = np.flatnonzero(~np.isnan(times))
        yield _timed(
            record,
            places[known],
            metric,
            {
                "value": numbers(times[known] / loops[known]),
                "sample": whole(sample[known]),
                "loops": whole(loops[known]),
            },
            passed_over=first_of_several[known],
        )


def _timed(
    record: Weighing | Run,
    positions: _Positions,
    metric: str,
    columns: Mapping[str, Column],
    *,
    level: str = "sample",
    passed_over: npt.NDArray[np.bool_] | None = None,
) -> Table:
    """Return the rows of one metric; `positions` are their launches, `passed_over` the rows that are never judged."""
    launches, rows = record.launches, len(positions)
    role = _column(launches, "role", positions)
    judged = role == ROLES.index(USED)
    return _table(
        rows,
        {
            **_of_sides(record, _column(launches, "benchmark", positions), _column(launches, "side", positions)),
            "instrument": text_of_all(_TIMER, rows),
            "level": text_of_all(level, rows),
            "launch": whole(positions),
            "pair": whole(_column(launches, "pair", positions)),
            "order": whole(_column(launches, "order", positions)),
            "layout": whole(_column(launches, "layout", positions)),
            "role": Column(role.astype(np.int32), ROLES),
            "metric": text_of_all(metric, rows),
            "unit": text_of_all(METRICS[metric].unit, rows),
            "judged": truths(judged if passed_over is None else judged & ~passed_over),
            "start_ns": whole(_column(launches, "start_ns", positions)),
            "waiting": numbers(launches.waiting_share()[positions]),
            "disturbed": truths(role == ROLES.index(DISTURBED)),
            **columns,
        },
    )


def _column(launches: Launches, name: str, positions: _Positions) -> npt.NDArray[np.int64]:
    return np.asarray(getattr(launches, name), dtype=np.int64)[positions]


# --- what was counted, and what was seen of the heap


def _of_counts(record: Weighing | Run, are_judged: Sequence[bool]) -> Iterator[Table]:
    counting = record.counting
    if counting is None:
        return
    weights = record.settings.counting.weights if record.settings.counting else Weights()
    told = [
        (number, count, metric, value)
        for number, count in enumerate(counting.counts)
        for metric, value in _events(count, weights).items()
    ]
    loops = [_iterations(record, count.benchmark) for _, count, _, _ in told]
    yield _whole_launches(
        record,
        _VALGRIND,
        [(count.benchmark, count.side) for _, count, _, _ in told],
        {
            "launch": whole([number for number, _, _, _ in told]),
            "loops": whole(loops),
            "metric": texts([metric for _, _, metric, _ in told]),
            "unit": text_of_all("count", len(told)),
            "value": numbers([value / (each or 1) for (_, _, _, value), each in zip(told, loops, strict=True)]),
            "judged": truths([are_judged[number] for number, _, _, _ in told]),
        },
    )
    yield from (_of_functions(record, one) for one in counting.functions)


def _events(count: Count, weights: Weights) -> dict[str, float]:
    """Return a launch's counts: instructions, Valgrind's other events, and the cost metrics if they are known."""
    found: dict[str, float] = {"instructions" if name == INSTRUCTIONS else name: n for name, n in count.events.items()}
    if all(name in count.events for name in cost.EVENTS):
        found |= cost.hit_metrics(count.events, weights.l1, weights.ll, weights.ram)
    return found


def _iterations(record: Weighing | Run, benchmark: int) -> int | None:
    """Return how many iterations a harness's count covers; None for a command, whose counts cover the launch."""
    return record.benchmarks[benchmark].loops if record.settings.harness is not None else None


def _of_functions(record: Weighing | Run, functions: Functions) -> Table:
    events: dict[str, Sequence[int]] = dict(functions.events)
    if functions.inclusive is not None:
        events["inclusive"] = functions.inclusive
    number = len(functions.name)
    names = ["instructions" if name == INSTRUCTIONS else name for name in events]
    return _whole_launches(
        record,
        _VALGRIND,
        [(functions.benchmark, functions.side)] * (number * len(events)),
        {
            "level": text_of_all("function", number * len(events)),
            **{
                column: texts([told or None for told in values] * len(events))
                for column, values in (
                    ("function", functions.name),
                    ("file", functions.file),
                    ("object", functions.object),
                )
            },
            "metric": texts([name for name in names for _ in range(number)]),
            "unit": text_of_all("count", number * len(events)),
            "value": numbers([float(value) for values in events.values() for value in values]),
        },
    )


def _of_heap(record: Weighing | Run) -> Iterator[Table]:
    if record.heap is None:
        return
    told = [
        (number, one, metric, value)
        for number, one in enumerate(record.heap.launches)
        for metric, value in one.use.model_dump().items()
        if value is not None
    ]
    yield _whole_launches(
        record,
        _HEAP,
        [(one.benchmark, one.side) for _, one, _, _ in told],
        {
            "launch": whole([number for number, _, _, _ in told]),
            "metric": texts([metric for _, _, metric, _ in told]),
            "unit": texts([_HEAP_UNITS.get(metric, "count") for _, _, metric, _ in told]),
            "value": numbers([float(value) for _, _, _, value in told]),
        },
    )


def _whole_launches(
    record: Weighing | Run, instrument: str, places: Sequence[tuple[int, int]], columns: Mapping[str, Column]
) -> Table:
    """Return rows that each concern one launch (or a function in it) of a benchmark and side."""
    benchmarks, sides = (np.array([place[number] for place in places], dtype=np.int64) for number in range(2))
    return _table(
        len(places),
        {
            **_of_sides(record, benchmarks, sides),
            "instrument": text_of_all(instrument, len(places)),
            "level": text_of_all("launch", len(places)),
            **columns,
        },
    )


# --- what rows have in common


def _of_sides(
    record: Weighing | Run, benchmarks: npt.NDArray[np.int64], sides: npt.NDArray[np.int64]
) -> dict[str, Column]:
    """Return the columns that identify what a row is about."""
    told = record.benchmarks
    subjects = np.array([[one.baseline, one.candidate] for one in told]).reshape(-1, 2)
    names = side_names(record)
    of_subjects = texts([one.name for one in record.subjects])
    picked = subjects[benchmarks, sides] if isinstance(record, Weighing) else np.zeros_like(benchmarks)
    return {
        "benchmark": _picked(texts([one.name for one in told]), benchmarks),
        "params": _picked(texts([_params(one.params) for one in told]), benchmarks),
        "tags": _picked(texts([_tags(one) for one in told]), benchmarks),
        "control": truths(np.array([one.control for one in told], dtype=np.bool_)[benchmarks]),
        "side": Column(sides.astype(np.int32), tuple(names)),
        "subject": _picked(of_subjects, picked),
        "higher_is_better": truths(np.zeros(len(benchmarks))),
    }


def _picked(column: Column, places: npt.NDArray[np.int64]) -> Column:
    return Column(column.values[places], column.names)


def _params(params: Mapping[str, str]) -> str | None:
    return json.dumps(dict(params), ensure_ascii=False) if params else None


def _tags(benchmark: Benchmark) -> str | None:
    return ", ".join(benchmark.tags) or None


_EMPTY: Mapping[str, Any] = {
    **dict.fromkeys(("launch", "pair", "order", "layout", "sample", "loops", "start_ns"), no_number),
    **dict.fromkeys(("value", "waiting"), lambda rows: numbers(np.full(rows, np.nan))),
    **dict.fromkeys(
        ("control", "higher_is_better", "judged", "disturbed"),
        lambda rows: Column(np.zeros(rows, dtype=np.bool_), missing=np.ones(rows, dtype=np.bool_)),
    ),
}


def _table(rows: int, columns: Mapping[str, Column]) -> Table:
    """Return a table of all columns in their order; columns that are not given are empty."""
    return Table(
        {
            name: columns[name] if name in columns else _EMPTY.get(name, lambda count: text_of_all(None, count))(rows)
            for name in COLUMNS
        }
    )
