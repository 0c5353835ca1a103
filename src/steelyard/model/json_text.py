"""JSON as Python's own reader understands it, and as its own writer writes it; faster where it is long.

pydantic brings a fast reader and writer: 45 MB of numbers are read as fast as by orjson and msgspec, and in no more
memory. What that reader refuses, Python's reads again: it takes more (halves of surrogate pairs, deep nesting), and its
words are those of the error. So the length of a text changes nothing but the time.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator
from itertools import chain, groupby
from math import isfinite
from typing import Any

from pydantic_core import from_json, to_json

from steelyard.model.collector import without_collection

# Below, Python's own reader takes less than a fiftieth of a second.
_LONG = 1 << 20
# Made once: json.dumps makes one for each call that is not as its defaults are.
_ENCODE = json.JSONEncoder(allow_nan=False).encode


def parse(text: bytes) -> Any:
    """JSON in UTF-8; ValueError for what is no finite number, too, which Python's reader would take."""
    if len(text) >= _LONG:
        try:
            return _finite_throughout(_quickly(text, allow_inf_nan=False))
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

    Packed numbers are lists there, and have been found to be finite; bytes are text without a quote in it.
    """
    if isinstance(value, bytes):
        yield from (b'"', value, b'"')
    elif isinstance(value, array):
        yield to_json(value.tolist())
    elif isinstance(value, list) and value and all(isinstance(one, array) for one in value):
        yield to_json([one.tolist() for one in value])
    elif not _holds_packed(value):
        yield _encoded(value)
    elif isinstance(value, dict):
        yield from _of_fields(value)
    else:
        for number, one in enumerate(value):
            yield b", " if number else b"["
            yield from pieces(one)
        yield b"]"


def _of_fields(fields: dict[str, Any]) -> Iterator[bytes]:
    """Those of an object; fields that are next to each other and have nothing packed in them are encoded together."""
    before = b"{"
    for is_packed, some in groupby(fields.items(), lambda field: _holds_packed(field[1])):
        if not is_packed:
            yield before + _encoded(dict(some))[1:-1]
            before = b", "
            continue
        for name, one in some:
            yield b"%b%b: " % (before, _encoded(name))
            yield from pieces(one)
            before = b", "
    yield b"}"


def _encoded(value: Any) -> bytes:
    return _ENCODE(value).encode()


def _holds_packed(value: Any) -> bool:
    """Whether there are packed numbers somewhere in it; the items of a list are alike."""
    if isinstance(value, dict):
        return any(map(_holds_packed, value.values()))
    return isinstance(value, array | bytes) or (isinstance(value, list) and any(map(_holds_packed, value[:1])))


def _quickly(text: bytes, *, allow_inf_nan: bool) -> Any:
    with without_collection():
        return from_json(text, allow_inf_nan=allow_inf_nan, cache_strings="keys")


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text} is no number")
    return number


def _finite_throughout(value: Any) -> Any:
    """What was read; raises ValueError for a number beyond all floats, which the fast reader takes for infinity."""
    if not _is_finite(value):
        raise ValueError("there is a number beyond all floats")
    return value


def _is_finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if not isinstance(value, list):
        return not isinstance(value, float) or isfinite(value)
    try:
        return isfinite(sum(value))  # where only the sum is beyond all floats, Python's reader will find so
    except (TypeError, OverflowError):
        pass
    some = list(filter(None, value))  # many a column has None or 0 where nothing was to be told
    if len(some) < len(value):
        return _is_finite(some)
    if set(map(type, some)) == {list}:
        return _is_finite(list(chain.from_iterable(some)))
    return all(map(_is_finite, some))
