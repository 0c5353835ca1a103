"""JSON as Python's own reader understands it, and as its own writer writes it; faster where it is long.

pydantic brings a fast reader and writer: 45 MB of numbers are read as fast as by orjson and msgspec, and in no more
memory. What that reader refuses, Python's reads again: it takes more (halves of surrogate pairs, deep nesting), and its
words are those of the error. So the length of a text changes nothing but the time.
"""

from __future__ import annotations

import gc
import json
import re
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from typing import Any

from pydantic_core import from_json, to_json

# Below, Python's own reader takes less time than numpy does to start.
_LONG = 1 << 20
_LARGE_EXPONENT = re.compile(rb"(?:^|[\s\[,:])-?[0-9][0-9.]*[eE]\+?[0-9]{3,}(?:[\s\],}]|$)")
# Of digits in a row: no float has more than 309 before its point, and so many fill an aligned block of this length.
_BLOCK = 154
# Looked through at once: what the processor's caches hold.
_STRETCH = _BLOCK << 12


def parse(text: bytes) -> Any:
    """JSON in UTF-8; ValueError for what is no finite number, too, which Python's reader would take."""
    if len(text) >= _LONG and not _may_overflow(text):
        try:
            return _quickly(text, allow_inf_nan=False)
        except ValueError:
            pass
    return json.loads(text.decode(), parse_constant=_finite, parse_float=_finite)


def parse_anything(text: bytes, decoded: Callable[[bytes], str]) -> Any:
    """JSON, with the NaN and Infinity that other tools write; raises ValueError for anything else."""
    if len(text) >= _LONG:
        try:
            return _quickly(text, allow_inf_nan=True)
        except ValueError:
            pass
    return json.loads(decoded(text))


def pieces(value: Any) -> Iterator[bytes]:
    """The JSON of a record's fields, piece by piece; raises ValueError for a number that is not finite.

    Packed numbers are lists there, and have been found to be finite.
    """
    if isinstance(value, array):
        yield to_json(value.tolist())
    elif not _holds_packed(value):
        yield json.dumps(value, allow_nan=False).encode()
    elif isinstance(value, dict):
        for number, (name, one) in enumerate(value.items()):
            yield b"%b%b: " % (b", " if number else b"{", json.dumps(name).encode())
            yield from pieces(one)
        yield b"}"
    else:
        for number, one in enumerate(value):
            yield b", " if number else b"["
            yield from pieces(one)
        yield b"]"


def _holds_packed(value: Any) -> bool:
    """Whether there are packed numbers somewhere in it; the items of a list are alike."""
    if isinstance(value, dict):
        return any(map(_holds_packed, value.values()))
    return isinstance(value, array) or (isinstance(value, list) and any(map(_holds_packed, value[:1])))


@contextmanager
def without_collection() -> Iterator[None]:
    """Make many objects, none of them in a cycle, without the garbage collector's looking through all of them for any.

    Nor does it look through them later.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


def _quickly(text: bytes, *, allow_inf_nan: bool) -> Any:
    with without_collection():
        return from_json(text, allow_inf_nan=allow_inf_nan, cache_strings="keys")


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text} is no number")
    return number


def _may_overflow(text: bytes) -> bool:
    """Whether a number may be beyond all floats, which the fast reader would take for infinity."""
    import numpy as np

    every = np.frombuffer(text, dtype=np.uint8)
    for start in range(0, len(text), _STRETCH):
        stretch = every[start : start + _STRETCH]
        blocks = stretch[: len(stretch) // _BLOCK * _BLOCK].reshape(-1, _BLOCK)
        if (blocks.min(axis=1) >= ord("0")).any():
            return True
        exponents = start + np.flatnonzero((stretch | 0x20) == ord("e"))  # of either case
        following = every[exponents[exponents < len(text) - 1] + 1]
        suspicious = ((following == ord("+")) | (following - np.uint8(ord("0")) < 10)).any()
        # A number begins before its exponent, and what is longer fills a block.
        if suspicious and _LARGE_EXPONENT.search(text, max(0, start - 4 * _BLOCK), start + _STRETCH + 4 * _BLOCK):
            return True
    return False
