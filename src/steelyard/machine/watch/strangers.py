"""Who ran between two moments, and was no part of the measuring."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from steelyard.machine.moments import Process, Processes
from steelyard.machine.watch.names import Names
from steelyard.model.watch import Beside

# Less of a processor than this is what goes on all the time.
_WORTH_NAMING = 0.02
_MOST_NAMED = 8

Ran = Mapping[tuple[int, int], int]
"""The ticks of each process between two moments."""


class Time(NamedTuple):
    """What went by, in the kernel's ticks."""

    ticks: float
    tick_ns: int


@dataclass
class _Group:
    """The processes of one name."""

    ticks: int = 0
    processes: int = 0
    busiest: int = 0
    cpu: int | None = None

    def add(self, ticks: int, cpu: int | None) -> None:
        self.ticks += ticks
        self.processes += 1
        if ticks > self.busiest:
            self.busiest, self.cpu = ticks, cpu


def ours(processes: Processes, roots: Collection[int], alone: int) -> set[int]:
    """The numbers of the processes that measure or are measured: the `roots` with all below them, and one `alone`."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for (number, _), process in processes.items():
        children[process.parent].append(number)
    found, left = {alone}, [*roots]
    while left:
        number = left.pop()
        if number not in found:
            found.add(number)
            left += children[number]
    return found


def ran_between(before: Processes, after: Processes) -> Ran:
    """What each ran, with what it has waited for of children that were never looked at, or ran on after a look.

    The compilers of a build may all be shorter than the time between two looks: their time is then that of `make`.
    """
    nothing = Process("", 0, 0, 0, None)
    told = _known_of_ended(before, after)
    ran = {}
    for key, process in after.items():
        earlier = before.get(key, nothing)
        of_ended = process.ended_ticks - earlier.ended_ticks - told.get(key[0], 0)
        ran[key] = process.ticks - earlier.ticks + max(0, of_ended)
    return ran


def _known_of_ended(before: Processes, after: Processes) -> Mapping[int, int]:
    """What was seen, of processes that have ended, by whoever has waited for them or for their parents."""
    gone = {key[0]: before[key] for key in before.keys() - after.keys()}
    known: defaultdict[int, int] = defaultdict(int)
    for process in gone.values():
        parent = process.parent
        for _ in gone:
            if parent not in gone:
                break
            parent = gone[parent].parent
        known[parent] += process.ticks + process.ended_ticks
    return known


def strangers(processes: Processes, ran: Ran, own: Collection[int], time: Time, names: Names) -> list[Beside]:
    """The busiest that are not our `own`, by their names."""
    groups: defaultdict[str, _Group] = defaultdict(_Group)
    for key, ticks in ran.items():
        if ticks > 0 and key[0] not in own:
            groups[names.of(key[0], processes[key])].add(ticks, processes[key].processor)
    busy = [(name, group) for name, group in groups.items() if group.ticks >= _WORTH_NAMING * time.ticks]
    busy.sort(key=lambda one: (-one[1].ticks, one[0]))
    return [
        Beside.model_construct(name=name, processes=group.processes, ran_ns=group.ticks * time.tick_ns, cpu=group.cpu)
        for name, group in busy[:_MOST_NAMED]
    ]
