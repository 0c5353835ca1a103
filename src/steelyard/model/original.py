"""What the files of an import hold beside its values, kept so that the same files can be written again.

A file of a thousand processes has some ten facts about each, which are not needed before that: they are kept packed.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any

from steelyard.model.errors import UsageError
from steelyard.model.file_bytes import LARGEST_BYTES
from steelyard.model.foreign import ForeignResults

_LEVEL = 1


def packed(json_text: bytes) -> str:
    """Pack JSON as it is kept: compressed by zlib, in base64."""
    return b64encode(zlib.compress(json_text, _LEVEL)).decode()


def originals(record: ForeignResults) -> Sequence[Any]:
    """What each file held, in order; empty if that was not kept. Raises UsageError if it is damaged."""
    try:
        return [_unpacked(text) for text in record.originals]
    except (ValueError, zlib.error, RecursionError) as error:
        raise UsageError(f"the record is damaged: what it kept of its files cannot be read ({error})") from error


def _unpacked(text: str) -> Any:
    unpacker = zlib.decompressobj()
    data = unpacker.decompress(b64decode(text, validate=True), LARGEST_BYTES)
    if not unpacker.eof:
        raise ValueError("it is cut, or larger than any file that is imported")
    return json.loads(data)
