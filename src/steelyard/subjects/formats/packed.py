"""Large files of JSON, read by a program of our own: Python would make an object of each of their numbers.

It tells what Python's own reader would, but for long lists of floats, which are packed, and for what is only kept of a
run of pyperf's, which stays text; it refuses whatever it could not tell alike. So it changes nothing but the time, and
whoever it refuses has Python's own reader to hear why.
"""

from __future__ import annotations

import io
import os
import pickle
from array import array
from contextlib import suppress
from fcntl import F_SETPIPE_SZ, fcntl
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, NoReturn

from steelyard.measure.native import READER
from steelyard.measure.scratch import opened
from steelyard.model.collector import without_collection
from steelyard.model.file_bytes import MOST_LISTS, MOST_TEXTS, MOST_VALUES, is_too_large
from steelyard.model.samples import FLOATS, parted

# To start it takes 2 ms.
_FEWEST_BYTES = 4 << 20
_BEGINS: Final = (b"{", b"[")
_COUNTS: Final = "Q"
_DIGEST_BYTES, _NUMBER_BYTES = 32, 8
_AT_ONCE = 1 << 18
# With Linux's 64 KiB both wait for each other so often that it takes 10 ms of 150 more.
_PIPE_BYTES = 1 << 20


class Packed(NamedTuple):
    """What a large file of JSON holds, with its SHA-256.

    `rest` is all of a file of pyperf's, as it stands there, but for the values of its runs; in their place is their
    number. Else it is empty.
    """

    json: Any
    digest: str
    rest: bytes


def read_packed(path: Path) -> Packed | None:
    """What a large file of JSON holds; None for any file that this is not for."""
    try:
        with opened(path) as found:
            file = found.fileno()
            size = os.fstat(file).st_size
            is_large = size >= _FEWEST_BYTES and not is_too_large(size)
            return _told_of(file) if is_large and os.pread(file, 1, 0) in _BEGINS else None
    except (OSError, EOFError, pickle.UnpicklingError):
        return None


def _told_of(file: int) -> Packed:
    answer, theirs = os.pipe()
    with suppress(OSError):  # whoever has many pipes may have no larger ones
        fcntl(answer, F_SETPIPE_SZ, _PIPE_BYTES)
    with os.fdopen(answer, "rb", _AT_ONCE) as told:
        try:
            words = [str(READER), str(MOST_VALUES), str(MOST_LISTS), str(MOST_TEXTS)]
            places = [
                (os.POSIX_SPAWN_DUP2, file, 0),
                (os.POSIX_SPAWN_DUP2, theirs, 1),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ]
            reader = os.posix_spawn(READER, words, {}, file_actions=places)
        finally:
            os.close(theirs)
        try:
            return _read(told)
        finally:
            told.close()  # else it could wait for us to read on
            os.waitpid(reader, 0)


def _read(told: BinaryIO) -> Packed:
    """What the program writes (`native/read`); raises EOFError where that ends too soon."""
    digest = _exactly(told, _DIGEST_BYTES).hex()
    lists, length, rest_bytes = array(_COUNTS, _exactly(told, 3 * _NUMBER_BYTES))
    pickled = _exactly(told, length)
    rest = _exactly(told, rest_bytes)
    lengths = array(_COUNTS, _exactly(told, _NUMBER_BYTES * lists))
    numbers = array(FLOATS, bytes(_NUMBER_BYTES)) * sum(lengths)
    if told.readinto(numbers) < _NUMBER_BYTES * len(numbers):  # type: ignore[attr-defined] # of any that is buffered
        raise EOFError
    # Of a file without `peek` it would take each of its operations by a call, in twice the time.
    file = io.BufferedReader(io.BytesIO(pickled), _AT_ONCE)
    with without_collection():
        return Packed(_Plain(file, buffers=parted(numbers, lengths)).load(), digest, rest)


class _Plain(pickle.Unpickler):
    """Takes lists, dictionaries, texts, numbers and buffers: whatever a file could make our reader write is data."""

    def find_class(self, module: str, name: str) -> NoReturn:
        """Refuse whatever is to be imported."""
        raise EOFError(f"{module}.{name} is no data")


def _exactly(told: BinaryIO, length: int) -> bytes:
    if len(found := told.read(length)) < length:
        raise EOFError
    return found
