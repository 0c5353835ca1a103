"""Locks on files and folders that end with the process that holds them, however that ends."""

from __future__ import annotations

import fcntl


def lock(handle: int) -> bool:
    """Whether this process has what is open for itself now; never where the file system has no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
