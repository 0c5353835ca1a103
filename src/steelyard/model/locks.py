"""Locks on files and folders that are released when the process that holds them ends, however it ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def lock(handle: int) -> bool:
    """Try to lock an open file for this process; False if another holds it, or the file system has no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def locked(path: Path, flags: int) -> Iterator[bool]:
    """Open what is there by these flags, and yield whether it could be locked, for as long as the context lasts.

    Raises OSError if it cannot be opened.
    """
    handle = os.open(path, flags | os.O_CLOEXEC)
    try:
        yield lock(handle)
    finally:
        os.close(handle)
