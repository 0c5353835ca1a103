"""Meson: executables that are linked with Google Benchmark, else any."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from steelyard.subjects.projects.discovery import (
    FoundProject,
    FoundTarget,
    called_with,
    files_named,
    is_auxiliary,
    text_of,
)

_BUILD = "meson.build"
_COMMENT = re.compile(r"#[^\n]*")
# What it is called with may contain calls, but none within these.
_EXECUTABLE = re.compile(r"\bexecutable\s*\(((?:[^()]|\([^()]*\)){0,5000})\)")
_NAME = re.compile(r"\s*'([\w+-]+)'\s*(?:,|$)")
_DEPENDENCY = re.compile(r"(\w+)\s*=\s*dependency\s*\(\s*'([\w.-]+)'")
_HARNESSES = {"benchmark": "google-benchmark", "benchmark_main": "google-benchmark"}
_CONFIGURE, _COMPILE = "meson setup build --buildtype=release", "meson compile -C build"


def meson(folder: Path) -> FoundProject | None:
    """Return what Meson builds in a folder; None without a meson.build."""
    if not (folder / _BUILD).is_file():
        return None
    targets = [*_targets(folder)]
    chosen = [one for one in targets if one.harness]
    chosen = chosen or [one for one in targets if not is_auxiliary(one.name, one.command)] or targets
    build = _CONFIGURE if chosen else f"{_CONFIGURE}\n{_COMPILE}"
    return FoundProject(called_with("Meson", chosen), build, chosen)


def _targets(folder: Path) -> Iterator[FoundTarget]:
    """Yield a target for each executable."""
    texts = {path: _COMMENT.sub("", text_of(path)) for path in files_named(folder, _BUILD)}
    # A variable is seen in the folders below that of its own.
    known = {name: package for text in texts.values() for name, package in _DEPENDENCY.findall(text)}
    harness_of = {name: _HARNESSES[package] for name, package in known.items() if package in _HARNESSES}
    for path, text in texts.items():
        for call in _EXECUTABLE.findall(text):
            if name := _NAME.match(call):
                words = re.findall(r"\w+", call)
                harness = next((harness_of[word] for word in words if word in harness_of), None)
                place = (path.parent / name[1]).relative_to(folder).as_posix()
                command, build = shlex.quote(f"./build/{place}"), f"{_COMPILE} {shlex.quote(place)}"
                yield FoundTarget(name[1], command, harness, build=build)
