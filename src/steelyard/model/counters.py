"""What the kernel and the processor count of a launch while it is timed (`perf_event_open`)."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Final, TypeAlias

from steelyard.model.numbers import Count

EVENTS: Final = ("task_clock", "migrations", "cycles", "retired_instructions", "branch_misses", "cache_misses")
"""By their places in a launch's counters; metrics of these names are counted so."""

Counted: TypeAlias = tuple[Count, Count, Count]
"""A count, for how many ns (of all threads) it was to be taken, and for how many it was: counters take turns."""

Counters: TypeAlias = tuple[Counted | None, ...]
"""Of each event, where it was asked for; empty where none was."""


def events_of(metrics: Sequence[str]) -> tuple[str, ...]:
    """The events that have to be counted for some metrics."""
    return tuple(name for name in EVENTS if name in metrics)


def scaled(counted: Sequence[int] | None) -> float:
    """The count of the whole launch, if it went on as in the part that was counted; NaN where none was."""
    if counted is None or not counted[2]:
        return nan
    count, enabled_ns, running_ns = counted
    return count if enabled_ns == running_ns else count * enabled_ns / running_ns


def part(counted: Sequence[int] | None) -> float:
    """For which part of its time a launch was counted; NaN where it was not to be."""
    return counted[2] / counted[1] if counted and counted[1] else nan


def added(one: Counters, other: Counters) -> Counters:
    """Those of two processes as of one launch."""
    pairs = zip(one, other, strict=False)
    return tuple(None if a is None or b is None else (a[0] + b[0], a[1] + b[1], a[2] + b[2]) for a, b in pairs)
