"""Samples of processes, packed: in memory like columns, and in a file too if there are many.

In a file, few samples are lists of numbers. Many are written as their bits: two million are written in 0.05 s and read
in 0.1 s, where their digits take 0.14 s and 0.21 s.
"""

from __future__ import annotations

import sys
from array import array
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

from pydantic_core import CoreSchema, SchemaValidator, ValidationError, core_schema

from steelyard.model.numbers import LEAST_VALUE, MOST_VALUE

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler

FLOATS: Final = "d"
"""The type code of floats."""

FEWEST_ENCODED = 1000
"""The fewest samples of a benchmark that are encoded: fewer take no time, and stay readable in the file."""

_LENGTHS, _BITS = "lengths", "float64"
_BASE64 = SchemaValidator(core_schema.bytes_schema(), core_schema.CoreConfig(val_json_bytes="base64"))


def samples_of(lists: Any) -> list[array[float]] | None:
    """Pack lists of numbers that are valid results; None if there is anything else among them."""
    if not isinstance(lists, list) or not lists or not all(isinstance(one, list | array) and one for one in lists):
        return None
    try:
        packed = [one if isinstance(one, array) else array(FLOATS, one) for one in lists]
    except (TypeError, OverflowError):
        return None
    return packed if _are_results(concatenated(packed)) else None


def concatenated(parts: Iterable[Any]) -> bytes:
    """The numbers of several packed samples, one after the other, for numpy.frombuffer."""
    return b"".join(parts)


def split_samples(numbers: array[float], lengths: Sequence[int]) -> list[array[float]]:
    """Split numbers into packed samples of these lengths, one after the other."""
    return [numbers[end - length : end] for length, end in zip(lengths, accumulate(lengths), strict=True)]


def encoded(samples: Sequence[Any]) -> Any:
    """Return packed samples as a file holds them: the same lists, or for many an object with their lengths and bits."""
    if sum(map(len, samples)) < FEWEST_ENCODED:
        return samples
    import numpy as np

    bits = np.frombuffer(concatenated(samples)).astype("<f8", copy=False).data
    return {_LENGTHS: list(map(len, samples)), _BITS: b2a_base64(bits, newline=False)}


def _decode(fields: dict[str, Any]) -> list[array[float]]:
    lengths, text = fields.get(_LENGTHS), fields.get(_BITS)
    if len(fields) > 2 or not isinstance(lengths, list) or not isinstance(text, str):
        raise ValueError(f"many samples have {_LENGTHS} and {_BITS}, and nothing else")
    if not lengths or not all(type(length) is int and length > 0 for length in lengths):
        raise ValueError(f"{_LENGTHS} are integers above 0")
    bits = _from_base64(text)
    if len(bits) != 8 * sum(lengths):
        raise ValueError(f"{_BITS} holds another number of samples than {_LENGTHS} say")
    numbers = array(FLOATS, bits)
    if sys.byteorder == "big":
        numbers.byteswap()
    if not _are_results(numbers):
        raise ValueError(f"a sample is a number from {LEAST_VALUE:g} to {MOST_VALUE:g}")
    return split_samples(numbers, lengths)


def _from_base64(text: str) -> bytes:
    # pydantic's decoder takes a third of the time of Python's, but accepts other forms too, and does not say what is
    # wrong.
    if len(text) % 4 == 0 and "-" not in text and "_" not in text:
        with suppress(ValidationError):
            found: bytes = _BASE64.validate_strings(cast("Any", text))
            return found
    return a2b_base64(text, strict_mode=True)


def _are_results(numbers: bytes | array[float]) -> bool:
    import numpy as np

    values = np.frombuffer(numbers)
    return bool(values.min() >= LEAST_VALUE and values.max() <= MOST_VALUE)  # both are false for NaN


def _packed(value: Any, one_by_one: core_schema.ValidatorFunctionWrapHandler) -> list[array[float]]:
    if isinstance(value, dict):
        return _decode(value)
    if (found := samples_of(value)) is not None:
        return found
    plain = [list(one) if isinstance(one, array) else one for one in value] if isinstance(value, list) else value
    return [array(FLOATS, one) for one in one_by_one(plain)]


class _Packed:
    """Annotates a field of lists of samples, which are packed: all at once if every number is a valid result."""

    def core_schema(self) -> CoreSchema:
        """Return the schema that validates them."""
        value = core_schema.float_schema(ge=LEAST_VALUE, le=MOST_VALUE)
        lists = core_schema.list_schema(core_schema.list_schema(value, min_length=1), min_length=1)
        return core_schema.no_info_wrap_validator_function(_packed, lists)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return self.core_schema()

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema of both forms that samples have in a file."""
        many = {
            "type": "object",
            "description": f"{FEWEST_ENCODED:,} samples or more: those of all processes, one process after the other",
            "properties": {
                _LENGTHS: {
                    "type": "array",
                    "minItems": 1,
                    "items": {"type": "integer", "minimum": 1},
                    "description": "number of samples of each process, in the same order",
                },
                _BITS: {
                    "type": "string",
                    "contentEncoding": "base64",
                    "description": "the samples as IEEE 754 numbers of 64 bits, the lowest byte first, in base64",
                },
            },
            "required": [_LENGTHS, _BITS],
            "additionalProperties": False,
        }
        return {"anyOf": [handler(core), many]}


Samples = Annotated[list[list[float]], _Packed()]
"""The samples of each process; packed in memory."""
