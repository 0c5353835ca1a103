"""A sentence on stderr. Imports nothing heavy: it answers wrong usage, and says what ends the command."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from steelyard.report.plain import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.model.errors import SteelyardError


def say(sentence: str, *lines: str) -> None:
    """Print one sentence, and lines below it; nothing in them can steer the terminal."""
    with suppress(OSError):  # the exit status still tells if stderr cannot be written
        print(f"steelyard: {plain(sentence)}", *map(plain, lines), sep="\n", file=sys.stderr, flush=True)


def say_error_of(name: str, error: SteelyardError, earlier: Sequence[SteelyardError]) -> None:
    """Print what failed with one of several; what a tool wrote is shown once for all that it ended."""
    is_shown = any(one.lines == error.lines for one in earlier)
    say(f"{name}: {error}", *(() if is_shown else error.lines))
