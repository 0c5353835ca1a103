"""From text and bytes to values."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import struct
from collections.abc import Callable, Iterator
from datetime import datetime
from random import Random
from urllib.parse import parse_qsl

from steelyard import bench


@bench(records=[10, 200])
def json_loads(records: int) -> Iterator[Callable[[], object]]:
    people = [{"name": f"person {number}", "age": number, "tags": ["a", "b"]} for number in range(records)]
    text = json.dumps(people)
    yield lambda: json.loads(text)


def _rows(random: Random) -> str:
    return "\n".join(",".join(str(random.randrange(10_000)) for _ in range(8)) for _ in range(50))


@bench(inputs=_rows)
def csv_rows(text: str) -> None:
    list(csv.reader(io.StringIO(text)))


@bench
def integers() -> Iterator[Callable[[], object]]:
    words = [str(number * 7919) for number in range(200)]
    yield lambda: [int(word) for word in words]


@bench
def log_line() -> Iterator[Callable[[], object]]:
    pattern = re.compile(r'(\S+) - - \[([^]]+)\] "(\w+) (\S+) [^"]*" (\d{3}) (\d+)')
    line = '192.168.0.1 - - [10/Oct/2025:13:55:36 +0000] "GET /index.html HTTP/1.1" 200 2326'
    yield lambda: pattern.match(line)


@bench
def dates() -> Iterator[Callable[[], object]]:
    texts = [f"2025-{month:02}-{day:02}T12:30:00+00:00" for month in range(1, 13) for day in range(1, 11)]
    yield lambda: [datetime.fromisoformat(text) for text in texts]


@bench
def records() -> Iterator[Callable[[], object]]:
    layout = struct.Struct("<IHHd")
    packed = b"".join(layout.pack(number, 1, 2, 0.5) for number in range(200))
    yield lambda: list(layout.iter_unpack(packed))


@bench
def literal() -> None:
    ast.literal_eval("{'name': 'x', 'values': [1, 2, (3, 4.5)], 'more': None}")


@bench
def query() -> None:
    parse_qsl("name=J%C3%B6rg+M&page=12&sort=price&tags=a&tags=b%20c&empty=", keep_blank_values=True)
