"""Words that a command line has to refuse, and how a refusal is had."""

from __future__ import annotations

from collections.abc import Callable

LONG = "x" * 300
# A name that tries to colour the terminal, with a byte that is no UTF-8; and how it may be shown.
AWKWARD = "\x1b[31m\udcff"
SHOWN = r"\x1b[31m\xff"

Refuses = Callable[..., str]
