"""Other work on the machine: bursts of 1 to 3 busy loops, as in the recorded trace `bursts`.

python benchmarks/load.py        until it is interrupted
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NoReturn, Self

# A loop ends by itself soon after the process that started it, even if that was killed.
_LOOP = "import os\nbegun_by = os.getppid()\nwhile os.getppid() == begun_by:\n    for _ in range(100_000): pass"
_BUSY = [sys.executable, "-S", "-c", _LOOP]


@contextmanager
def busy(loops: int, processor: int | None = None, *, apart: bool = False) -> Iterator[None]:
    """Run busy loops for as long as the context lasts, all on one processor if it is given.

    If `apart`, each has a session of its own: many kernels give all processes of one session together as much as
    they give to a single process of another.
    """
    # Set before the loop starts, in the child, where no other thread can hold a lock meanwhile.
    pin = None if processor is None else partial(os.sched_setaffinity, 0, {processor})
    running: list[subprocess.Popen[bytes]] = []
    try:
        # Started one by one within the block, as the end may come in between.
        running.extend(subprocess.Popen(_BUSY, preexec_fn=pin, start_new_session=apart) for _ in range(loops))
        yield
    finally:
        for loop in running:
            loop.kill()
            loop.wait()


@contextmanager
def neighbour(command: Sequence[str]) -> Iterator[None]:
    """Run a command that needs the caches on the last processor, as somebody else's work, while the context lasts."""
    pin = partial(os.sched_setaffinity, 0, {max(os.sched_getaffinity(0))})
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=pin)
    try:
        yield
    finally:
        process.kill()
        process.wait()


class Bursts:
    """A context that makes the machine as noisy as a shared one: bursts of 0.05 to 1.5 s, gaps of up to 1.5 s."""

    def __enter__(self) -> Self:
        self._bursts = subprocess.Popen([sys.executable, __file__])
        return self

    def __exit__(self, *_error: object) -> None:
        self._bursts.terminate()
        self._bursts.wait()


def _burst(seconds: float, loops: int) -> None:
    with busy(loops):
        time.sleep(seconds)


def _stop(*_: object) -> NoReturn:
    sys.exit(0)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, _stop)
    begun_by = os.getppid()
    while os.getppid() == begun_by:
        _burst(random.uniform(0.05, 1.5), random.randint(1, 3))
        time.sleep(random.uniform(0, 1.5))
