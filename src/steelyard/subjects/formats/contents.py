"""What a file of another tool holds, in no tool's terms."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from steelyard.model.kept import Finding

_Item = TypeVar("_Item")
_LONGEST_FACT = 300


@dataclass(frozen=True)
class Opened:
    """A file that was read: what is in it, as text too, and its JSON if it is any.

    Of criterion's folders there is neither, but the samples of each benchmark, and what is told about it.
    """

    path: Path
    data: bytes = b""
    json: Any = None
    parts: tuple[tuple[str, str], ...] = ()
    rest: bytes | None = None
    """What the file tells beside the values, where its reader has told that already, and so not in `json`."""

    @cached_property
    def text(self) -> str:
        """What is in it, of whatever encoding; what is no text shows as such."""
        return decoded(self.data)


@dataclass(frozen=True)
class Found:
    """One benchmark of a file; `values` are as they stand there, one list a process, and may be anything yet.

    `error` is what the tool says went wrong with it.
    """

    name: str
    unit: str
    values: Sequence[list[Any] | array[float]]
    higher_is_better: bool = False
    params: dict[str, str] = field(default_factory=dict)
    seconds: float | None = None
    error: str = ""
    processed: dict[str, float] = field(default_factory=dict)
    """What an iteration processes, by the unit, as far as the file tells."""


@dataclass(frozen=True)
class Contents:
    """All of a file: its benchmarks, and what it says of the tool and the machine."""

    found: list[Found]
    version: str = ""
    measured: str = ""
    machine: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    rest: bytes | None = None
    """What the file tells beside the values, in JSON, if the tool's own file is to be written again from it."""


@dataclass(frozen=True)
class Format:
    """A format: the tool that writes it, how it is recognised, and how it is read.

    `read` may raise LaunchError, which begins where "the program" ends.
    """

    name: str
    tool: str
    recognises: Callable[[Opened], bool]
    read: Callable[[Opened], Contents]
    reads_packed: bool = False
    """Whether it takes an array of floats for a list of them."""


def decoded(data: bytes) -> str:
    """Text in the encoding that it begins in, as JSON's may be."""
    return data.decode(json.detect_encoding(data), errors="replace").removeprefix("\ufeff")


def grouped(items: Iterable[_Item], name: Callable[[_Item], str]) -> dict[str, list[_Item]]:
    """The items by their names, in the order in which these come first."""
    groups: dict[str, list[_Item]] = {}
    for item in items:
        groups.setdefault(name(item), []).append(item)
    return groups


def entries(opened: Opened, key: str) -> list[dict[str, Any]]:
    """The objects in a list of the file's JSON; none if there is no such list."""
    found = opened.json.get(key) if isinstance(opened.json, dict) else None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def facts(**told: Any) -> dict[str, str]:
    """What a file says of the machine, or of a benchmark's parameters: those that it does tell."""
    return {text(name): text(value) for name, value in told.items() if text(name) and text(value)}


def text(value: Any) -> str:
    """A short text or number as text that can be kept; else nothing."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value).encode(errors="replace").decode()[:_LONGEST_FACT].strip()
