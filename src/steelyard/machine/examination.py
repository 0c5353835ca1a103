"""Examine once everything on this machine that disturbs measurements."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence

from steelyard.machine.conditions import contention, frequency, kernel, memory, power, processors
from steelyard.machine.interrupts import Interrupts
from steelyard.machine.moments import read_moment
from steelyard.machine.readings import Tree
from steelyard.model.conditions import Condition

# Long enough for what takes a twentieth of a processor to gain two ticks, of a hundred a second.
_APART_S = 0.5
_MOST_NAMED = 3

_STANDING: Sequence[Callable[[Tree], Condition]] = (
    contention.processor_limit,
    kernel.waiting_times,
    processors.siblings,
    processors.isolation,
    processors.offline,
    frequency.turbo,
    frequency.governor,
    frequency.frequency_range,
    frequency.sleep_states,
    power.supply,
    power.temperature,
    memory.free_memory,
    memory.swap,
    memory.huge_pages,
    kernel.randomisation,
    kernel.clock_source,
    kernel.scheduler_slice,
    kernel.perf_sampling,
)


def examine(
    tree: Tree = Tree(),
    *,
    following: kernel.Following,
    missing_counters: Mapping[str, int],
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> list[Condition]:
    """Return every condition in the order of reporting: first who else is there, then how the machine is set up.

    Takes half a second, in which other processes are watched. `following` and `missing_counters` (with the system's
    error numbers) are what the launch server found. What cannot be read is never an error.
    """
    interrupts = Interrupts(tree)
    before, counts = read_moment(tree, clock()), interrupts.read()
    sleep(_APART_S)
    after, grown = read_moment(tree, clock()), interrupts.grown(counts, interrupts.read())[:_MOST_NAMED]
    seconds = max(after.seconds - before.seconds, 1e-9)
    return [
        contention.load(tree, before, after, os.getpid()),
        contention.pressure(before, after),
        contention.stolen_time(before, after),
        kernel.threads(tree, following),
        kernel.interrupts(tree, [(source, times / seconds) for source, times in grown]),
        *(look(tree) for look in _STANDING),
        kernel.counters(tree, missing_counters.get("cycles")),
    ]
