"""The rule about leaks, on given numbers: a difference between two launches, and what is too little to tell."""

from __future__ import annotations

from pathlib import Path

from steelyard.design.check.allocating import KEPT_BLOCKS, judge_leak, measure_benchmark
from steelyard.design.check.gather import CheckedBenchmark
from steelyard.design.runner.runner import Runner
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.soundness import Allocating
from tests.design.checked import ChoosesLoops
from tests.design.scripted import PLAIN, Machine


def allocating(kept: float | None, iterations: int = 1000, note: str = "") -> Allocating:
    return Allocating(
        benchmark="sort", each="iteration", allocations=2.0, bytes=64.0, kept=kept, iterations=iterations, note=note
    )


def test_blocks_that_stay_are_a_leak() -> None:
    assert judge_leak(allocating(1.0)).state == "trouble"
    assert judge_leak(allocating(1.0)).figure == 1.0
    assert "1.00 of 2.00 blocks" in judge_leak(allocating(1.0)).finding


def test_a_buffer_that_grew_is_none() -> None:
    assert judge_leak(allocating(KEPT_BLOCKS)).state == "sound"
    assert judge_leak(allocating(0.0)).state == "sound"
    assert judge_leak(allocating(-0.5)).state == "sound"  # the shorter launch happened to keep more


def test_what_cannot_be_told_is_said() -> None:
    assert judge_leak(allocating(1.0, iterations=3)).state == "untried"
    assert "3 iterations are too few" in judge_leak(allocating(1.0, iterations=3)).finding
    assert "1 iteration is too few" in judge_leak(allocating(1.0, iterations=1)).finding
    assert judge_leak(allocating(None, note="nothing was seen")).finding == "nothing was seen"


def test_of_a_harness_that_chooses_its_loops_nothing_is_told() -> None:
    machine = Machine(lambda *_: PLAIN)
    checked = CheckedBenchmark("sort", lambda _: LaunchSpec(b"it", (b"it",), ()), Runner(machine), ChoosesLoops())
    found = measure_benchmark(checked, Path("it"), 1)
    assert (found.allocations, judge_leak(found).state, machine.specs) == (None, "untried", [])
    assert "chooses itself" in judge_leak(found).finding
