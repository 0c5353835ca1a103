"""The exit statuses that are not an error's own (`model.errors` has those). Imports little: `main` reads it."""

from __future__ import annotations

from collections.abc import Collection

SLOWER = 1
FOUND = 1
FAILED = 3
UNDECIDED = 4
INTERRUPTED = 130
BROKEN_PIPE = 141


def of_verdicts(verdicts: Collection[str], *, strict: bool) -> int:
    """The exit status of what was decided."""
    if "slower" in verdicts:
        return SLOWER
    return UNDECIDED if strict and "undecided" in verdicts else 0
