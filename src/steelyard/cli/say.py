"""A sentence on stderr. Imports nothing heavy: wrong usage is answered by it, and what ends the command."""

from __future__ import annotations

import sys
from contextlib import suppress

from steelyard.report.plain import plain


def say(sentence: str, *lines: str) -> None:
    """Print one sentence, and lines below it; whatever is in them, nothing steers the terminal."""
    with suppress(OSError):  # a status says as much where stderr cannot be written
        print(f"steelyard: {plain(sentence)}", *map(plain, lines), sep="\n", file=sys.stderr, flush=True)
