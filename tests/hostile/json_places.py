"""Places within JSON, and other values put there: how records are damaged on purpose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

Path = tuple[str | int, ...]


class Place(NamedTuple):
    """A place: the keys and indices that lead to it, and whether it is the last key itself, and not its value."""

    path: Path
    is_name: bool = False


def places(value: Any, path: Path = ()) -> Iterator[Place]:
    """Yield all places of a value in its order, the names of fields among them."""
    yield Place(path)
    if isinstance(value, dict):
        for key, inner in value.items():
            yield Place((*path, key), is_name=True)
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, (*path, index))


def found(value: Any, place: Place) -> Any:
    """Return what is at a place."""
    for step in place.path:
        value = value[step]
    return place.path[-1] if place.is_name else value


def replaced(value: Any, place: Place, new: Any) -> Any:
    """Return a copy of the value with `new` at one place; it shares what is not on the way there."""
    if not place.path:
        return new
    step, rest = place.path[0], Place(place.path[1:], place.is_name)
    if place.is_name and not rest.path:
        return {new if key == step else key: inner for key, inner in value.items()}
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[step] = replaced(value[step], rest, new)  # type: ignore[index] # a key of this very value
    return copy


def dropped(value: Any, place: Place) -> Any:
    """Return a copy of the value without what is at one place."""
    copy = dict(value) if isinstance(value, dict) else list(value)
    step, *rest = place.path
    if rest:
        copy[step] = dropped(value[step], Place(tuple(rest)))  # type: ignore[index]
    else:
        del copy[step]  # type: ignore[arg-type]
    return copy
