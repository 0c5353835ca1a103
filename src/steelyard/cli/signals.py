"""The signals that end a command: held back for a moment, or something done before one of them has its effect."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Any

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_said = ["interrupted"]


def kept(record: str) -> None:
    """From now on whoever interrupts the command is told of a record, as a shell takes its path: nothing showed it."""
    _said[:] = [f"interrupted; what was measured is kept: steelyard show {record}"]


def interrupted() -> str:
    """What is said where a signal ends the command at once."""
    return _said[0]


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let a Ctrl-C wait until this is done."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def before_ending(act: Callable[[], None]) -> Iterator[None]:
    """Have a signal do this first, and then what it did until now, which may be to leave at once.

    Python has signals handled on its main thread alone: on another, none is taken.
    """
    before: dict[signal.Signals, Any] = {}  # what signal.signal returns, it takes back

    def handle(number: int, frame: FrameType | None) -> None:
        act()
        then = before[signal.Signals(number)]
        if callable(then):
            then(number, frame)
        else:
            signal.signal(number, then)
            os.kill(os.getpid(), number)

    for number in ENDING if current_thread() is main_thread() else ():
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it, or a shell for its background jobs
            before[number] = signal.signal(number, handle)
    try:
        yield
    finally:
        for each, then in before.items():
            signal.signal(each, then)
