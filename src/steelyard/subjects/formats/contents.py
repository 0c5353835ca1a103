"""The contents of another tool's file, in terms of no particular tool."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steelyard.model.findings import Finding

_LONGEST_FACT = 300


@dataclass(frozen=True)
class Opened:
    """A file that was read: its bytes, its text, and its JSON if it has any.

    For criterion's folders there is instead, for each benchmark, its sample.json and its benchmark.json, in `parts`.
    """

    path: Path
    data: bytes = b""
    json: Any = None
    parts: tuple[tuple[str, str], ...] = ()
    rest: bytes | None = None
    """What the file has besides the values, if its reader has separated that, so that `json` lacks it."""

    @cached_property
    def text(self) -> str:
        """The contents as text, whatever the encoding; invalid bytes are replaced."""
        return decoded(self.data)


@dataclass(frozen=True)
class FoundBenchmark:
    """One benchmark of a file; `values` are unchecked, as in the file, one list per process.

    `error` is what went wrong with it, according to the tool.
    """

    name: str
    unit: str
    values: Sequence[list[Any] | array[float]]
    higher_is_better: bool = False
    params: dict[str, str] = field(default_factory=dict)
    seconds: float | None = None
    error: str = ""
    processed: dict[str, float] = field(default_factory=dict)
    """How much an iteration processes, by unit, as far as the file tells."""
    findings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True)
class Contents:
    """All of a file: its benchmarks, and what it says about the tool and the machine."""

    benchmarks: list[FoundBenchmark]
    version: str = ""
    measured: str = ""
    machine: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    rest: bytes | None = None
    """What the file has besides the values, in JSON, if the tool's own file may be written again from it."""


@dataclass(frozen=True)
class Format:
    """A format: the tool that writes it, how it is recognised, and how it is read.

    `read` may raise LaunchError, whose text continues after "the program".
    """

    name: str
    tool: str
    recognises: Callable[[Opened], bool]
    read: Callable[[Opened], Contents]
    reads_packed: bool = False
    """Whether `read` accepts an array of floats in place of a list."""


def decoded(data: bytes) -> str:
    """Decode text whose encoding is detected from its beginning, as JSON allows several."""
    return data.decode(json.detect_encoding(data), errors="replace").removeprefix("\ufeff")


def entries(opened: Opened, key: str) -> list[dict[str, Any]]:
    """Return the objects in a list of the file's JSON; none if there is no such list."""
    listed = opened.json.get(key) if isinstance(opened.json, dict) else None
    return [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []


def facts(**values: Any) -> dict[str, str]:
    """Return what a file says about the machine, or a benchmark's parameters, without values that it does not tell."""
    return {text(name): text(value) for name, value in values.items() if text(name) and text(value)}


def text(value: Any) -> str:
    """Return a text or number as short text that a record can hold; empty for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value).encode(errors="replace").decode()[:_LONGEST_FACT].strip()
