"""Find the lines of keys in a TOML file, which its parser does not report."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

Place = tuple[str | int, ...]
"""Keys, and places in arrays of tables: `("target", 1, "command")`."""

# What ends a value of several lines.
_ENDS = re.compile(r"""[]}]|\"{3}|'{3}""")
# Longer values are not followed: keys after one, up to the next table, get the line of their table.
_MOST_LINES_OF_VALUE = 500


def lines_of(text: str) -> dict[Place, int]:
    """Map each key and table of valid TOML to its line, counted from 1, including the keys of inline tables."""
    lines, places = text.split("\n"), dict[Place, int]()  # nothing else ends a line in TOML
    arrays: dict[Place, int] = {}
    table: Place = ()
    number = 0
    while number < len(lines):
        line, start = lines[number], number
        number += 1
        if header := _header(line):
            table = _table(header, arrays)
            places.setdefault(table, start + 1)
        elif line.strip() and not line.lstrip().startswith("#"):
            value, number = _value(lines, start)
            for keys in _paths(value):
                places.setdefault((*table, *keys), start + 1)
    return places


def line_of(places: Mapping[Place, int], place: Place) -> int:
    """The line of a place, or of the innermost one that contains it; 1 if there is none."""
    while place and place not in places:
        place = place[:-1]
    return places.get(place, 1)


def _header(line: str) -> dict[str, Any]:
    """The parsed header of a table; empty for any other line."""
    if re.match(r"\s*\[", line):
        with suppress(tomllib.TOMLDecodeError):
            return tomllib.loads(line)
    return {}


def _table(value: Any, arrays: dict[Place, int]) -> Place:
    """The table that a header begins: in an array of tables the next one; tables within one belong to its latest."""
    names, is_array = list[str](), False
    while value and isinstance(value, dict):
        ((name, value),) = value.items()
        names.append(name)
        if isinstance(value, list):
            is_array, value = True, value[0]
    place: Place = ()
    for position, name in enumerate(names):
        place = (*place, name)
        if is_array and position == len(names) - 1:
            arrays[place] = arrays.get(place, -1) + 1
        if place in arrays:
            place = (*place, arrays[place])
    return place


def _value(lines: list[str], start: int) -> tuple[dict[str, Any], int]:
    """The parsed key and value that begin on a line, and the next line; after too long a value, that of a header."""
    for end in range(start + 1, min(len(lines), start + _MOST_LINES_OF_VALUE) + 1):
        if end == start + 1 or _ENDS.search(lines[end - 1]):
            with suppress(tomllib.TOMLDecodeError):
                return tomllib.loads("\n".join(lines[start:end])), end
    following = range(start + 1, len(lines))
    return {}, next((number for number in following if _header(lines[number])), len(lines))


def _paths(value: Mapping[str, Any]) -> Iterator[Place]:
    for key, inner in value.items():
        yield (key,)
        if isinstance(inner, dict):
            yield from ((key, *rest) for rest in _paths(inner))
