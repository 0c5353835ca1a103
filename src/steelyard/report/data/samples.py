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
from steelyard.model.rows import DISTURBED, ROLES
from steelyard.model.samples import concatenated as bits
from steelyard.model.sides import side_names
from steelyard.report.data.table import (
    Column,
    Table,
    booleans,
    concatenated,
    numbers,
    repeated_text,
    texts,
    unknown_numbers,
    whole_numbers,
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
    "judged": "whether a verdict may rest on it: no warm-up, not the first of several samples, its pair complete, no "
    "count set aside",
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
    parts = list(_launch_tables(record)) + list(_count_tables(record, judged_counts)) + list(_heap_tables(record))
    return concatenated(parts) if parts else _table(0, {})


def of_foreign(record: ForeignResults) -> Table:
    """Return the rows of an import: one per sample, in the order of benchmarks and processes."""
    lengths = [len(samples) for one in record.benchmarks for samples in one.values]
    processes = [len(one.values) for one in record.benchmarks]
    samples = np.array([sum(map(len, one.values)) for one in record.benchmarks])
    rows = int(samples.sum())
    process_numbers = np.concatenate([np.arange(count) for count in processes])
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)

    def repeated(values: Sequence[str | None]) -> Column:
        column = texts(values)
        return Column(np.repeat(column.values, samples), column.names)

    return _table(
        rows,
        {
            "benchmark": repeated([one.name for one in record.benchmarks]),
            "params": repeated([_params(one.params) for one in record.benchmarks]),
            "instrument": repeated_text(record.provenance.tool, rows),
            "level": repeated_text("sample", rows),
            "launch": whole_numbers(np.repeat(process_numbers, lengths)),
            "sample": whole_numbers(np.arange(rows) - starts),
            "metric": repeated_text("value", rows),
            "unit": repeated([one.unit for one in record.benchmarks]),
            "higher_is_better": booleans(np.repeat([one.higher_is_better for one in record.benchmarks], samples)),
            "value": numbers(np.frombuffer(bits(chain.from_iterable(one.values for one in record.benchmarks)))),
        },
    )


# --- what was timed


def _launch_tables(record: Weighing | Run) -> Iterator[Table]:
    launches = record.launches
    if not len(launches):
        return
    if not launches.samples:
        yield from _command_tables(record)
        return
    yield from _sample_tables(record)
    for metric in timed(METRICS):
        if metric not in PER_ITERATION:
            known = np.flatnonzero(~np.isnan(values := launches.metric(metric)))
            yield _timed_table(record, known, metric, {"value": numbers(values[known])}, level="launch")


def _command_tables(record: Weighing | Run) -> Iterator[Table]:
    """Yield the values of a command's launches; of a launch with several processes one after the other, their mean."""
    launches, repeat = record.launches, record.settings.repeat
    for metric in timed(METRICS):
        values = of_one_process(launches.metric(metric), metric, repeat)
        known = np.flatnonzero(~np.isnan(values))
        columns = {"value": numbers(values[known]), "sample": whole_numbers(np.zeros(len(known)))}
        if repeat > 1 and METRICS[metric].unit != "bytes":
            columns["loops"] = whole_numbers(np.full(len(known), repeat))
        yield _timed_table(record, known, metric, columns)


def _sample_tables(record: Weighing | Run) -> Iterator[Table]:
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
        yield _timed_table(
            record,
            places[known],
            metric,
            {
                "value": numbers(times[known] / loops[known]),
                "sample": whole_numbers(sample[known]),
                "loops": whole_numbers(loops[known]),
            },
            never_judged=first_of_several[known],
        )


def _timed_table(
    record: Weighing | Run,
    positions: _Positions,
    metric: str,
    columns: Mapping[str, Column],
    *,
    level: str = "sample",
    never_judged: npt.NDArray[np.bool_] | None = None,
) -> Table:
    """Return the rows of one metric; `positions` are their launches, `never_judged` says which rows are not judged."""
    launches, rows = record.launches, len(positions)
    role = _column(launches, "role", positions)
    judged = launches.can_be_judged(len(side_names(record)))[positions]
    return _table(
        rows,
        {
            **_side_columns(record, _column(launches, "benchmark", positions), _column(launches, "side", positions)),
            "instrument": repeated_text(_TIMER, rows),
            "level": repeated_text(level, rows),
            "launch": whole_numbers(positions),
            "pair": whole_numbers(_column(launches, "pair", positions)),
            "order": whole_numbers(_column(launches, "order", positions)),
            "layout": whole_numbers(_column(launches, "layout", positions)),
            "role": Column(role.astype(np.int32), ROLES),
            "metric": repeated_text(metric, rows),
            "unit": repeated_text(METRICS[metric].unit, rows),
            "judged": booleans(judged if never_judged is None else judged & ~never_judged),
            "start_ns": whole_numbers(_column(launches, "start_ns", positions)),
            "waiting": numbers(launches.waiting_share()[positions]),
            "disturbed": booleans(role == ROLES.index(DISTURBED)),
            **columns,
        },
    )


def _column(launches: Launches, name: str, positions: _Positions) -> npt.NDArray[np.int64]:
    return np.asarray(getattr(launches, name), dtype=np.int64)[positions]


# --- what was counted, and what was seen of the heap


def _count_tables(record: Weighing | Run, are_judged: Sequence[bool]) -> Iterator[Table]:
    counting = record.counting
    if counting is None:
        return
    weights = record.settings.counting.weights if record.settings.counting else Weights()
    values = [
        (number, count, metric, value)
        for number, count in enumerate(counting.counts)
        for metric, value in _events(count, weights).items()
    ]
    loops = [_iterations(record, count.benchmark) for _, count, _, _ in values]
    yield _launch_rows(
        record,
        _VALGRIND,
        [(count.benchmark, count.side) for _, count, _, _ in values],
        {
            "launch": whole_numbers([number for number, _, _, _ in values]),
            "loops": whole_numbers(loops),
            "metric": texts([metric for _, _, metric, _ in values]),
            "unit": repeated_text("count", len(values)),
            "value": numbers(
                [value / (loops_of_count or 1) for (_, _, _, value), loops_of_count in zip(values, loops, strict=True)]
            ),
            "judged": booleans([are_judged[number] for number, _, _, _ in values]),
        },
    )
    yield from (_function_table(record, one) for one in counting.functions)


def _events(count: Count, weights: Weights) -> dict[str, float]:
    """Return a launch's counts: instructions, Valgrind's other events, and the cost metrics if they are known."""
    found: dict[str, float] = {"instructions" if name == INSTRUCTIONS else name: n for name, n in count.events.items()}
    if all(name in count.events for name in cost.EVENTS):
        found |= cost.hit_metrics(count.events, weights.l1, weights.ll, weights.ram)
    return found


def _iterations(record: Weighing | Run, benchmark: int) -> int | None:
    """Return how many iterations a harness's count covers; None for a command, whose counts cover the launch."""
    return record.benchmarks[benchmark].loops if record.settings.harness is not None else None


def _function_table(record: Weighing | Run, functions: Functions) -> Table:
    events: dict[str, Sequence[int]] = dict(functions.events)
    if functions.inclusive is not None:
        events["inclusive"] = functions.inclusive
    number = len(functions.name)
    names = ["instructions" if name == INSTRUCTIONS else name for name in events]
    rows = number * len(events)
    return _launch_rows(
        record,
        _VALGRIND,
        [(functions.benchmark, functions.side)] * rows,
        {
            "level": repeated_text("function", rows),
            **{
                column: texts([text or None for text in values] * len(events))
                for column, values in (
                    ("function", functions.name),
                    ("file", functions.file),
                    ("object", functions.object),
                )
            },
            "metric": texts([name for name in names for _ in range(number)]),
            "unit": repeated_text("count", rows),
            "value": numbers([float(value) for values in events.values() for value in values]),
        },
    )


def _heap_tables(record: Weighing | Run) -> Iterator[Table]:
    if record.heap is None:
        return
    values = [
        (number, launch, metric, value)
        for number, launch in enumerate(record.heap.launches)
        for metric, value in launch.use.model_dump().items()
        if value is not None
    ]
    yield _launch_rows(
        record,
        _HEAP,
        [(launch.benchmark, launch.side) for _, launch, _, _ in values],
        {
            "launch": whole_numbers([number for number, _, _, _ in values]),
            "metric": texts([metric for _, _, metric, _ in values]),
            "unit": texts([_HEAP_UNITS.get(metric, "count") for _, _, metric, _ in values]),
            "value": numbers([float(value) for _, _, _, value in values]),
        },
    )


def _launch_rows(
    record: Weighing | Run,
    instrument: str,
    benchmarks_and_sides: Sequence[tuple[int, int]],
    columns: Mapping[str, Column],
) -> Table:
    """Return rows that each concern one launch (or a function in it) of a benchmark and side."""
    benchmarks, sides = np.array(benchmarks_and_sides, dtype=np.int64).reshape(-1, 2).T
    return _table(
        len(benchmarks_and_sides),
        {
            **_side_columns(record, benchmarks, sides),
            "instrument": repeated_text(instrument, len(benchmarks_and_sides)),
            "level": repeated_text("launch", len(benchmarks_and_sides)),
            **columns,
        },
    )


# --- what rows have in common


def _side_columns(
    record: Weighing | Run, benchmarks: npt.NDArray[np.int64], sides: npt.NDArray[np.int64]
) -> dict[str, Column]:
    """Return the columns that identify what a row is about."""
    benchmarks_of_record = record.benchmarks
    subjects = np.array([[one.baseline, one.candidate] for one in benchmarks_of_record]).reshape(-1, 2)
    names = side_names(record)
    of_subjects = texts([one.name for one in record.subjects])
    subject_of_row = subjects[benchmarks, sides] if isinstance(record, Weighing) else np.zeros_like(benchmarks)
    return {
        "benchmark": _picked_rows(texts([one.name for one in benchmarks_of_record]), benchmarks),
        "params": _picked_rows(texts([_params(one.params) for one in benchmarks_of_record]), benchmarks),
        "tags": _picked_rows(texts([", ".join(one.tags) or None for one in benchmarks_of_record]), benchmarks),
        "control": booleans(np.array([one.control for one in benchmarks_of_record], dtype=np.bool_)[benchmarks]),
        "side": Column(sides.astype(np.int32), tuple(names)),
        "subject": _picked_rows(of_subjects, subject_of_row),
        "higher_is_better": booleans(np.zeros(len(benchmarks))),
    }


def _picked_rows(column: Column, places: npt.NDArray[np.int64]) -> Column:
    return Column(column.values[places], column.names)


def _params(params: Mapping[str, str]) -> str | None:
    return json.dumps(dict(params), ensure_ascii=False) if params else None


_EMPTY_COLUMNS: Mapping[str, Any] = {
    **dict.fromkeys(("launch", "pair", "order", "layout", "sample", "loops", "start_ns"), unknown_numbers),
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
            name: columns[name]
            if name in columns
            else _EMPTY_COLUMNS.get(name, lambda count: repeated_text(None, count))(rows)
            for name in COLUMNS
        }
    )
