"""What is measured, and what next: each task has its share of the time, whatever the machine does meanwhile."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from steelyard.model.noise import Way, Work

MEASURED_S: Final = 26.0
"""How long all launches take together, in seconds."""
LONGEST_SHARE: Final = 0.1
"""Pairs that take a larger part of that are left out: those of 1000 ms, on a busy machine."""

# Shares of the time of each kind of work, by how long a launch takes, in ms. Most is for what is weighed most, and
# little for what takes few pairs only because it is long: the curve through all tells the rest.
_ADJACENT = {1.0: 0.05, 3.0: 0.07, 10.0: 0.15, 30.0: 0.2, 100.0: 0.25, 300.0: 0.1, 1000.0: 0.02}
# Where turns are the scheduler's own, shorter launches gain nothing (docs/tandem.md).
_TANDEM = {30.0: 0.08, 100.0: 0.12}
# Where turns are short, most of what is weighed and is that long runs in tandem.
_ADJACENT_WITH_SHORT_TURNS = _ADJACENT | {100.0: 0.15, 300.0: 0.08}
_TANDEM_WITH_SHORT_TURNS = {30.0: 0.12, 100.0: 0.25}
_PINNED_MS, _PINNED_SHARE = 10.0, 0.04
NEIGHBOUR_MS: Final = 20.0
_NEIGHBOUR_SHARE = 0.06


@dataclass(frozen=True)
class PairsTask:
    """Pairs of identical programs of one kind and length, run one way, on one processor if that is given."""

    work: Work
    ms: float
    share: float
    pairing: Way = "adjacent"
    cpu: int | None = None


@dataclass(frozen=True)
class NeighbourTask:
    """A launch alone, and one beside its like, on two processors."""

    work: Work
    share: float
    cpus: tuple[int, int]
    ms: float = NEIGHBOUR_MS


Task = PairsTask | NeighbourTask


def plan(
    processors: Collection[int],
    cores: Sequence[frozenset[int]],
    shortest_ms: Mapping[Work, float],
    *,
    tells_waits: bool,
    begins_beside: bool,
) -> list[Task]:
    """Return everything that is measured; programs of each kind cannot be shorter than `shortest_ms`.

    Those `processors` that share a core are in one of the `cores`. Nothing is weighed in tandem if the system does not
    tell how long a launch waited. Where commands begin in tandem, more is measured that way.
    """
    ordered = sorted(processors)
    adjacent, tandem = (_ADJACENT_WITH_SHORT_TURNS, _TANDEM_WITH_SHORT_TURNS) if begins_beside else (_ADJACENT, _TANDEM)
    ways: Sequence[tuple[Way, Mapping[float, float]]]
    ways = [("adjacent", adjacent), ("tandem", tandem)] if tells_waits else [("adjacent", _ADJACENT)]
    tasks: list[Task] = []
    for work in get_args(Work):
        tasks += [
            PairsTask(work, ms, share, way)
            for way, each in ways
            for ms, share in each.items()
            if ms >= shortest_ms[work]
        ]
        tasks += [NeighbourTask(work, _NEIGHBOUR_SHARE, (ordered[0], other)) for other in neighbours(ordered, cores)]
    if len(ordered) > 1:
        tasks += [
            PairsTask("loop", _PINNED_MS, _PINNED_SHARE, cpu=cpu) for cpu in dict.fromkeys([ordered[0], ordered[-1]])
        ]
    return tasks


def neighbours(ordered: Sequence[int], cores: Sequence[frozenset[int]]) -> list[int]:
    """Return the processors that the first one is tried beside: one of its own core, and one of another."""
    first, *others = ordered
    own = next((core for core in cores if first in core), frozenset({first}))
    inside, outside = ([one for one in others if (one in own) == shares] for shares in (True, False))
    return [*inside[:1], *outside[:1]]
