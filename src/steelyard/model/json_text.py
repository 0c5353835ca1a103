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
_LONG_TEXT_BYTES = 1 << 20


def parse(text: bytes) -> Any:
    """Read JSON in UTF-8; raises ValueError, also for numbers that are not finite, which Python's reader accepts."""
    if len(text) >= _LONG_TEXT_BYTES:
        try:
            return _require_finite(_parse_fast(text, allow_inf_nan=False))
        except ValueError:
            pass
    return json.loads(text.decode(), parse_constant=_finite_number, parse_float=_finite_number)


def parse_anything(text: bytes, decode: Callable[[bytes], str]) -> Any:
    """Read JSON, accepting what other tools write: NaN and Infinity, and control characters in texts, as they are.

    Raises ValueError for anything else.
    """
    if len(text) >= _LONG_TEXT_BYTES:
        try:
            return _parse_fast(text, allow_inf_nan=True)
        except ValueError:
            pass
    return json.loads(decode(text), strict=False)


def pieces(value: Any) -> Iterator[bytes]:
    """Yield the JSON of a record's fields, piece by piece; raises ValueError for a number that is not finite.

    Packed numbers become lists, and are known to be finite; bytes are text without a quote in it.
    """
    if isinstance(value, bytes):
        yield from (b'"', value, b'"')
    elif isinstance(value, array):
        yield to_json(value.tolist())
    elif isinstance(value, list) and value and all(isinstance(item, array) for item in value):
        yield to_json([item.tolist() for item in value])
    elif not _holds_packed(value):
        yield _encode(value)
    elif isinstance(value, dict):
        yield from _object_pieces(value)
    else:
        for index, item in enumerate(value):
            yield b", " if index else b"["
            yield from pieces(item)
        yield b"]"


def _object_pieces(fields: dict[str, Any]) -> Iterator[bytes]:
    """Yield the JSON of an object; adjacent fields without packed numbers are encoded together."""
    prefix = b"{"
    for is_packed, group in groupby(fields.items(), lambda field: _holds_packed(field[1])):
        if not is_packed:
            yield prefix + _encode(dict(group))[1:-1]
            prefix = b", "
            continue
        for name, value in group:
            yield b"%b%b: " % (prefix, _encode(name))
            yield from pieces(value)
            prefix = b", "
    yield b"}"


def _encode(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False).encode()


def _holds_packed(value: Any) -> bool:
    """Whether a value contains packed numbers; the items of a list are assumed to be alike."""
    if isinstance(value, dict):
        return any(map(_holds_packed, value.values()))
    return isinstance(value, array | bytes) or (isinstance(value, list) and any(map(_holds_packed, value[:1])))


def _parse_fast(text: bytes, *, allow_inf_nan: bool) -> Any:
    with without_collection():
        return from_json(text, allow_inf_nan=allow_inf_nan, cache_strings="keys")


def _finite_number(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text} is no number")
    return number


def _require_finite(value: Any) -> Any:
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
    nonzero = list(filter(None, value))  # many columns have None or 0 where nothing is known
    if len(nonzero) < len(value):
        return _is_finite(nonzero)
    if set(map(type, nonzero)) == {list}:
        return _is_finite(list(chain.from_iterable(nonzero)))
    return all(map(_is_finite, nonzero))
