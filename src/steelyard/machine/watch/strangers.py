"""Who ran between two moments, and was no part of the measuring."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from steelyard.machine.moments import Process, Processes
from steelyard.model.watch import Beside

# Less of a processor than this is what goes on all the time.
_WORTH_NAMING = 0.02
_MOST_NAMED = 5
_KERNEL_THREADS = (2, "kthreadd")

Ran = Mapping[tuple[int, int], int]
"""The ticks of each process between two moments."""


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


def ours(processes: Processes, root: int, alone: int) -> set[int]:
    """The numbers of the processes that measure or are measured: `root` with all below it, and one `alone`."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for (number, _), process in processes.items():
        children[process.parent].append(number)
    found, left = {alone}, [root]
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
    told: defaultdict[int, int] = defaultdict(int)
    for key in before.keys() - after.keys():
        told[before[key].parent] += before[key].ticks + before[key].ended_ticks
    ran = {}
    for key, process in after.items():
        earlier = before.get(key, nothing)
        of_ended = process.ended_ticks - earlier.ended_ticks - told[key[0]]
        ran[key] = process.ticks - earlier.ticks + max(0, of_ended)
    return ran


def strangers(processes: Processes, ran: Ran, own: Collection[int], ticks: float, tick_ns: int) -> list[Beside]:
    """The busiest that are not our `own`, by their names, over so many `ticks` of time; a tick has `tick_ns`."""
    groups: defaultdict[str, _Group] = defaultdict(_Group)
    has_threads = any(
        number == _KERNEL_THREADS[0] and one.name == _KERNEL_THREADS[1] for (number, _), one in processes.items()
    )
    for key, spent in ran.items():
        if spent > 0 and key[0] not in own:
            process = processes[key]
            is_thread = has_threads and process.parent == _KERNEL_THREADS[0]
            groups[_shown(process.name, is_thread=is_thread)].add(spent, process.processor)
    busy = [(name, group) for name, group in groups.items() if group.ticks >= _WORTH_NAMING * ticks]
    busy.sort(key=lambda one: (-one[1].ticks, one[0]))
    return [
        Beside(name=name, processes=group.processes, ran_ns=group.ticks * tick_ns, cpu=group.cpu)
        for name, group in busy[:_MOST_NAMED]
    ]


def _shown(name: str, *, is_thread: bool) -> str:
    """A thread of the kernel in brackets, without its processor or what it does just now: `kworker/3:1-events`."""
    plain = "".join(char if char.isprintable() else "?" for char in name)
    return f"[{plain.partition('/')[0]}]" if is_thread else plain
