"""Text: taking it apart, putting it together, changing it."""

from __future__ import annotations

import asyncio
import base64
import textwrap
import unicodedata
from collections.abc import Callable, Iterator

from steelyard import bench

_TEXT = "It is a balance that weighs one thing against another with a counterpoise. " * 10


@bench
def words() -> None:
    counts: dict[str, int] = {}
    for word in _TEXT.lower().split():
        counts[word] = counts.get(word, 0) + 1


@bench
def join() -> Iterator[Callable[[], object]]:
    parts = _TEXT.split()
    yield lambda: " ".join(parts)


@bench
def replace() -> None:
    _TEXT.replace("weighs", "measures")


@bench
def formatted() -> None:
    for number in range(50):
        f"{number:>8,} {number / 7:.3f} {number:#x}"


@bench
def translated() -> Iterator[Callable[[], object]]:
    table = str.maketrans("abcdefgh", "hgfedcba")
    yield lambda: _TEXT.translate(table)


@bench
def wrapped() -> None:
    textwrap.wrap(_TEXT, 60)


@bench
def utf8() -> Iterator[Callable[[], object]]:
    text = "Grüße aus Ávila, 東京 " * 50
    yield lambda: text.encode().decode()


@bench
def normalized() -> Iterator[Callable[[], object]]:
    text = "Ångström café naïve " * 20
    yield lambda: unicodedata.normalize("NFD", text)


@bench
def base64_both_ways() -> Iterator[Callable[[], object]]:
    raw = bytes(range(256)) * 8
    yield lambda: base64.b64decode(base64.b64encode(raw))


@bench(tags=["async"])
async def queue() -> None:
    lines: asyncio.Queue[str] = asyncio.Queue()
    for line in _TEXT.split("."):
        await lines.put(line)
    while not lines.empty():
        await lines.get()
