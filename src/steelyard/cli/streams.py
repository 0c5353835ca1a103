"""The standard streams: open from the start, and written whole. Imports next to nothing: it comes before all else."""

from __future__ import annotations

import io
import os
import sys
from typing import Any, TextIO


class _Stream(io.FileIO):
    """Waits where a pipe or terminal is set not to, as some programs leave theirs, until there is room again."""

    def write(self, data: Any, /) -> int:
        while (written := super().write(data)) is None:
            import select

            select.select([], [self], [])
        return written


def open_streams() -> None:
    """Open the streams that the caller closed; else the next file opened would take their place.

    Standard output and error have a buffer of their own: without one (PYTHONUNBUFFERED) Python takes a part that was
    written for the whole, and where a disk is full the rest would be lost without an error.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = _buffered(1, sys.stdout)
    sys.stderr = _buffered(2, sys.stderr)


def _buffered(number: int, python_has: TextIO | None) -> TextIO:
    stream = _Stream(number, "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(stream),
        encoding=getattr(python_has, "encoding", None),
        errors=getattr(python_has, "errors", None),
        line_buffering=number == 2 or stream.isatty(),
    )
