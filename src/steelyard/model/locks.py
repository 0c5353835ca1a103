"""Locks on files and folders that are released when the process that holds them ends, however it ends."""

from __future__ import annotations

import fcntl


def lock(handle: int) -> bool:
    """Try to lock an open file for this process; False if another holds it, or the file system has no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
