"""Files that are read: standard input by the name of `-`."""

from __future__ import annotations

from pathlib import Path

from steelyard.model.errors import UsageError

STANDARD_STREAM = Path("-")
_STDIN = Path("/dev/stdin")


def readable(*paths: Path) -> list[Path]:
    """Where to read those files; raises UsageError if two are standard input, which is read only once."""
    if paths.count(STANDARD_STREAM) > 1:
        raise UsageError("two files would be read from standard input: give one of them by its name")
    return [_STDIN if path == STANDARD_STREAM else path for path in paths]
