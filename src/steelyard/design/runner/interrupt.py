"""Ctrl-C and its like: a request to stop and keep what was measured, never an exception in the middle of it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from threading import current_thread, main_thread
from types import FrameType
from typing import Self

# Wrappers pass on a Ctrl-C that the terminal has sent already: so soon after the first, it is the same request.
_REPEATED_SIGNAL_S = 0.3

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupt:
    """While entered, the first signal asks to stop and calls all `cancels` of launches in flight; a second one insists.

    One that this one is entered within hears of it at the end. Python handles signals on its main thread only: on any
    other, none is caught.
    """

    def __init__(self, cancels: Sequence[Callable[[], None]], clock: Callable[[], float]) -> None:
        self._cancels, self._clock = cancels, clock
        self._requested_at: float | None = None
        self._previous_handlers: dict[signal.Signals, object] = {}

    def __enter__(self) -> Self:
        for number in _SIGNALS if current_thread() is main_thread() else ():
            # Left alone: signals ignored as under nohup or in a shell's background job, and a host's handlers, which
            # Python could not restore.
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                self._previous_handlers[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_error: object) -> None:
        for number, handler in self._previous_handlers.items():
            signal.signal(number, handler)  # type: ignore[arg-type] # what signal.signal returned, it takes back
            outer = getattr(handler, "__self__", None)
            if self._requested_at is not None and isinstance(outer, Interrupt):
                outer._request(self._requested_at)  # it may have come too late for what ends here

    def is_requested(self) -> bool:
        """Whether somebody asked to stop."""
        return self._requested_at is not None

    def _handle(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the signature is signal's
        now = self._clock()
        if self._requested_at is None:
            self._request(now)
        elif now - self._requested_at >= _REPEATED_SIGNAL_S:
            raise KeyboardInterrupt

    def _request(self, at: float) -> None:
        if self._requested_at is None:
            self._requested_at = at
            for cancel in self._cancels:
                cancel()
