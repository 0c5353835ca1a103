"""The bytes of a file, before anything is known about them: read, unpacked, refused if too many; and compressed."""

from __future__ import annotations

import errno
import os
import select
import stat
import time
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Final

from steelyard.model.errors import UsageError
from steelyard.model.format import KEPT_NAME

_GZIP_MAGIC, _AS_GZIP = b"\x1f\x8b", 31
_STDIN: Final = "/dev/stdin"
# For a record of 100,000 launches, 15 MB, it gives 3.1 MB in 0.16 s; level 6 gives 2.9 MB in 0.49 s, level 1 3.6 MB in
# 0.08 s.
_COMPRESSION_LEVEL = 4
# A weighing of a million launches is about 150 MB; a larger file is not one, and is not read into memory to find out.
LARGEST_BYTES = 1 << 28
# The same million launches have 29 values each, in one list each (a line of a journal), and some may be repeated.
MOST_VALUES = 35_000_000
MOST_LISTS = 4_000_000
# Texts take several times the memory: in a weighing they are only names, in other tools' files the names of fields.
MOST_TEXTS = 6_000_000
_MOST_LINES = 2_000_000
# The bytes searched at once: what the processor's caches hold.
_CHUNK_BYTES = 1 << 18
# How long a pipe may be without a writer, and how often to look.
_LONGEST_WAIT_S, _POLL_S = 3.0, 0.02


def read_bytes(path: Path, largest_bytes: int | None = None) -> bytes:
    """Read a file or what comes through a pipe; raises UsageError if it cannot be read, or is too large."""
    limit = largest_bytes or LARGEST_BYTES
    try:
        with open(path, "rb", opener=_open_without_waiting) as file:
            status = os.fstat(file.fileno())
            mode = status.st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
                raise UsageError(f"cannot read {path}: it is no file; check the path")
            if status.st_size > limit:
                raise _too_large(path, limit)
            first_bytes = _first_bytes(path, file.fileno()) if stat.S_ISFIFO(mode) else b""
            os.set_blocking(file.fileno(), True)
            data = first_bytes + file.read(limit + 1)
    except OSError as error:
        if isinstance(error, FileNotFoundError) and KEPT_NAME.fullmatch(str(path)):
            raise UsageError(f"no record of the name {path} is kept: steelyard list has the names") from error
        is_folder = isinstance(error, IsADirectoryError)
        remedy = f"name the files in it, as {path}/*.json.gz" if is_folder else "check the path and its permissions"
        raise UsageError(f"cannot read {path}: {error.strerror}; {remedy}") from error
    if len(data) > limit:
        raise _too_large(path, limit)
    return data


def is_too_large(size_bytes: int) -> bool:
    """Whether a file is too large for a record or an import."""
    return size_bytes > LARGEST_BYTES


def _open_without_waiting(path: str, flags: int) -> int:
    # A pipe that nobody writes to would never open.
    try:
        return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        if error.errno != errno.ENXIO or path != _STDIN:
            raise
        return os.dup(0)  # a socket, as Node.js uses for stdin: it cannot be opened by its name


def _first_bytes(path: Path, pipe: int) -> bytes:
    """Return the first bytes of a pipe, once it has a writer; raises UsageError if it gets none."""
    deadline = time.monotonic() + _LONGEST_WAIT_S
    while time.monotonic() < deadline:
        try:
            if data := os.read(pipe, 1 << 16):
                return data
        except BlockingIOError:
            return b""  # it has a writer that has not written yet
        if select.select([pipe], [], [], 0)[0]:
            return b""  # a writer came and went
        time.sleep(_POLL_S)
    raise UsageError(f"cannot read {path}: it is a pipe that nobody writes to; check the path")


def unpacked(path: Path, data: bytes, largest_bytes: int | None = None) -> bytes:
    """Return the data, unpacked if they are gzipped; raises UsageError if they are damaged or too large."""
    if not data.startswith(_GZIP_MAGIC):
        return data
    limit = largest_bytes or LARGEST_BYTES
    try:
        unpacker = zlib.decompressobj(wbits=_AS_GZIP)
        unpacked = unpacker.decompress(data, limit)
    except zlib.error as error:
        raise UsageError(f"{path} is a damaged gzip file ({error}): copy it again") from error
    if unpacker.unconsumed_tail:
        raise _too_large(path, limit)
    if not unpacker.eof:
        raise UsageError(f"{path} is a truncated gzip file: copy it again")
    if unpacker.unused_data:
        raise UsageError(f"{path} is a damaged gzip file (more follows its end): copy it again")
    return unpacked


def _too_large(path: Path, largest_bytes: int) -> UsageError:
    size = f"over {largest_bytes >> 20} MiB"
    if largest_bytes < LARGEST_BYTES:
        return UsageError(f"{path} is larger than what is read here ({size}): weigh fewer benchmarks, or fewer pairs")
    return UsageError(f"{path} is larger than any weighing ({size}): is it the right file?")


def compressed(text: Iterable[bytes]) -> Iterator[bytes]:
    """Compress text as gzip does, but without a time, so that the same record gives the same bytes."""
    packer = zlib.compressobj(level=_COMPRESSION_LEVEL, wbits=_AS_GZIP)
    yield from map(packer.compress, text)
    yield packer.flush()


def gzipped(data: bytes | Iterable[bytes]) -> Iterator[bytes]:
    """Compress the data as gzip does, unless they already are."""
    parts = iter([data] if isinstance(data, bytes) else data)
    first = next(parts, b"")
    whole = chain([first], parts)
    return whole if first.startswith(_GZIP_MAGIC) else compressed(whole)


def require_plausible(path: Path, data: bytes) -> bytes:
    """Return the data if they may be a weighing; raises UsageError for more values than any weighing has.

    As Python's objects these could take many times the memory.
    """
    limits = {b",": MOST_VALUES, b"[{": MOST_LISTS, b'"': 2 * MOST_TEXTS, b"\n": _MOST_LINES}
    # Shorter data cannot have too many, and need not import numpy.
    counts = _count_tokens(data, list(limits)) if len(data) > min(limits.values()) else {}
    if any(count > limits[token] for token, count in counts.items()):
        raise UsageError(f"{path} holds more values than any weighing: is it the right file?")
    return data


def _count_tokens(data: bytes, tokens: list[bytes]) -> dict[bytes, int]:
    """Count each of some sets of characters in the data; numpy is six times as fast as `bytes.count`."""
    import numpy as np

    characters = np.frombuffer(data, dtype=np.uint8)
    chunks = [characters[start : start + _CHUNK_BYTES] for start in range(0, len(characters), _CHUNK_BYTES)]
    return {
        token: sum(int(np.count_nonzero(chunk == character)) for chunk in chunks for character in token)
        for token in tokens
    }
