"""What the system counts while something is measured, such as interrupts and stolen time; and its clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from statistics import median

from steelyard.machine.interrupts import by_processor
from steelyard.machine.readings import Tree
from steelyard.model.noise import Counted, Timer

_READINGS = 20_000


def read_counted(tree: Tree = Tree()) -> Counted:
    """Return what the system has counted so far."""
    return Counted(interrupts=by_processor(tree), ticks=tree.spent().ticks)


def read_timer(clock: Callable[[], int] = time.monotonic_ns) -> Timer:
    """Return the step of the clock and the cost of a reading, from some milliseconds of readings."""
    readings = [clock() for _ in range(_READINGS)]
    steps = [later - earlier for earlier, later in pairwise(readings)]
    return Timer(step_ns=min(filter(None, steps), default=0), cost_ns=_cost(steps))


def _cost(steps: list[int]) -> float:
    """Return the median step; for a coarse clock, whose median step is 0, the mean."""
    usual = median(steps)
    return float(usual) if usual else sum(steps) / len(steps)
