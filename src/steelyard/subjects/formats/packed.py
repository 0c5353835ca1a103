"""Read large JSON files by a program of our own: Python would make an object of each of their numbers.

It reads what Python's own reader would, except that long lists of floats are packed, and that the parts of pyperf's
runs that are only kept stay text. It refuses whatever it could not read alike, so it saves time and changes nothing
else; Python's own reader then tells what is wrong with a file.
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
from steelyard.model.samples import FLOATS, split_samples

# Starting the program takes 2 ms.
_FEWEST_BYTES = 4 << 20
_FIRST_BYTES: Final = (b"{", b"[")
_COUNTS: Final = "Q"
_DIGEST_BYTES, _NUMBER_BYTES = 32, 8
_BUFFER_BYTES = 1 << 18
# With Linux's 64 KiB both processes wait for each other so often that it costs another 10 ms in 150.
_PIPE_BYTES = 1 << 20


class Packed(NamedTuple):
    """The contents of a large JSON file, and its SHA-256.

    For a pyperf file, `rest` is its text with the values of each run replaced by their number; else it is empty.
    """

    json: Any
    digest: str
    rest: bytes


def read_packed(path: Path) -> Packed | None:
    """Return the contents of a large JSON file; None for any other file, or one that the program refuses."""
    try:
        with opened(path) as handle:
            file = handle.fileno()
            size = os.fstat(file).st_size
            is_large = size >= _FEWEST_BYTES and not is_too_large(size)
            return _run_reader(file) if is_large and os.pread(file, 1, 0) in _FIRST_BYTES else None
    except (OSError, EOFError, pickle.UnpicklingError):
        return None


def _run_reader(file: int) -> Packed:
    reading_end, writing_end = os.pipe()
    with suppress(OSError):  # the system refuses larger pipes to a user who has many
        fcntl(reading_end, F_SETPIPE_SZ, _PIPE_BYTES)
    with os.fdopen(reading_end, "rb", _BUFFER_BYTES) as output:
        try:
            words = [str(READER), str(MOST_VALUES), str(MOST_LISTS), str(MOST_TEXTS)]
            file_actions = [
                (os.POSIX_SPAWN_DUP2, file, 0),
                (os.POSIX_SPAWN_DUP2, writing_end, 1),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ]
            reader = os.posix_spawn(READER, words, {}, file_actions=file_actions)
        finally:
            os.close(writing_end)
        try:
            return _read(output)
        finally:
            output.close()  # else the program could wait for us to read on
            os.waitpid(reader, 0)


def _read(output: BinaryIO) -> Packed:
    """Read what the program writes (`native/read`); raises EOFError if that ends too soon."""
    digest = _read_exactly(output, _DIGEST_BYTES).hex()
    lists, length, rest_bytes = array(_COUNTS, _read_exactly(output, 3 * _NUMBER_BYTES))
    pickled = _read_exactly(output, length)
    rest = _read_exactly(output, rest_bytes)
    lengths = array(_COUNTS, _read_exactly(output, _NUMBER_BYTES * lists))
    numbers = array(FLOATS, bytes(_NUMBER_BYTES)) * sum(lengths)
    if output.readinto(numbers) < _NUMBER_BYTES * len(numbers):  # type: ignore[attr-defined] # of any that is buffered
        raise EOFError
    # From a file without `peek` it would read each of its operations by a call of its own, in twice the time.
    file = io.BufferedReader(io.BytesIO(pickled), _BUFFER_BYTES)
    with without_collection():
        return Packed(_Plain(file, buffers=split_samples(numbers, lengths)).load(), digest, rest)


class _Plain(pickle.Unpickler):
    """Loads only lists, dictionaries, texts, numbers and buffers: all that a file can make our reader write is data."""

    def find_class(self, module: str, name: str) -> NoReturn:
        """Refuse to import anything."""
        raise EOFError(f"{module}.{name} is no data")


def _read_exactly(output: BinaryIO, length: int) -> bytes:
    if len(data := output.read(length)) < length:
        raise EOFError
    return data
