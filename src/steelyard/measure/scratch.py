"""Temporary folders, and the removal of those whose owner was killed."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from steelyard.model.errors import MeasurementError
from steelyard.model.locks import lock, locked

_NAME = re.compile(r"steelyard-[a-z]+-scratch-[a-z0-9_]{8}")
_MODE = 0o700
# A folder is created first and locked afterwards: a younger one may be unlocked and still in use.
_UNLOCKED_S = 1.0


class Scratch:
    """A temporary folder of this process; it is locked while in use, and the lock ends with the process in any case."""

    def __init__(self, what_for: str) -> None:
        """Create it among the temporary files; raises OSError where that is not possible."""
        self.path = Path(tempfile.mkdtemp(prefix=f"steelyard-{what_for}-scratch-"))
        self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        lock(self._lock)

    def remove(self) -> None:
        """Remove it as far as possible; to be called once."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


@contextmanager
def scratch_folder(what_for: str) -> Iterator[Path]:
    """Yield the path of a temporary folder, which is removed afterwards; raises OSError if it cannot be created."""
    scratch = Scratch(what_for)
    try:
        yield scratch.path
    finally:
        scratch.remove()


@contextmanager
def room_for(needed: str) -> Iterator[None]:
    """Turn an OSError about a temporary folder into a MeasurementError; `needed` says in its text what needs it."""
    try:
        yield
    except OSError as error:
        raise MeasurementError(
            f"the folder for temporary files cannot be used ({error.strerror or error}): {needed} a place on the way; "
            "make room, or set TMPDIR to another folder"
        ) from error


@contextmanager
def opened(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file to read; raises OSError if it is not a regular one: a pipe may block, a device has no end."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("it is no file")
        yield file


def end_of(path: Path, most: int) -> bytes:
    """Return the last bytes of a file, `most` at most, however large it is; raises OSError as `opened` does."""
    with opened(path) as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - most))
        return file.read(most)


def sweep() -> None:
    """Remove the temporary folders left by processes of ours that were killed."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_if_left(Path(entry.path))


def _remove_if_left(path: Path) -> None:
    status = path.lstat()
    is_ours = (status.st_uid, status.st_mode) == (os.getuid(), stat.S_IFDIR | _MODE)
    if not is_ours or time.time() - status.st_ctime < _UNLOCKED_S:
        return
    with locked(path, os.O_DIRECTORY | os.O_NOFOLLOW) as is_left:
        if is_left:
            shutil.rmtree(path, ignore_errors=True)
