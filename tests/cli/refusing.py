"""Arguments that a command line must refuse, and the type of the fixture `refuses`."""

from __future__ import annotations

from collections.abc import Callable

LONG = "x" * 300
# A name that tries to colour the terminal and holds a byte that is not UTF-8; and how it may be shown.
AWKWARD = "\x1b[31m\udcff"
SHOWN = r"\x1b[31m\xff"

Refuses = Callable[..., str]
