"""Hashes and checksums. PLANTED=1 in the environment makes one of them, `fnv1a`, about 2 % slower."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Callable, Iterator

from steelyard import bench

_FNV_BYTES = 510 if os.environ.get("PLANTED") == "1" else 500


@bench(n=[64, 16384])
def sha256(n: int) -> Iterator[Callable[[], object]]:
    message = bytes(n)
    yield lambda: hashlib.sha256(message).digest()


@bench
def blake2b() -> Iterator[Callable[[], object]]:
    message = bytes(4096)
    yield lambda: hashlib.blake2b(message).digest()


@bench
def crc32() -> Iterator[Callable[[], object]]:
    message = bytes(65536)
    yield lambda: zlib.crc32(message)


@bench
def fnv1a() -> Iterator[Callable[[], object]]:
    message = bytes(number % 251 for number in range(_FNV_BYTES))

    def digest() -> int:
        state = 0x811C9DC5
        for byte in message:
            state = (state ^ byte) * 0x01000193 & 0xFFFFFFFF
        return state

    yield digest


@bench
def tuples() -> Iterator[Callable[[], object]]:
    points = [(number, number + 1, "name") for number in range(200)]
    yield lambda: [hash(point) for point in points]
