"""Read and write JSON as Python's own reader and writer do, but faster for long texts.

pydantic comes with a fast reader and writer: it reads 45 MB of numbers as fast as orjson and msgspec, and in no more
memory. What that reader refuses is read again by Python's, which accepts more (lone surrogates, deep nesting) and gives
the error its message. So the length of a text affects only the time.
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

# Python's own reader takes less than 20 ms for shorter texts.
_LONG = 1 << 20
# Made once: json.dumps makes a new encoder at each call with other options than its defaults.
_ENCODE = json.JSONEncoder(allow_nan=False).encode


def parse(text: bytes) -> Any:
    """Read JSON in UTF-8; raises ValueError, also for numbers that are not finite, which Python's reader accepts."""
    if len(text) >= _LONG:
        try:
            return _finite_throughout(_quickly(text, allow_inf_nan=False))
        except ValueError:
            pass
    return json.loads(text.decode(), parse_constant=_finite, parse_float=_finite)


def parse_anything(text: bytes, decoded: Callable[[bytes], str]) -> Any:
    """Read JSON, accepting the NaN and Infinity that other tools write; raises ValueError for anything else."""
    if len(text) >= _LONG:
        try:
            return _quickly(text, allow_inf_nan=True)
        except ValueError:
            pass
    return json.loads(decoded(text))


def pieces(value: Any) -> Iterator[bytes]:
    """Yield the JSON of a record's fields, piece by piece; raises ValueError for a number that is not finite.

    Packed numbers become lists, and are known to be finite; bytes are text without a quote in it.
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
    """Yield the JSON of an object; adjacent fields without packed numbers are encoded together."""
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
    """Whether a value contains packed numbers; the items of a list are assumed to be alike."""
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
    """Return the value; raises ValueError for a number beyond all floats, which the fast reader takes for infinity."""
    if not _is_finite(value):
        raise ValueError("there is a number beyond all floats")
    return value


def _is_finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if not isinstance(value, list):
        return not isinstance(value, float) or isfinite(value)
    try:
        return isfinite(sum(value))  # if only the sum is beyond all floats, Python's reader will accept the text
    except (TypeError, OverflowError):
        pass
    some = list(filter(None, value))  # many columns have None or 0 where nothing is known
    if len(some) < len(value):
        return _is_finite(some)
    if set(map(type, some)) == {list}:
        return _is_finite(list(chain.from_iterable(some)))
    return all(map(_is_finite, some))
