"""Looks at the machine now and then while launches run, in a thread of the process that drives them.

A look takes 1.5 ms where there are 100 processes, most of it in the kernel. The time to the next one is such that all
looks together take less than a two-hundredth of one processor, however many processes there are.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any, NamedTuple, Self

from steelyard.machine.interrupts import Counts, Interrupts
from steelyard.machine.moments import WORKING, Lines, Moment, read_moment
from steelyard.machine.readings import Tree
from steelyard.machine.watch.gauges import Gauge, Gauges
from steelyard.machine.watch.names import Names
from steelyard.machine.watch.sentinel import fixed_work_ns
from steelyard.machine.watch.stillness import Stillness
from steelyard.machine.watch.strangers import Time, own_processes, strangers, ticks_between
from steelyard.model.watch import Interrupting, Stretch

# Of one processor, for all looks together; the bar is 0.5 %, and what is around a look is not counted.
_MOST_PROCESSOR_SHARE = 0.004
_SHORTEST_S = 0.25
# A stretch has about 400 bytes in a record: in an hour there are 3,700 and not 14,400.
_LOOKS_BEFORE_THINNING = 1000
# Fewer are what goes on all the time. Four sources of the kernel's own are busy on any machine of many processors.
_WORTH_KEEPING_PER_S, _MOST_SOURCES_KEPT = 1000, 6


class _Look(NamedTuple):
    """What is read in one."""

    moment: Moment
    gauge: Gauge
    interrupts: Counts


class Watcher:
    """Watches for as long as its context lasts.

    What belongs to the processes `launchers`, and the one that they are told by, is ours; launches run on `processor`,
    if that is said: then the looks are taken on others.
    """

    def __init__(
        self,
        launchers: Collection[int],
        processor: int | None = None,
        *,
        tree: Tree = Tree(),
        clock_ns: Callable[[], int] = time.monotonic_ns,
        tick_ns: int | None = None,
        work_ns: Callable[[], int] = fixed_work_ns,
    ) -> None:
        self._launchers, self._processor = launchers, processor
        self._tree, self._clock_ns, self._work_ns = tree, clock_ns, work_ns
        self._tick_ns = tick_ns or 1_000_000_000 // os.sysconf("SC_CLK_TCK")
        self._knows_us = tree.knows_us()
        self._gauges = Gauges.found(tree, processor)
        self._interrupts = Interrupts(tree, processor)
        self._latest: _Look
        self._lines: Lines = {}
        self._taken: deque[Stretch] = deque()
        self._end = threading.Event()
        self._stillness = Stillness(self._end.wait, tree, clock_ns)
        self._thread = threading.Thread(target=self._watch, name="steelyard-watch", daemon=True)

    def __enter__(self) -> Self:
        self.begin()
        with suppress(RuntimeError):  # no more threads may be started: then there are two looks alone
            self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._end.set()
        if self._thread.is_alive():
            self._thread.join()
        self.look()

    def taken(self) -> list[Stretch]:
        """What was seen since this was last asked."""
        stretches = []
        with suppress(IndexError):
            while True:
                stretches.append(self._taken.popleft())
        return stretches

    def look(self) -> int:
        """End a stretch, and begin the next; the processor time that it took, ns."""
        begun_ns = time.thread_time_ns()
        latest = self._take_look()
        stretch = self._stretch_between(self._latest, latest)
        self._latest = latest
        stretch["cost_ns"] = time.thread_time_ns() - begun_ns
        # Measured, and not read: a validator would be built at its first use, for 2 ms.
        self._taken.append(Stretch.model_construct(**stretch))
        return int(stretch["cost_ns"])

    def begin(self) -> None:
        """Take the first look."""
        begun_ns = time.thread_time_ns()
        self._latest = self._take_look()
        self._first_ns = time.thread_time_ns() - begun_ns

    def _take_look(self) -> _Look:
        moment = read_moment(self._tree, self._clock_ns() / 1e9, self._lines)
        return _Look(moment, self._gauges.read(), self._interrupts.read())

    def _watch(self) -> None:
        # They are for the thread that waits for launches, which they wake.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        self._leave_processor()
        begun, spent_ns, cost_ns = time.monotonic(), 0, self._first_ns
        while not self._stillness.wait(pause_s(time.monotonic() - begun, spent_ns + cost_ns)):
            cost_ns = self.look()
            spent_ns += cost_ns

    def _leave_processor(self) -> None:
        """Have this thread run elsewhere than the launches, where there is another processor."""
        if self._processor is not None:
            with suppress(OSError):  # none is left, or they may not be chosen
                os.sched_setaffinity(0, os.sched_getaffinity(0) - {self._processor})

    def _stretch_between(self, earlier: _Look, later: _Look) -> dict[str, Any]:
        """What is told of the stretch between two."""
        before, moment = earlier.moment, later.moment
        length_s = max(moment.seconds - before.seconds, 1e-9)
        # Where our own cannot be told from others, nobody is.
        ran = ticks_between(before.processes, moment.processes) if self._knows_us else {}
        # Those that have ended, too: what a launch ran on after a look is not somebody else's.
        processes = {**before.processes, **moment.processes}
        own = own_processes(processes, self._launchers, os.getpid())
        elapsed = Time(length_s * 1e9 / self._tick_ns, self._tick_ns)
        ticks = {name: moment.ticks.get(name, 0) - before.ticks.get(name, 0) for name in moment.ticks}
        working = sum(ticks[name] for name in WORKING) if ticks else None
        hidden = None if working is None or not self._knows_us else max(0, working - sum(ran.values()))
        waiting_us = _growth(before.waiting_us, moment.waiting_us)
        return {
            "start_ns": round(before.seconds * 1e9),
            "end_ns": round(moment.seconds * 1e9),
            "beside": strangers(processes, ran, own, elapsed, Names.among(self._tree, moment.processes)),
            "hidden_ns": None if hidden is None else hidden * self._tick_ns,
            "pressure_ns": None if waiting_us is None else 1000 * waiting_us,
            "steal_ns": max(0, ticks["steal"]) * self._tick_ns if "steal" in ticks else None,
            "stopped_ns": _growth(earlier.gauge.stopped_ns, later.gauge.stopped_ns),
            "still_ns": self._stillness.taken_ns(),
            "slowed": _growth(earlier.gauge.slowed, later.gauge.slowed),
            "interrupts": _growth(before.interrupts, moment.interrupts),
            "interrupting": [
                Interrupting.model_construct(source=source, times=times)
                for source, times in self._interrupts.grown(earlier.interrupts, later.interrupts)[:_MOST_SOURCES_KEPT]
                if times > _WORTH_KEEPING_PER_S * length_s
            ],
            "mhz": later.gauge.mhz,
            "celsius": later.gauge.celsius,
            # Behind the reading, by which the processor is awake.
            "work_ns": self._work_ns(),
        }


def pause_s(elapsed_s: float, cost_ns: int) -> float:
    """How long to wait for the next look, so long after the first; with it all will have taken so much."""
    return max(_SHORTEST_S, elapsed_s / _LOOKS_BEFORE_THINNING, cost_ns / _MOST_PROCESSOR_SHARE / 1e9 - elapsed_s)


def _growth(before: int | None, now: int | None) -> int | None:
    """How much a count has grown; None where it is not told."""
    return None if before is None or now is None else max(0, now - before)
