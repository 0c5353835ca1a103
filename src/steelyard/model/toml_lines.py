"""On which line of a TOML file a key stands, which its parser does not tell."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

Place = tuple[str | int, ...]
"""Keys, and places in arrays of tables: `("target", 1, "command")`."""

# What the last of several lines of a value holds.
_ENDS = re.compile(r"""[]}]|\"{3}|'{3}""")
# A value of more lines ends here for us: what follows it, up to the next table, has the line of its table.
_MOST_LINES_OF_VALUE = 500


def lines_of(text: str) -> dict[Place, int]:
    """Each key and table of a file that is TOML, with its line, counted from 1; of inline tables the keys as well."""
    lines, places = text.split("\n"), dict[Place, int]()  # of TOML nothing else ends a line
    arrays: dict[Place, int] = {}
    table: Place = ()
    number = 0
    while number < len(lines):
        line, begun = lines[number], number
        number += 1
        if header := _header(line):
            table = _table(header, arrays)
            places.setdefault(table, begun + 1)
        elif line.strip() and not line.lstrip().startswith("#"):
            value, number = _value(lines, begun)
            for keys in _paths(value):
                places.setdefault((*table, *keys), begun + 1)
    return places


def line_of(places: Mapping[Place, int], place: Place) -> int:
    """The line of a place, or of the nearest that is around it; 1 if there is none."""
    while place and place not in places:
        place = place[:-1]
    return places.get(place, 1)


def _header(line: str) -> dict[str, Any]:
    """What a table's header says by itself; nothing of any other line."""
    if re.match(r"\s*\[", line):
        with suppress(tomllib.TOMLDecodeError):
            return tomllib.loads(line)
    return {}


def _table(value: Any, arrays: dict[Place, int]) -> Place:
    """The table that a header begins; of an array of tables the next one, and within one that is its latest."""
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


def _value(lines: list[str], begun: int) -> tuple[dict[str, Any], int]:
    """What a key that stands on a line says, and the line that follows; of one that is too long that of a header."""
    for end in range(begun + 1, min(len(lines), begun + _MOST_LINES_OF_VALUE) + 1):
        if end == begun + 1 or _ENDS.search(lines[end - 1]):
            with suppress(tomllib.TOMLDecodeError):
                return tomllib.loads("\n".join(lines[begun:end])), end
    following = range(begun + 1, len(lines))
    return {}, next((number for number in following if _header(lines[number])), len(lines))


def _paths(value: Mapping[str, Any]) -> Iterator[Place]:
    for key, inner in value.items():
        yield (key,)
        if isinstance(inner, dict):
            yield from ((key, *rest) for rest in _paths(inner))
