"""A sentence on stderr. Imports nothing heavy: it answers wrong usage, and says what ends the command."""

from __future__ import annotations

import sys
from contextlib import suppress

from steelyard.report.plain import plain


def say(sentence: str, *lines: str) -> None:
    """Print one sentence, and lines below it; nothing in them can steer the terminal."""
    with suppress(OSError):  # the exit status still tells if stderr cannot be written
        print(f"steelyard: {plain(sentence)}", *map(plain, lines), sep="\n", file=sys.stderr, flush=True)
