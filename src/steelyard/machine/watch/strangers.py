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
_LEAST_SHARE_NAMED = 0.02
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


def own_processes(processes: Processes, roots: Collection[int], alone: int) -> set[int]:
    """The numbers of the processes that measure or are measured: the `roots` with all below them, and one `alone`."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for (number, _), process in processes.items():
        children[process.parent].append(number)
    own, to_visit = {alone}, [*roots]
    while to_visit:
        number = to_visit.pop()
        if number not in own:
            own.add(number)
            to_visit += children[number]
    return own


def ticks_between(before: Processes, after: Processes) -> Ran:
    """What each ran, with what was waited for of children that were never looked at, or ran on after a look.

    The compilers of a build may all be shorter than the time between two looks: their time is then that of `make`. Of a
    program that a look has seen, which ended under `sudo` or a shell, it is that program's, though it is gone.
    """
    new_process = Process("", 0, 0, 0, None)
    gone = _ended_below(before, after)
    ran = {key: process.ticks - before.get(key, new_process).ticks for key, process in after.items()}
    for key, process in after.items():
        ended = gone.get(key[0], _Ended())
        ended_ticks = process.ended_ticks - before.get(key, new_process).ended_ticks - ended.known
        if ended_ticks > 0:
            ran[ended.busiest or key] = ran.get(ended.busiest or key, 0) + ended_ticks
    return ran


@dataclass
class _Ended:
    """What was seen of the processes that one process has waited for since, itself or by those between."""

    known: int = 0
    busiest: tuple[int, int] | None = None
    most: int = 0

    def add(self, key: tuple[int, int], process: Process) -> None:
        self.known += process.ticks + process.ended_ticks
        if process.ticks > self.most:
            self.busiest, self.most = key, process.ticks


def _ended_below(before: Processes, after: Processes) -> Mapping[int, _Ended]:
    """What has ended since, by the number of the process that goes on above it."""
    gone = {key[0]: key for key in before.keys() - after.keys()}
    ended_by_parent: defaultdict[int, _Ended] = defaultdict(_Ended)
    for key in gone.values():
        parent = before[key].parent
        for _ in gone:
            if parent not in gone:
                break
            parent = before[gone[parent]].parent
        ended_by_parent[parent].add(key, before[key])
    return ended_by_parent


def strangers(processes: Processes, ran: Ran, own: Collection[int], time: Time, names: Names) -> list[Beside]:
    """The busiest of `processes`, those that have ended with them, that are not our `own`; by their names."""
    groups: defaultdict[str, _Group] = defaultdict(_Group)
    for key, ticks in ran.items():
        if ticks > 0 and key[0] not in own:
            groups[names.of(key[0], processes[key])].add(ticks, processes[key].processor)
    busy = [(name, group) for name, group in groups.items() if group.ticks >= _LEAST_SHARE_NAMED * time.ticks]
    busy.sort(key=lambda one: (-one[1].ticks, one[0]))
    return [
        Beside.model_construct(name=name, processes=group.processes, ran_ns=group.ticks * time.tick_ns, cpu=group.cpu)
        for name, group in busy[:_MOST_NAMED]
    ]
