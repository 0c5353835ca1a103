"""What the kernel and the processor count during a launch while it is timed (`perf_event_open`)."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Final, TypeAlias

from steelyard.model.numbers import Count

EVENTS: Final = ("task_clock", "migrations", "cycles", "retired_instructions", "branch_misses", "cache_misses")
"""The events in the order of a launch's counters; the metrics of these names are counted this way."""

Counted: TypeAlias = tuple[Count, Count, Count]
"""A count, the ns (of all threads) that it should cover, and the ns that it does cover: counters take turns."""

Counters: TypeAlias = tuple[Counted | None, ...]
"""The count of each event, None where it was not requested; empty if none was."""


def events_of(metrics: Sequence[str]) -> tuple[str, ...]:
    """The events that have to be counted for some metrics."""
    return tuple(name for name in EVENTS if name in metrics)


def scaled(counted: Sequence[int] | None) -> float:
    """Extrapolate a count from the counted part to the whole launch; NaN if nothing was counted."""
    if counted is None or not counted[2]:
        return nan
    count, enabled_ns, running_ns = counted
    return count if enabled_ns == running_ns else count * enabled_ns / running_ns


def part(counted: Sequence[int] | None) -> float:
    """The part of a launch's time that was counted; NaN if no count was requested."""
    return counted[2] / counted[1] if counted and counted[1] else nan


def added(one: Counters, other: Counters) -> Counters:
    """Add the counters of two processes of one launch."""
    pairs = zip(one, other, strict=False)
    return tuple(None if a is None or b is None else (a[0] + b[0], a[1] + b[1], a[2] + b[2]) for a, b in pairs)
