"""Several benchmarks of one start, each in a process of its own that is forked where all of them are loaded."""

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
    """Raise ArgumentError if threads or children did some of the work: both sides have one processor here."""
    if any(sample.cpu_ns is None for sample in samples):
        raise ArgumentError("others do some of its work")


def leave_shared_alone() -> None:
    """Have collections of garbage in a forked process pass over what was loaded before.

    They write to each object that they look at, and so copy all the memory that the processes share.
    """
    gc.freeze()


def run_each(wanted: Request, fd: int, run: Callable[[Request], bool], response: Response) -> None:
    """Have `run` run each of them and say whether that went well: what it writes to `fd` is what came of it.

    Raises ArgumentError where threads run by now, which are in no process that is forked.
    """
    if why_not := threads_that_run("the benchmarks are"):
        raise ArgumentError(why_not)
    gc.collect()  # or what is garbage by now would stay in each of them
    beside = None if wanted.socket is None else Beside(wanted.socket)
    for one in wanted.each:
        ours, processor = beside.meet(one.orders[0]) if beside else (-1, None)
        response.part(forked(partial(run, one.alone(ours)), fd, processor, ours))
