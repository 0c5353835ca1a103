"""The one line that is seen while measuring."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from rich.cells import cell_len

from steelyard.report import figures, printable

if TYPE_CHECKING:
    from steelyard.model.progress import Progress

_WIPE = "\r\x1b[K"
_BETWEEN_REFRESHES_S = 0.25


class LiveLine:
    """Shows the progress on one line of a terminal and wipes it at the end; on anything else only what is to stay.

    It writes only when it is called, between two launches: a thread or a timer would run beside the launch
    that is being measured.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        noun: str = "pair",
        plural: str | None = None,
        clock: Callable[[], float] = time.monotonic,
        columns: Callable[[], int] | None = None,
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._noun, self._plural = noun, plural
        self._clock = clock
        self._columns = columns or self._terminal_columns
        self._shows = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._written = False
        self._last: float | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.wipe()

    def __call__(self, progress: Progress) -> None:
        """Show the progress, unless the last refresh was less than a quarter of a second ago."""
        if progress.allowance is not None:
            self.wipe()
            encoding = self._stream.encoding or "utf-8"
            self._write(f"steelyard: {printable.plain(progress.allowance, encoding)}\n")
        if not self._shows:
            return
        now = self._clock()
        if self._last is not None and now - self._last < _BETWEEN_REFRESHES_S:
            return
        self._last = now
        # One column stays free: a full line would make some terminals wrap.
        self._write(_WIPE + self._line(progress, self._columns() - 1))
        self._written = True

    def wipe(self) -> None:
        """Remove the line, so that something else can be printed in its place."""
        if self._written:
            self._write(_WIPE)
            self._written = False

    def _line(self, progress: Progress, width: int) -> str:
        encoding = self._stream.encoding or "utf-8"
        name = printable.plain(progress.benchmark, encoding)
        return printable.symbols(fit(progress, name, width, progress.noun or self._noun, self._plural), encoding)

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            # The terminal has gone; the measurement goes on.
            self._shows = False

    def _terminal_columns(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except (OSError, ValueError):
            return 80


def fit(progress: Progress, name: str, width: int, noun: str = "pair", plural: str | None = None) -> str:
    """Write the progress in at most `width` columns: what matters least is left out first."""
    of_limit = f"{progress.done:,}" + (f"/{progress.limit:,}" if progress.limit is not None else "")
    done = f"{of_limit} {noun if (progress.limit or progress.done) == 1 else plural or noun + 's'}"
    change = figures.change(progress.change) if progress.change is not None else ""
    interval = figures.interval(progress.interval) if progress.interval is not None else ""
    left = f"{figures.seconds(max(0.0, progress.seconds_left))} left" if progress.seconds_left is not None else ""
    estimate = " ".join(filter(None, (change, interval)))
    choices = (
        (printable.shorten(name, 30), done, estimate, left),
        (done, estimate, left),
        (done, change, left),
        (of_limit, change, left),
        (of_limit, change),
        (of_limit,),
    )
    lines = ["  ".join(filter(None, parts)) for parts in choices]
    return next((line for line in lines if cell_len(line) <= width), printable.shorten(of_limit, width))
