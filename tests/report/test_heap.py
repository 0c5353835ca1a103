"""The heap as printed: of a run, of a weighing, of several benchmarks, on a narrow screen."""

from __future__ import annotations

from typing import Any

import pytest
from rich.cells import cell_len

from steelyard.model.heap import Heap, HeapLaunch, HeapUse
from steelyard.model.records import Run, Weighing
from steelyard.report import heap, terminal
from steelyard.report.sheet import Sheet
from tests.report.records import SLOWER, on_screen, weighing


def launch(side: int = 0, benchmark: int = 0, cpu_ns: int = 10_000_000, **changes: Any) -> HeapLaunch:
    numbers = {"allocations": 1000, "frees": 900, "reallocations": 5, "bytes": 2_000_000, "peak_bytes": 1 << 20}
    use = HeapUse(**{**numbers, "allocator_ns": 2_000_000, **changes})
    return HeapLaunch(benchmark=benchmark, side=side, use=use, wall_ns=12_000_000, cpu_ns=cpu_ns)


def watched(*launches: HeapLaunch, **options: Any) -> Weighing:
    return weighing(**options).model_copy(update={"heap": Heap(launches=list(launches))})


def shown(record: Weighing | Run, width: int = 100) -> list[str]:
    lines = on_screen(lambda console: heap.show(Sheet(console), record), width).splitlines()
    assert all(cell_len(line) <= width for line in lines)
    return lines


def test_both_sides_stand_beside_each_other() -> None:
    candidate = launch(1, allocations=1100, allocator_ns=2_500_000, peak_bytes=1 << 19)
    lines = [line.split() for line in shown(watched(launch(), candidate))]
    assert ["baseline", "candidate", "change"] in lines
    assert ["allocations", "1,000", "1,100", "+10.0", "%"] in lines
    assert ["bytes", "1.907", "MiB", "1.907", "MiB", "none"] in lines
    assert ["peak", "1.000", "MiB", "512.0", "KiB", "-50.0", "%"] in lines
    assert ["time", "in", "it", "20", "%", "25", "%", "+5.0", "points"] in lines


def test_launches_that_differ_are_a_range() -> None:
    record = watched(launch(), launch(allocations=1200), launch(1), launch(1))
    lines = [line.split() for line in shown(record)]
    assert ["allocations", "1,000", "to", "1,200", "1,000", "-9.09", "%"] in lines


def test_what_is_not_known_is_said() -> None:
    record = watched(launch(allocator_ns=None), launch(1, cpu_ns=0))
    assert [line.split() for line in shown(record)][-2] == ["time", "in", "it", "n/a", "n/a", "n/a"]
    one_side = [line.split() for line in shown(watched(launch()))]
    assert ["allocations", "1,000", "n/a", "n/a"] in one_side


def test_several_benchmarks_are_a_line_each() -> None:
    both = [launch(side, benchmark, allocations=1000 + 10 * side) for benchmark in (0, 1) for side in (0, 1)]
    lines = [line.split() for line in shown(watched(*both, benchmarks=("a", "b")))]
    assert ["a", "+1.00", "%", "none", "none", "0.0", "points"] in lines
    assert lines[-2][0] == "b"


def test_of_very_many_benchmarks_the_first_are_printed() -> None:
    names = tuple(f"b{number}" for number in range(203))
    lines = shown(watched(*(launch(side, number) for number in range(203) for side in (0, 1)), benchmarks=names))
    assert sum(line.startswith("b") for line in lines) == 200
    assert "3 more benchmarks: --markdown FILE has all of them" in " ".join(lines)


def test_names_have_all_the_room_that_there_is() -> None:
    both = [launch(side, benchmark) for benchmark in (0, 1) for side in (0, 1)]
    names = (f"BM_sort<std::vector<int>>/{1024:030}/real_time", f"BM_sort<std::vector<int>>/{2048:030}/real_time")
    lines = shown(watched(*both, benchmarks=names), 120)
    assert [line.split()[0] for line in lines[-3:-1]] == list(names)
    narrow = [line.split()[0] for line in shown(watched(*both, benchmarks=names), 80)[-3:-1]]
    assert narrow[0] != narrow[1]


@pytest.mark.parametrize("width", [8, 30, 49, 60, 80])
def test_a_narrow_screen_has_room(width: int) -> None:
    long = watched(launch(allocations=10**15), launch(allocations=2 * 10**15), launch(1, allocations=10**15))
    text = " ".join(" ".join(shown(long, width)).split())
    if width > 20:
        assert "1,000,000,000,000,000" in text


def test_nothing_is_shown_of_what_was_not_watched() -> None:
    assert shown(weighing()) == []
    assert shown(watched()) == []
    assert heap.markdown(weighing()) == []


def test_a_weighing_shows_it_in_the_terminal_and_in_markdown() -> None:
    record = watched(launch(), launch(1))
    assert "allocations" in on_screen(lambda console: terminal.weighing(console, record, [SLOWER]))
    assert "| <code>sort</code> | allocations | 1,000 | 1,000 | none |" in heap.markdown(record)


def test_a_share_that_hardly_changed_has_no_sign() -> None:
    lines = [line.split() for line in shown(watched(launch(), launch(1, allocator_ns=1_996_000)))]
    assert ["time", "in", "it", "20", "%", "20", "%", "0.0", "points"] in lines
