"""Several benchmarks in one start, each in a process of its own that is forked once all of them are loaded."""

from __future__ import annotations

import gc
from functools import partial

from steelyard.harness.arguments import ArgumentError
from steelyard.harness.forks import Beside, forked, threads_that_run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.harness.arguments import Request
    from steelyard.harness.response import Response
    from steelyard.harness.worker import Sample


def check_alone(samples: list[Sample]) -> None:
    """Raise ArgumentError if threads or children did some of the work, as both sides share one processor here."""
    if any(sample.cpu_ns is None for sample in samples):
        raise ArgumentError("others do some of its work")


def leave_shared_alone() -> None:
    """Make garbage collections in a forked process skip what was loaded before the fork.

    They write to every object that they visit, and would so copy all the memory that the processes share.
    """
    gc.freeze()


def run_each(wanted: Request, fd: int, run: Callable[[Request], bool], response: Response) -> None:
    """Call `run` for each benchmark in a process of its own; it writes to `fd`, and returns whether it went well.

    Raises ArgumentError if threads run by now, as a forked process would not have them.
    """
    if reason := threads_that_run("the benchmarks are"):
        raise ArgumentError(reason)
    gc.collect()  # else the garbage so far would stay in every forked process
    beside = None if wanted.socket is None else Beside(wanted.socket)
    for turned in wanted.each:
        own_end, processor = beside.meet(turned.orders[0]) if beside else (-1, None)
        response.part(forked(partial(run, turned.alone(own_end)), fd, processor, own_end))
