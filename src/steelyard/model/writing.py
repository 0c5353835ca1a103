"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from steelyard.model.errors import MeasurementError
from steelyard.model.file_bytes import gzipped
from steelyard.model.locks import lock

_ACCESS_LIST = "system.posix_acl_access"
_NEIGHBOUR = ".steelyard-"
_IS_NEIGHBOUR = re.compile(rf"{re.escape(_NEIGHBOUR)}[a-z0-9_]{{8}}")
# A temporary neighbour is created first and then locked: one this old without a lock was left behind.
_UNLOCKED_S = 60.0


def write_file(path: Path, data: str | bytes | Iterable[bytes]) -> None:
    """Write what a user asked for by `write_atomically`.

    A file whose name ends in .gz is compressed, since programs that go by the name could not read it otherwise.
    """
    if isinstance(data, str):
        data = data.encode(errors="backslashreplace")
    write_atomically(path, gzipped(data) if path.suffix == ".gz" else data)


def write_atomically(path: Path, data: bytes | Iterable[bytes], *, private: bool = False) -> None:
    """Write a file whole, by renaming a temporary neighbour over it; write directly to a pipe or a device.

    A file that is replaced keeps its mode, and its owner if possible; a new file gets the usual mode, or is `private`
    to its owner. Raises MeasurementError if that fails; a file then keeps its old contents.
    """
    try:
        if path.exists() and not path.is_file():
            _pour(path, data)  # renaming over it would put a file in the place of a device
        else:
            _replace(Path(os.path.realpath(path)), data, private=private)  # a symbolic link stays a link
    except OSError as error:
        way_out = "allow larger files (ulimit -f)" if error.errno == errno.EFBIG else "give another place"
        raise MeasurementError(f"cannot write {path}: {error.strerror}; {way_out}") from error


def _pour(path: Path, data: bytes | Iterable[bytes]) -> None:
    # Non-blocking, so that a pipe without a reader is an error, instead of never opening.
    handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    os.set_blocking(handle, True)
    with os.fdopen(handle, "wb") as file:
        file.writelines([data] if isinstance(data, bytes) else data)


def _replace(path: Path, data: bytes | Iterable[bytes], *, private: bool) -> None:
    handle, neighbour = tempfile.mkstemp(prefix=_NEIGHBOUR, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            lock(file.fileno())
            if not private:
                _make_alike(path, file.fileno())
            file.writelines([data] if isinstance(data, bytes) else data)
            file.flush()
            os.fsync(file.fileno())
        Path(neighbour).replace(path)
    except BaseException:
        Path(neighbour).unlink(missing_ok=True)
        raise
    _sweep(path.parent)


def _sweep(folder: Path) -> None:
    """Remove temporary files that killed processes left in a folder, as far as possible."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _IS_NEIGHBOUR.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_if_left(entry.path)


def _remove_if_left(path: str) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        found = os.fstat(handle)
        is_ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
        if is_ours and time.time() - found.st_mtime > _UNLOCKED_S and lock(handle):
            os.unlink(path)  # noqa: PTH108
    finally:
        os.close(handle)


def _make_alike(path: Path, file: int) -> None:
    """Give a file the mode and the owner of the one at `path`, or the mode of a new file."""
    try:
        before = path.stat()
    except FileNotFoundError:
        os.fchmod(file, 0o666 & ~_umask())
        return
    mode = before.st_mode & 0o777
    for owner, group, lost in ((-1, before.st_gid, 0o070), (before.st_uid, -1, 0)):
        try:
            os.fchown(file, owner, group)
        except OSError:
            mode &= ~lost  # our group must not get what the file's own group was allowed
    with suppress(OSError):  # most files have none, and some file systems support none
        os.setxattr(file, _ACCESS_LIST, os.getxattr(path, _ACCESS_LIST))
        return  # the mode follows from it
    os.fchmod(file, mode)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
