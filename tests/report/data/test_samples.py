from __future__ import annotations

from typing import Any

import pytest

from steelyard.model.counting import Count as Counted
from steelyard.model.counting import Counting, CountTool, Functions
from steelyard.model.heap import Heap, HeapLaunch, HeapUse
from steelyard.model.launches import Launches
from steelyard.model.records import Run, Weighing
from steelyard.model.rows import LaunchRow, Sample
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark
from steelyard.report.data import samples, series
from steelyard.report.data.table import Table
from tests.foreign import foreign_results
from tests.report.records import row, run, weighing

EVENTS = {"Ir": 100, "I1mr": 2, "ILmr": 1, "Dr": 30, "D1mr": 3, "DLmr": 1, "Dw": 20, "D1mw": 2, "DLmw": 1}


def rows(table: Table, **wanted: Any) -> list[dict[str, Any]]:
    every = [dict(zip(table.columns, values, strict=True)) for values in table.rows()]
    return [one for one in every if all(one[name] == value for name, value in wanted.items())]


def with_launches(record: Weighing, *launches: LaunchRow, **update: Any) -> Weighing:
    return record.model_copy(update={"launches": Launches.of_rows(list(launches)), **update})


def test_a_row_for_each_metric_of_each_launch() -> None:
    record = weighing(pairs=4)
    table = samples.of_measured(record)
    assert list(table.columns) == list(samples.COLUMNS)
    for metric in ("active", "wall", "max_rss"):
        found = rows(table, metric=metric)
        assert [one["value"] for one in found] == record.launches.metric(metric).tolist()
        assert [one["launch"] for one in found] == list(range(8))
        assert {one["unit"] for one in found} == {"bytes" if metric == "max_rss" else "ns"}
    first = rows(table, metric="wall", launch=0)[0]
    assert (first["side"], first["subject"], first["pair"]) == ("baseline", "./sort-old data.bin", 0)
    assert (first["sample"], first["loops"], first["judged"], first["disturbed"]) == (0, None, True, False)
    assert first["waiting"] == pytest.approx(10**4 / record.launches.wall_ns[0])


def test_of_repeated_processes_the_mean_is_told_and_how_many_there_were() -> None:
    record = weighing(pairs=4)
    found = samples.of_measured(record.model_copy(update={"settings": Settings(repeat=10)}))
    wall, memory = rows(found, metric="wall"), rows(found, metric="max_rss")
    assert [one["value"] for one in wall] == (record.launches.metric("wall") / 10).tolist()
    assert {one["loops"] for one in wall} == {10}
    assert [one["value"] for one in memory] == record.launches.metric("max_rss").tolist()
    assert {one["loops"] for one in memory} == {None}


def test_what_warmed_up_or_was_disturbed_is_there_and_said_to_be() -> None:
    pairs = [row(2, side, 10**6) for side in (1, 0)]
    record = with_launches(weighing(), row(0, 0, 10**6, role=0), row(1, 1, 10**6, role=2), *pairs)
    found = rows(samples.of_measured(record), metric="wall")
    assert [(one["role"], one["judged"], one["disturbed"]) for one in found] == [
        ("warm-up", False, False),
        ("disturbed", False, True),
        ("used", True, False),
        ("used", True, False),
    ]


def test_a_launch_without_its_partner_is_not_judged() -> None:
    interrupted = with_launches(weighing(), row(0, 0, 10**6), row(0, 1, 10**6), row(1, 1, 10**6))
    assert [one["judged"] for one in rows(samples.of_measured(interrupted), metric="wall")] == [True, True, False]
    written = [len(one.processes) for one in series.of_measured(interrupted, "wall", ("baseline", "candidate"))]
    assert written == [1, 1]


def test_what_is_not_defined_has_no_row() -> None:
    threaded = row(0, 0, 10**7)._replace(others_ns=10**7)
    found = samples.of_measured(with_launches(weighing(), threaded, row(0, 1, 10**7)))
    assert [one["launch"] for one in rows(found, metric="active")] == [1]
    assert len(rows(found, metric="wall")) == 2


def test_samples_of_a_harness_are_of_one_iteration_and_the_first_is_not_judged() -> None:
    told = (Sample(10, 2000, 1500, 100), Sample(10, 1000, 900, 50), Sample(20, 2200, None, None))
    record = with_launches(
        weighing(),
        row(0, 0, 10**6)._replace(samples=told),
        row(0, 1, 10**6)._replace(samples=(Sample(5, 500, 400, 0),)),
        settings=Settings(harness="protocol"),
        benchmarks=[Benchmark(name="a", params={"n": "1", "m": "ü"}, tags=["x", "y"])],
    )
    table = samples.of_measured(record)
    wall = rows(table, metric="wall")
    assert [(one["launch"], one["sample"], one["loops"], one["value"], one["judged"]) for one in wall] == [
        (0, 0, 10, 200.0, False),
        (0, 1, 10, 100.0, True),
        (0, 2, 20, 110.0, True),
        (1, 0, 5, 100.0, True),
    ]
    assert [one["value"] for one in rows(table, metric="active")] == [190.0, 95.0, 100.0]
    assert [one["value"] for one in rows(table, metric="cpu")] == [150.0, 90.0, 80.0]
    assert {(one["params"], one["tags"]) for one in wall} == {('{"n": "1", "m": "ü"}', "x, y")}
    launches = rows(table, metric="max_rss")
    assert [(one["level"], one["sample"]) for one in launches] == [("launch", None)] * 2


def counted_run(loops: int | None = None) -> Run:
    tool = CountTool(tool="cachegrind", version="3", program="/usr/bin/valgrind", flags=[])
    functions = Functions(
        benchmark=0,
        side=0,
        name=["main", "f"],
        file=["a.c", "???"],
        object=["", "/lib/b.so"],
        line=[1, 0],
        events={"Ir": [60, 40]},
    )
    counting = Counting(
        tool=tool, counts=[Counted(benchmark=0, side=0, events=EVENTS, seconds=1.0)], functions=[functions]
    )
    settings = Settings(metrics=["cost"], harness="protocol" if loops else None)
    benchmarks = [Benchmark(name="sort", loops=loops)]
    return run().model_copy(
        update={"launches": Launches(), "counting": counting, "settings": settings, "benchmarks": benchmarks}
    )


@pytest.mark.parametrize("loops", [None, 10])
def test_counts_are_rows_by_metric_and_by_function(loops: int | None) -> None:
    table = samples.of_measured(counted_run(loops), [True])
    assert {one["instrument"] for one in rows(table)} == {"valgrind"}
    by_metric = {one["metric"]: one["value"] * (loops or 1) for one in rows(table, level="launch")}
    assert by_metric["instructions"] == 100
    assert by_metric["l1_hits"] + by_metric["ll_hits"] + by_metric["ram_hits"] == pytest.approx(150)
    assert by_metric["D1mr"] == 3
    assert "Ir" not in by_metric
    functions = [(one["function"], one["file"], one["object"], one["value"]) for one in rows(table, level="function")]
    assert functions == [("main", "a.c", None, 60), ("f", "???", "/lib/b.so", 40)]


def test_the_heap_has_rows_without_times_of_the_launch() -> None:
    use = HeapUse(allocations=5, frees=4, reallocations=1, bytes=99, peak_bytes=50, allocator_ns=None)
    heap = Heap(launches=[HeapLaunch(benchmark=0, side=0, use=use, wall_ns=1, cpu_ns=1)])
    table = samples.of_measured(run().model_copy(update={"launches": Launches(), "heap": heap}))
    found = {one["metric"]: (one["value"], one["unit"]) for one in rows(table, instrument="heap")}
    assert found["peak_bytes"] == (50, "bytes")
    assert found["allocations"] == (5, "count")
    assert not {"wall_ns", "cpu_ns", "allocator_ns"} & found.keys()


def test_an_import_has_a_row_for_each_sample_of_each_process() -> None:
    record = foreign_results({"a": [[1.0, 2.0], [3.0]], "b": [[4.0]]}, unit="ops/s", higher_is_better=True)
    found = rows(samples.of_foreign(record))
    assert [(one["benchmark"], one["launch"], one["sample"], one["value"]) for one in found] == [
        ("a", 0, 0, 1.0),
        ("a", 0, 1, 2.0),
        ("a", 1, 0, 3.0),
        ("b", 0, 0, 4.0),
    ]
    assert {(one["unit"], one["higher_is_better"], one["instrument"]) for one in found} == {("ops/s", True, "pyperf")}


def test_nothing_measured_is_a_table_without_rows() -> None:
    table = samples.of_measured(with_launches(weighing()))
    assert len(table) == 0
    assert list(table.columns) == list(samples.COLUMNS)
    assert list(table.rows()) == []
