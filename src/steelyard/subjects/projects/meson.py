"""Meson: executables that are linked with Google Benchmark, else any."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from steelyard.subjects.projects.discovery import FoundProject, FoundTarget, files_named, is_auxiliary, text_of

_BUILD = "meson.build"
_COMMENT = re.compile(r"#[^\n]*")
# What it is called with may contain calls, but none within these.
_EXECUTABLE = re.compile(r"\bexecutable\s*\(((?:[^()]|\([^()]*\)){0,5000})\)")
_NAME = re.compile(r"\s*'([\w+-]+)'\s*(?:,|$)")
_DEPENDENCY = re.compile(r"(\w+)\s*=\s*dependency\s*\(\s*'([\w.-]+)'")
_HARNESSES = {"benchmark": "google-benchmark", "benchmark_main": "google-benchmark"}
_CONFIGURE = "meson setup build --buildtype=release"


@dataclass(frozen=True)
class _Executable:
    name: str
    path: str
    """Relative to the project's folder."""
    harness: str | None


def meson(folder: Path) -> FoundProject | None:
    """Return what Meson builds in a folder; None without a meson.build."""
    if not (folder / _BUILD).is_file():
        return None
    executables = [*_executables(folder)]
    chosen = [one for one in executables if one.harness]
    chosen = chosen or [one for one in executables if not is_auxiliary(one.name, one.path)] or executables
    harnesses = dict.fromkeys(one.harness for one in chosen if one.harness)
    return FoundProject(
        f"Meson with {' and '.join(harnesses)}" if harnesses else "Meson",
        _CONFIGURE if chosen else f"{_CONFIGURE}\nmeson compile -C build",
        [
            FoundTarget(
                one.name,
                shlex.quote(f"./build/{one.path}"),
                one.harness,
                build=f"meson compile -C build {shlex.quote(one.path)}",
            )
            for one in chosen
        ],
    )


def _executables(folder: Path) -> Iterator[_Executable]:
    texts = {path: _COMMENT.sub("", text_of(path)) for path in files_named(folder, _BUILD)}
    # A variable is seen in the folders below that of its own.
    known = {name: package for text in texts.values() for name, package in _DEPENDENCY.findall(text)}
    harness_of = {name: _HARNESSES[package] for name, package in known.items() if package in _HARNESSES}
    for path, text in texts.items():
        for call in _EXECUTABLE.findall(text):
            if name := _NAME.match(call):
                words = re.findall(r"\w+", call)
                harness = next((harness_of[word] for word in words if word in harness_of), None)
                yield _Executable(name[1], (path.parent / name[1]).relative_to(folder).as_posix(), harness)
