"""A sentence on stderr. Imports nothing heavy: it is what wrong usage is answered by."""

from __future__ import annotations

import sys
from contextlib import suppress


def say(sentence: str, *lines: str) -> None:
    """Print one sentence, and lines below it; whatever is in them, nothing steers the terminal."""
    from steelyard.report.printable import plain

    with suppress(OSError):  # a status says as much where stderr cannot be written
        print(f"steelyard: {plain(sentence)}", *map(plain, lines), sep="\n", file=sys.stderr, flush=True)
