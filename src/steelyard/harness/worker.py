"""Take samples in this process: what is set up around them, and what is read besides the clock."""

from __future__ import annotations

import gc
import os
import resource
import time
from itertools import repeat

from steelyard.harness.counting import counter
from steelyard.harness.forks import let_threads_rest
from steelyard.harness.loop import Loop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from steelyard.harness.loop import Text
    from steelyard.harness.partner import Partner


class clocks:  # noqa: N801 - named like a module
    """The clocks of `time` as they are now: a test may replace them by ones that stand still (freezegun)."""

    perf_counter_ns, thread_time_ns, process_time_ns = time.perf_counter_ns, time.thread_time_ns, time.process_time_ns


_SCHEDSTAT = "/proc/thread-self/schedstat"

# If other threads and children use more processor time than this share and this many ns, the time that this thread
# waited for a processor is not what the body waited.
_MOST_ELSEWHERE_SHARE = 0.01
_LEAST_ELSEWHERE_NS = 1_000_000


class Sample:
    """One timed batch of iterations. The times are those of all `loops`; None for what cannot be told."""

    __slots__ = ("cpu_ns", "delay_ns", "loops", "ns", "order")

    def __init__(self, loops: int, ns: int, cpu_ns: int | None, delay_ns: int | None, order: int | None = None) -> None:
        self.loops, self.ns, self.cpu_ns, self.delay_ns = loops, ns, cpu_ns, delay_ns
        self.order = order
        """If it was taken in turn with a partner's sample: 0 before that, 1 after it."""


class Work:
    """A body that is ready to be measured.

    `values` are those of the text's names. `draw` makes the input of a sample, `collect` leaves the garbage collector
    on, and `finish` runs a coroutine in an event loop.
    """

    def __init__(
        self,
        text: Text,
        values: Iterable[Any] = (),
        *,
        draw: Callable[[], Any] | None = None,
        collect: bool = False,
        finish: Callable[[Any], Any] | None = None,
    ) -> None:
        self.text, self.values, self.draw = text, tuple(values), draw
        self.collect, self.finish = collect, finish


def samples_of(work: Work, loops: int, samples: int, partner: Partner | None = None) -> list[Sample]:
    """Take `samples` samples of `loops` iterations each, in turn with a partner if there is one.

    Garbage is collected once before the first, and not during them unless the work wants that. Raises whatever the body
    raises, and SyntaxError if that is not Python.
    """
    fd = _schedstat()
    counting = counter()
    loop = Loop(work.text, _wanted_parts(work, fd, counting, partner), {"__name__": "__steelyard__"})
    raw: list[tuple[int, int, bytes | None, bytes | None]] = []
    clock, begin_end = clocks.perf_counter_ns, counting or (None, None)
    turns = (None, None) if partner is None else (partner.await_turn, partner.hand_over)
    tools = (repeat, clock, clocks.thread_time_ns, os.pread, fd, *begin_end, work.draw, raw.append, *turns)
    was_enabled = gc.isenabled()
    if counting is None:  # the number of its checks would differ between counts
        let_threads_rest()
    worked_then = _own_and_all_ns()
    gc.collect()
    if not work.collect:
        gc.disable()
    try:
        coroutine = loop.take(samples, loops, tools, work.values)
        if work.finish is not None:
            work.finish(coroutine)
        if partner is not None:
            partner.part()
    finally:
        if was_enabled:
            gc.enable()
        if fd is not None:
            os.close(fd)
    own, everything = (now - then for now, then in zip(_own_and_all_ns(), worked_then, strict=True))
    alone = everything - own <= max(_MOST_ELSEWHERE_SHARE * own, _LEAST_ELSEWHERE_NS)
    orders = repeat(None) if partner is None else partner.orders
    return [_sample(loops, *numbers, order, alone=alone) for numbers, order in zip(raw, orders, strict=False)]


def _wanted_parts(work: Work, fd: int | None, counting: object, partner: object) -> set[str]:
    parts = {"schedstat": fd, "counting": counting, "inputs": work.draw, "partner": partner}
    return {name for name, part in parts.items() if part is not None}


def _schedstat() -> int | None:
    """Open the scheduler's numbers of this thread; None where the kernel does not keep them.

    Such a kernel says that the thread was never put on a processor. The time on one would not tell: it is also 0 in a
    process that was just forked, until the kernel's first accounting.
    """
    try:
        fd = os.open(_SCHEDSTAT, os.O_RDONLY)
    except OSError:
        return None
    try:
        numbers = os.pread(fd, 64, 0).split()
    except OSError:
        numbers = []
    if len(numbers) < 3 or numbers[2] == b"0":
        os.close(fd)
        return None
    return fd


def _sample(
    loops: int,
    ns: int,
    cpu_ns: int,
    waited: bytes | None,
    waited_then: bytes | None,
    order: int | None,
    *,
    alone: bool,
) -> Sample:
    ns = max(ns, 1)  # a time below the clock's resolution is not 0
    if not alone:
        return Sample(loops, ns, None, None, order)
    if waited is None or waited_then is None:
        return Sample(loops, ns, cpu_ns, None, order)
    return Sample(loops, ns, cpu_ns, int(waited.split()[1]) - int(waited_then.split()[1]), order)


def _own_and_all_ns() -> tuple[int, int]:
    """Return the processor time of this thread so far, and with it that of all other threads and of children."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    elsewhere = int(1e9 * (children.ru_utime + children.ru_stime))
    return clocks.thread_time_ns(), clocks.process_time_ns() + elsewhere
