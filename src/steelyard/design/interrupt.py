"""Ctrl-C and its like: a request to stop and keep what was measured, never an exception in the middle of it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupt:
    """While entered, the first signal asks to stop and cancels the launch in flight; a second one insists."""

    def __init__(self, cancel: Callable[[], None]) -> None:
        self._cancel = cancel
        self.requested = False
        self._before: dict[signal.Signals, object] = {}

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it, or a shell for its background jobs
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type] # what signal.signal returned, it takes back

    def is_requested(self) -> bool:
        """Whether somebody asked to stop."""
        return self.requested

    def _handle(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the signature is signal's
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        self._cancel()
