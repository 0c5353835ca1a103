"""Recognise a file's format by its contents, and read these, or say in one sentence why that cannot be done."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

from steelyard.model.collector import without_collection
from steelyard.model.errors import LaunchError, UsageError
from steelyard.model.file_bytes import read_bytes, require_plausible, unpacked
from steelyard.model.files import within_memory
from steelyard.model.foreign import ForeignFile
from steelyard.model.format import FORMAT
from steelyard.model.json_text import parse_anything
from steelyard.model.typed import typed
from steelyard.subjects.formats.contents import Contents, Format, Opened, decoded
from steelyard.subjects.formats.criterion import ABOUT, files_of
from steelyard.subjects.formats.packed import read_packed
from steelyard.subjects.responses import quoted

FORMATS = ("google-benchmark", "pyperf", "hyperfine", "pytest-benchmark", "criterion", "go", "jmh", "swift")
"""The formats' names, in the order in which they are tried; each format is imported only when it is used."""

_Digest = Callable[[], str]

_BEGINNING = 1 << 10
# Other files of these tools: a pattern for the beginning, and what such a file is and what to give instead.
_UNREADABLE_FORMATS = {
    r"command,mean,stddev,": "the CSV of hyperfine, without its launches: give what --export-json writes",
    r"\| Command \| Mean \[": "the Markdown of hyperfine, without its launches: give what --export-json writes",
    r'\{"\w+":"[^"\n]*",("\w+":"[^"\n]*",)*"Package":': "the output of go test -json: give it without -json",
    r"name,iterations,real_time,": "the CSV of Google Benchmark: give what --benchmark_out_format=json writes",
    r'"Benchmark","Mode","Threads",': "the CSV of JMH: give what -rf json writes",
}
# What a reader raises for JSON of another shape, or for a number that no clock gives.
_SHAPE_ERRORS = (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError)


def format_named(name: str) -> Format:
    """Return the format of that name; raises UsageError, which lists all names, if there is none."""
    if name not in FORMATS:
        raise UsageError(f"--format {name} is unknown; known are {', '.join(FORMATS)}")
    constant = name.replace("-", "_")
    found: Format = getattr(import_module(f"steelyard.subjects.formats.{constant}"), constant.upper())
    return found


def contents_of(path: Path, wanted: Format | None = None) -> tuple[Format, Contents, list[ForeignFile]]:
    """Return the contents of a file or folder, read in the `wanted` format or the one that is recognised.

    Raises UsageError for anything else.
    """
    with within_memory(path):
        return _contents_of_large_file(path, wanted) or _contents_by_python(path, wanted)


def _contents_by_python(path: Path, wanted: Format | None) -> tuple[Format, Contents, list[ForeignFile]]:
    opened, files = _open(path)
    chosen = wanted or _recognise(opened)
    return chosen, _read(path, opened, chosen), files


def _contents_of_large_file(path: Path, wanted: Format | None) -> tuple[Format, Contents, list[ForeignFile]] | None:
    """Return the same for a large file, faster; None for any other, and for one with something wrong."""
    if (found := read_packed(path)) is None:
        return None
    opened = Opened(path, json=found.json, rest=found.rest)
    with suppress(UsageError):
        chosen = wanted or _recognise(opened)
        return (chosen, _read(path, opened, chosen), [_file(path, found.digest)]) if chosen.reads_packed else None
    return None


def _read(path: Path, opened: Opened, chosen: Format) -> Contents:
    try:
        with without_collection():
            return chosen.read(opened)
    except LaunchError as error:
        raise UsageError(f"cannot import {path} as {chosen.name}: the program {error}") from error
    except _SHAPE_ERRORS as error:
        raise UsageError(
            f"cannot import {path} as {chosen.name}: it has other fields than {chosen.tool} writes "
            f"({type(error).__name__}: {str(error)[:80]})"
        ) from error


def _open(path: Path) -> tuple[Opened, list[ForeignFile]]:
    if folders := files_of(path):
        data_by_folder = [(_data(file), _data(file.with_name(ABOUT))[0]) for file in folders]
        parts = tuple((decoded(data), decoded(about)) for (data, _), about in data_by_folder)
        files = [_file(file, digest()) for file, ((_, digest), _) in zip(folders, data_by_folder, strict=True)]
        return Opened(path, parts=parts), files
    data, digest = _data(path)
    parsed = _json(path, data)
    return Opened(path, data, parsed), [_file(path, digest())]


def _data(path: Path) -> tuple[bytes, _Digest]:
    data = read_bytes(path)
    digest = _start_digest(data)
    data = require_plausible(path, unpacked(path, data))
    if not data.strip():
        raise UsageError(f"cannot import {path}: it is empty")
    return data, digest


def _start_digest(data: bytes) -> _Digest:
    """Return a function that returns the SHA-256 of data, computed on another processor while they are parsed."""
    import hashlib  # not for large files: `packed` computes theirs, and loading OpenSSL takes 3 ms

    sha256 = hashlib.sha256()
    thread = Thread(target=sha256.update, args=(data,), daemon=True)
    try:
        thread.start()
    except RuntimeError:  # no more threads can be started
        sha256.update(data)
        return sha256.hexdigest

    def result() -> str:
        thread.join()
        return sha256.hexdigest()

    return result


def _file(path: Path, digest: str) -> ForeignFile:
    return ForeignFile(name=str(path).encode(errors="replace").decode(), sha256=digest)


def _json(path: Path, data: bytes) -> Any:
    beginning = decoded(data[:_BEGINNING]).lstrip() or decoded(data).lstrip()
    for pattern, description in _UNREADABLE_FORMATS.items():
        if re.match(pattern, beginning):
            raise UsageError(f"cannot import {path}: it is {description}")
    if not beginning.startswith(("{", "[")):
        return None
    try:
        return parse_anything(data, decoded)
    except (ValueError, RecursionError) as error:
        message = (str(error).splitlines() or [type(error).__name__])[0]
        raise UsageError(f"cannot import {path}: it is cut, or no JSON at all ({message[:120]})") from error


def _recognise(opened: Opened) -> Format:
    own_format = str(opened.json.get("format")) if isinstance(opened.json, dict) else ""
    if own_format.partition("-")[0] == FORMAT:
        look = "show" if own_format == FORMAT else "report"  # checks and their like are shown on pages alone
        raise UsageError(f"{opened.path} is steelyard's own: look at it with steelyard {look} {typed(opened.path)}")
    recognised = next((candidate for candidate in map(format_named, FORMATS) if candidate.recognises(opened)), None)
    if recognised is None:
        raise UsageError(
            f"cannot import {opened.path}: it is in none of the formats {', '.join(FORMATS)}, but begins "
            f"{quoted(opened.text.lstrip())}; if it is one, give --format"
        )
    return recognised
