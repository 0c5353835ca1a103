"""The time in which a command could measure: none passes while it is stopped, as Ctrl-Z does."""

from __future__ import annotations

import signal
from collections.abc import Callable
from threading import current_thread, main_thread
from types import FrameType
from typing import Self

from steelyard.model.progress import GOES_ON, Watch


class RunningClock:
    """Seconds of a clock, without those in which this process stood still, as long as this is entered.

    A signal tells when it goes on. It stood still since the clock was looked at last, so whoever waits for long looks
    at it now and then. Python has signals handled on its main thread alone: on another, a clock like any. One that
    is entered within another is to be of that one's seconds: then both stand still.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._seen, self._stood_s = clock, clock(), 0.0
        self._before: object = None

    def __enter__(self) -> Self:
        # What is not Python's own could not be given back.
        if current_thread() is main_thread() and signal.getsignal(signal.SIGCONT) is not None:
            self._before = signal.signal(signal.SIGCONT, self._goes_on)
        return self

    def __exit__(self, *_error: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGCONT, self._before)  # type: ignore[arg-type] # what signal.signal returned

    def __call__(self) -> float:
        """Return the seconds so far."""
        self._seen = self._clock()
        return self._seen - self._stood_s

    @property
    def stood_s(self) -> float:
        """For how long this process stood still so far."""
        return self._stood_s

    def while_waiting(self, watch: Watch) -> None:
        """Look at the clock, and tell the watch that what is waited for goes on."""
        self()
        watch(GOES_ON)

    def _goes_on(self, number: int, frame: FrameType | None) -> None:
        if callable(self._before):
            self._before(number, frame)
        now = self._clock()
        self._stood_s += now - self._seen
        self._seen = now
