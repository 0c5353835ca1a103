"""The progress display while measuring: one line, or a few lines for a suite."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Self, TextIO

from rich.cells import cell_len

from steelyard.report import figures, live_suite, printable

if TYPE_CHECKING:
    from steelyard.model.progress import Progress

_CLEAR_LINE, _CLEAR_BELOW = "\x1b[K", "\x1b[J"
_BETWEEN_REFRESHES_S = 0.25
# Columns kept free: some terminals wrap a full line, and Ctrl-C leaves its ^C behind the last line.
_FREE_COLUMNS = 3
# Rows kept free: one above the display for the eye, and one below it, with what was there before.
_FREE_ROWS = 2
_BAR_COLUMNS = 16
# Drawing this many benchmarks takes 0.3 to 1.3 ms; with more, refreshes become rarer in proportion.
_MANY_BENCHMARKS = 500
# A launch that lasts this long is mentioned on the display.
_LONG_LAUNCH_S = 2.0
# A command that lasts this long is mentioned in a log.
_LONG_COMMAND_S = 5.0
# Some CI systems end a job that has written nothing for ten minutes.
_BETWEEN_LOG_LINES_S = 60.0
_LOG_COLUMNS = 120
_DEFAULT_SIZE = os.terminal_size((80, 24))


class LiveLine:
    """Shows the progress on a terminal and wipes it at the end; to any other stream it writes a line once a minute.

    A terminal that `is_dumb` cannot wipe anything, and gets lines as well.

    It writes only when it is called: between two launches, and during a long one whenever the code that waits for it
    wakes anyway. A thread or a timer would run beside the launch that is being measured.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        is_dumb: bool = False,
        clock: Callable[[], float] = time.monotonic,
        columns: Callable[[], int] | None = None,
        rows: Callable[[], int] | None = None,
    ) -> None:
        self._stream = stream
        self._encoding = stream.encoding or "utf-8"
        self._clock = clock
        self._columns = columns or (lambda: self._terminal_size().columns or _DEFAULT_SIZE.columns)
        self._rows = rows or (lambda: self._terminal_size().lines or _DEFAULT_SIZE.lines)
        self._shows = stream.isatty() and not is_dumb
        self._written: list[str] = []
        self._pause_s = _BETWEEN_REFRESHES_S
        self._refreshed_at: float | None = None
        self._latest: Progress | None = None
        """The progress to show again after a long command, and to keep counting during a long launch."""
        self._latest_at = 0.0
        """When that progress was reported."""
        self._logged: set[str] = set()
        """The commands that a log has been told of."""
        self._logged_at = self._clock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.wipe()

    def __call__(self, progress: Progress) -> None:
        """Show the progress, unless the last refresh was less than a quarter of a second ago.

        With very many benchmarks, refreshes are farther apart.
        """
        if progress.goes_on:
            self._refresh_elapsed()
            return
        if progress.allowance is not None:
            self.wipe()
            self._write(f"steelyard: {printable.plain(progress.allowance, self._encoding)}\n")
            self._refreshed_at = None  # so the display is drawn again, below the message, at once
        if progress.waited_s is not None:
            self._show_wait(progress, progress.waited_s)
            return
        self._latest = progress
        self._latest_at = now = self._clock()
        if not self._shows:
            self._log(progress)
            return
        if self._refreshed_at is not None and now - self._refreshed_at < self._pause_s:
            return
        self._refreshed_at = now
        self._draw(progress)

    def _refresh_elapsed(self) -> None:
        """Show how long the current launch has lasted, and how much of the time is left."""
        lasted_s = self._clock() - self._latest_at
        if self._latest is None or lasted_s < _LONG_LAUNCH_S:
            return
        left_s = self._latest.seconds_left
        if left_s is not None and not self._latest.is_first:
            left_s = max(0.0, left_s - lasted_s)
        progress = replace(self._latest, lasted_s=lasted_s, seconds_left=left_s)
        if self._shows:
            self._draw(progress)
        else:
            self._log(progress)

    def _log(self, progress: Progress) -> None:
        """Write the progress in a line of a log, unless the latest one is less than a minute old."""
        now = self._clock()
        if now - self._logged_at < _BETWEEN_LOG_LINES_S:
            return
        self._logged_at = now
        if progress.members is not None:
            text = live_suite.log_text(progress, progress.members())
        else:
            name = printable.plain(progress.benchmark, self._encoding)
            text = progress_text(progress, name, _LOG_COLUMNS, has_bar=False)
        self._write(f"steelyard: {text}\n")

    def _show_wait(self, progress: Progress, seconds: float) -> None:
        """Show that a command is taking long; in a log, say so once."""
        if not self._shows:
            if seconds >= _LONG_COMMAND_S and progress.benchmark not in self._logged:
                self._logged.add(progress.benchmark)
                name = printable.plain(progress.benchmark, self._encoding)
                self._write(f"steelyard: {name} {_has_run_text(seconds)}\n")
            return
        self._refreshed_at = None  # so the next progress is shown at once
        shown = progress if seconds else self._latest
        if shown is None:
            self.wipe()
        else:
            self._draw(shown)

    def wipe(self) -> None:
        """Remove the display, so that something else can be printed in its place."""
        if self._written:
            self._write(self._move_to_top(self._columns()) + _CLEAR_BELOW)
            self._written = []

    def _draw(self, progress: Progress) -> None:
        """Overwrite the display line by line in a single write, so that unchanged text does not flicker."""
        columns = self._columns()
        lines = self._lines(progress, columns)
        drawn = "\r\n".join(f"{line}{_CLEAR_LINE}" for line in lines)
        self._write(f"{self._move_to_top(columns)}{drawn}{_CLEAR_BELOW}")
        self._written = lines

    def _move_to_top(self, columns: int) -> str:
        """Return the escape sequence that moves from the display's end to its start.

        A terminal that was made narrower has wrapped its lines.
        """
        rows = sum(max(1, -(-cell_len(line) // max(1, columns))) for line in self._written)
        return "\r" + (f"\x1b[{rows - 1}A" if rows > 1 else "")

    def _lines(self, progress: Progress, columns: int) -> list[str]:
        if progress.members is not None:
            members, height = progress.members(), self._rows() - _FREE_ROWS
            self._pause_s = _BETWEEN_REFRESHES_S * max(1.0, len(members) / _MANY_BENCHMARKS)
            if found := live_suite.lines(progress, members, columns - _FREE_COLUMNS, height, self._encoding):
                return found
        name = printable.plain(progress.benchmark, self._encoding)
        return [printable.symbols(progress_text(progress, name, columns - 1), self._encoding)]

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            # The terminal is gone; the measurement goes on.
            self._shows = False

    def _terminal_size(self) -> os.terminal_size:
        try:
            return os.get_terminal_size(self._stream.fileno())
        except (OSError, ValueError):
            return _DEFAULT_SIZE


def _has_run_text(seconds: float) -> str:
    return f"has run for {figures.seconds(seconds)}, and has no time limit"


def _whole_seconds(seconds: float) -> str:
    return figures.seconds(float(int(seconds)))


def progress_text(progress: Progress, name: str, width: int, *, has_bar: bool = True) -> str:
    """Write the progress in at most `width` columns, leaving out the least important parts first."""
    noun = progress.noun or "pair"
    if progress.is_first:
        return printable.first_that_fits(_texts_of_first(progress, noun), width)
    if progress.waited_s is not None:
        has_run = _has_run_text(progress.waited_s)
        return printable.shorten(f"{printable.shorten(name, width - len(has_run) - 1)} {has_run}".lstrip(), width)
    done_of_limit = f"{progress.done:,}" + (f"/{progress.limit:,}" if progress.limit else "")
    done = f"{done_of_limit} {noun if (progress.limit or progress.done) == 1 else figures.plural_of(noun)}"
    change = figures.change(progress.change, unknown="")
    interval = figures.interval(progress.interval, unknown="")
    left = f"{figures.seconds(max(0.0, progress.seconds_left))} left" if progress.seconds_left is not None else ""
    if progress.lasted_s is not None:
        whose = f"this {noun}" if progress.side is None else f"{progress.side}'s {noun}"
        left = "  ".join(filter(None, (left, f"{whose} {_whole_seconds(progress.lasted_s)}")))
    estimate = " ".join(filter(None, (change, interval)))
    bar = live_suite.bar(progress.done / progress.limit, _BAR_COLUMNS) if progress.limit and has_bar else ""
    choices = (
        (printable.shorten(name, 30), bar, done, estimate, left),
        (printable.shorten(name, 30), done, estimate, left),
        (done, estimate, left),
        (done, change, left),
        (done_of_limit, change, left),
        (done_of_limit, change),
        (done_of_limit,),
    )
    return printable.first_that_fits(choices, width)


def _texts_of_first(progress: Progress, noun: str) -> list[list[str]]:
    """Return what may be said of the first launch, which has no name here: it may be of either side."""
    first_launch, limit_text = "the first launch runs", "for"
    if progress.lasted_s is not None:
        first_launch = f"the first {noun} has run for {_whole_seconds(progress.lasted_s)}"
        limit_text = "each launch for"
    if progress.seconds_left is None:
        return [[first_launch]]
    return [[f"{first_launch}, {limit_text} {figures.seconds(progress.seconds_left)} at most"], [first_launch]]
