"""Signals that end a command: hold them back for a moment, or do something before they take effect."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Any

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_interrupted_sentence = ["interrupted"]


def set_kept_record(record: str) -> None:
    """From now on, tell whoever interrupts the command how to show a kept record, as nothing has shown it yet.

    `record` is its path as a shell takes it.
    """
    _interrupted_sentence[:] = [f"interrupted; what was measured is kept: steelyard show {record}"]


def interrupted() -> str:
    """Return what to say when a signal ends the command at once."""
    return _interrupted_sentence[0]


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Make a Ctrl-C wait until this context is left."""
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)


@contextmanager
def before_ending(act: Callable[[], None]) -> Iterator[None]:
    """Make a signal call `act` first, and then do what it did until now, which may be to leave at once.

    Python handles signals only on its main thread; on another, none is caught.
    """
    previous_handlers: dict[signal.Signals, Any] = {}  # what signal.signal returns can be passed back to it

    def handle(number: int, frame: FrameType | None) -> None:
        act()
        then = previous_handlers[signal.Signals(number)]
        if callable(then):
            then(number, frame)
        else:
            signal.signal(number, then)
            os.kill(os.getpid(), number)

    for number in ENDING if current_thread() is main_thread() else ():
        if signal.getsignal(number) is not signal.SIG_IGN:  # set by nohup, or by a shell for its background jobs
            previous_handlers[number] = signal.signal(number, handle)
    try:
        yield
    finally:
        for signum, previous in previous_handlers.items():
            signal.signal(signum, previous)
