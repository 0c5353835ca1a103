"""The launches whose heap is watched: how many, in which order, and what is said about those that leave nothing."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from steelyard.design.heap import HeapStage
from steelyard.design.runner.runner import Runner
from steelyard.design.runner.targets import Targets
from steelyard.measure import heap
from steelyard.model.heap import HeapLaunch
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.records import Weighing
from steelyard.model.subject import Benchmark
from tests.design import scripted
from tests.design.scripted import PLAIN, Machine, weighing

FOLDER = heap.FOLDER_NAME + b"="


def leaves(spec: LaunchSpec, allocations: int, asked: int, process: str = "1-0") -> None:
    """Write the file that the library would write, for one thread."""
    folder = next(entry.removeprefix(FOLDER) for entry in spec.env if entry.startswith(FOLDER)).decode()
    header = struct.pack("=8s6q", b"STEELYH1", 1, 0, 0, 20, 0, 0).ljust(128, b"\0")
    slot = struct.pack("=6q24x2q", allocations, 0, 0, asked, asked, asked, 5000, 10).ljust(128, b"\0")
    (Path(folder) / process).write_bytes(header + bytes(128) + slot)


def works(number: int, spec: LaunchSpec) -> Measured:
    leaves(spec, 100 + number, 1000 * (1 + (spec.program == b"candidate")))
    return PLAIN


def stage(
    script: Callable[[int, LaunchSpec], Measured], header: Weighing, interrupted: Callable[[], bool] = lambda: False
) -> tuple[Callable[[], Any], Machine, list[HeapLaunch]]:
    machine, kept = Machine(script), list[HeapLaunch]()
    targets = Targets(scripted.target)
    made = HeapStage(targets, Runner(machine, interrupted), kept.append, lambda _: None)
    return partial(made.run, header), machine, kept


def test_each_side_is_watched_as_often_under_the_same_draws() -> None:
    made, machine, sink = stage(works, weighing(2, heap=3, repeat=4))
    record, error = made()
    assert error is None
    assert record.heap is not None
    assert record.heap.launches == sink
    assert Counter((one.benchmark, one.side) for one in sink) == {(b, s): 3 for b in (0, 1) for s in (0, 1)}
    for first, second in zip(machine.specs[::2], machine.specs[1::2], strict=True):
        assert first.program != second.program
        assert first.env[0] == second.env[0]
        assert (first.repeat, second.repeat) == (1, 1)
    assert len({spec.env[0] for spec in machine.specs}) == 6
    assert record.stop == ["interrupted"] * 2


def test_the_numbers_of_a_launch_are_those_that_it_left() -> None:
    _, error = (made := stage(works, weighing(1, heap=1)))[0]()
    assert error is None
    one = next(launch for launch in made[2] if launch.side == 1)
    assert (one.use.bytes, one.use.peak_bytes, one.use.allocator_ns) == (2000, 2000, 5000)
    assert one.share() == pytest.approx(5000 / (PLAIN.user_ns + PLAIN.sys_ns))


def test_only_what_is_missing_is_watched_again() -> None:
    whole = stage(works, weighing(1, heap=3))[0]()[0]
    assert whole.heap is not None
    begun = whole.model_copy(update={"heap": whole.heap.model_copy(update={"launches": whole.heap.launches[:3]})})
    assert isinstance(begun, Weighing)
    made, machine, _ = stage(works, begun)
    record, _ = made()
    assert len(machine.specs) == 3
    assert record.heap is not None
    assert Counter(one.side for one in record.heap.launches) == {0: 3, 1: 3}


def test_what_is_not_seen_is_said_of_launches_before_a_kill_too() -> None:
    def silent(_: int, spec: LaunchSpec) -> Measured:
        leaves(spec, 0, 0)
        return PLAIN

    whole, _ = stage(silent, weighing(1, heap=1))[0]()
    assert {one.code for one in whole.findings} == {"heap-silent"}
    killed = weighing(1, heap=1).model_copy(update={"heap": whole.heap})
    made, machine, _ = stage(silent, killed)
    assert {*made()[0].findings} == {*whole.findings}
    assert not machine.specs


def test_a_control_is_not_watched() -> None:
    header = weighing(1, heap=1)
    control = Benchmark(name="control", candidate=0, control=True)
    header = header.model_copy(update={"benchmarks": [*header.benchmarks, control], "stop": ["interrupted"] * 2})
    _, machine, _ = made = stage(works, header)
    made[0]()
    assert len(machine.specs) == 2


def test_a_launch_that_leaves_nothing_is_said() -> None:
    record, error = stage(lambda number, spec: PLAIN, weighing(1, heap=3))[0]()  # noqa: ARG005
    assert error is None
    assert record.heap is not None
    assert record.heap.launches == []
    assert [finding.code for finding in record.findings] == ["heap-unseen"] * 2  # once per side


def test_a_launch_that_fails_ends_a_command_and_of_a_harness_its_benchmark() -> None:
    def fails(number: int, spec: LaunchSpec) -> Measured:
        works(number, spec)
        return replace(PLAIN, exit_code=9) if spec.argv[1] == b"0" else PLAIN

    record, error = stage(fails, weighing(2, heap=1))[0]()
    assert error is not None
    assert record.stop == ["failed"] * 2
    record, error = stage(fails, weighing(2, heap=1, harness="protocol"))[0]()
    assert error is None
    assert [finding.code for finding in record.findings] == ["heap-failed"]
    assert record.heap is not None
    assert [one.benchmark for one in record.heap.launches] == [1, 1]


def test_an_interrupt_keeps_what_was_watched() -> None:
    seen: list[int] = []

    def counts(number: int, spec: LaunchSpec) -> Measured:
        seen.append(number)
        return works(number, spec)

    record, error = stage(counts, weighing(1, heap=3), lambda: len(seen) > 2)[0]()
    assert error is None
    assert record.heap is not None
    assert len(record.heap.launches) == 3
    assert record.stop == ["interrupted"]
