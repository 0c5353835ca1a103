"""The time in which a command could measure: none passes while it is stopped, as by Ctrl-Z."""

from __future__ import annotations

import signal
from collections.abc import Callable
from threading import current_thread, main_thread
from types import FrameType
from typing import Self

from steelyard.model.progress import GOES_ON, Watch


class RunningClock:
    """A clock in seconds that, while entered, leaves out the time in which this process was stopped.

    A signal tells when the process goes on. It is taken to have stood still since the clock was last read, so whoever
    waits for long reads it now and then. Python handles signals on its main thread only: on any other, this is a plain
    clock. One entered within another has to count that one's seconds: then both stand still.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._last_read_s = clock, clock()
        self.stood_s = 0.0
        """How long this process has been stopped so far, in seconds."""
        self._previous_handler: object = None

    def __enter__(self) -> Self:
        # A handler that is not Python's own could not be restored.
        if current_thread() is main_thread() and signal.getsignal(signal.SIGCONT) is not None:
            self._previous_handler = signal.signal(signal.SIGCONT, self._handle_continue)
        return self

    def __exit__(self, *_error: object) -> None:
        if self._previous_handler is not None:
            signal.signal(signal.SIGCONT, self._previous_handler)  # type: ignore[arg-type] # what signal.signal returned

    def __call__(self) -> float:
        """Return the seconds so far."""
        self._last_read_s = self._clock()
        return self._last_read_s - self.stood_s

    def while_waiting(self, watch: Watch) -> None:
        """Read the clock, and tell the watch that what is waited for still goes on."""
        self()
        watch(GOES_ON)

    def _handle_continue(self, number: int, frame: FrameType | None) -> None:
        if callable(self._previous_handler):
            self._previous_handler(number, frame)
        now = self._clock()
        self.stood_s += now - self._last_read_s
        self._last_read_s = now
