from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

from steelyard.machine.counted import read_counted, read_timer
from tests.machine.trees import made

INTERRUPTS = """\
           CPU0       CPU2
  0:         30          0   IO-APIC   2-edge      timer
LOC:       1000       2000   Local timer interrupts
ERR:          7
"""


def test_interrupts_are_added_up_by_processor(tmp_path: Path) -> None:
    assert read_counted(made(tmp_path, {"proc/interrupts": INTERRUPTS})).interrupts == {0: 1030, 2: 2000}


def test_ticks_are_those_of_all_processors(tmp_path: Path) -> None:
    found = read_counted(made(tmp_path, {"proc/stat": "cpu  10 0 5 80 0 1 1 3 0 0\ncpu0 1\n"}))
    assert (found.ticks["steal"], sum(found.ticks.values())) == (3, 100)


def test_what_the_system_does_not_tell_is_left_out(tmp_path: Path) -> None:
    found = read_counted(made(tmp_path, {"proc/interrupts": "nonsense\n1: x\n"}))
    assert (found.interrupts, found.ticks) == ({}, {})


def ticking(step: int, each: int) -> Callable[[], int]:
    """Return a clock that moves by whole steps; each reading takes `each`."""
    readings = count(0, each)
    return lambda: next(readings) // step * step


def test_the_step_and_the_cost_of_a_fine_clock() -> None:
    timer = read_timer(ticking(step=1, each=40))
    assert (timer.step_ns, timer.cost_ns) == (40, 40)


def test_a_coarse_clock_shows_its_step_and_its_cost() -> None:
    timer = read_timer(ticking(step=1_000_000, each=500))
    assert timer.step_ns == 1_000_000
    assert 450 < timer.cost_ns <= 500


def test_a_clock_that_stands_has_no_step() -> None:
    assert read_timer(lambda: 5).step_ns == 0
