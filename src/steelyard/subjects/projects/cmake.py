"""CMake: executables that are linked with Google Benchmark or Catch2, else any."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from steelyard.subjects.projects.found import Found, FoundTarget, files_named, relative, text_of

_LISTS = "CMakeLists.txt"
_EXECUTABLE = re.compile(r"\badd_executable\s*\(\s*([\w.+-]+)([^)]*)\)", re.IGNORECASE)
_LINKS = re.compile(r"\btarget_link_libraries\s*\(\s*([\w.+-]+)([^)]*)\)", re.IGNORECASE)
_COMMENT = re.compile(r"#.*")
_OUTPUT = re.compile(
    r"set\s*\(\s*CMAKE_RUNTIME_OUTPUT_DIRECTORY\s+\"?\$\{(?:CMAKE|PROJECT)_BINARY_DIR\}/?([\w./-]*)", re.IGNORECASE
)
_GOOGLE = re.compile(r"\bbenchmark(?:::|_main\b|\b)")
_CATCH = re.compile(r"\bCatch2?(?:::|WithMain\b|\b)")
_CATCH_BENCHMARK = re.compile(r"\bBENCHMARK(?:_ADVANCED)?\s*\(")
_SOURCES = (".cpp", ".cc", ".cxx", ".c++", ".C")


def cmake(folder: Path) -> Found | None:
    """What CMake builds in a folder; None without a CMakeLists.txt."""
    if not (folder / _LISTS).is_file():
        return None
    lists = {path: _COMMENT.sub("", text_of(path)) for path in files_named(folder, _LISTS)}
    output = _OUTPUT.search(lists.get(folder / _LISTS, ""))
    found = [
        _target(name, harness, folder, None if output is None else output[1], path.parent)
        for path, text in lists.items()
        for name, harness in _executables(text, path.parent)
    ]
    targets = [one for one in found if one.harness is not None] or found
    harnesses = dict.fromkeys(one.harness for one in targets if one.harness)
    names = " ".join(shlex.quote(one.name) for one in targets)
    build = f"cmake -S . -B build -DCMAKE_BUILD_TYPE=Release\ncmake --build build --parallel --target {names}"
    if not targets:
        build = "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release\ncmake --build build --parallel"
    return Found(f"CMake with {' and '.join(harnesses)}" if harnesses else "CMake", build, targets)


def _executables(text: str, folder: Path) -> Iterator[tuple[str, str | None]]:
    """(name, harness) of each executable of one CMakeLists.txt."""
    links: dict[str, str] = {}
    for match in _LINKS.finditer(text):
        links[match[1]] = links.get(match[1], "") + match[2]
    for match in _EXECUTABLE.finditer(text):
        if "ALIAS" in match[2] or "IMPORTED" in match[2]:
            continue
        linked = links.get(match[1], "")
        harness = "google-benchmark" if _GOOGLE.search(linked) else None
        if harness is None and _CATCH.search(linked):
            sources = (text_of(folder / word) for word in match[2].split() if word.endswith(_SOURCES))
            if not any(_CATCH_BENCHMARK.search(source) for source in sources):
                continue  # tests, and nothing else
            harness = "catch2"
        yield match[1], harness


def _target(name: str, harness: str | None, folder: Path, output: str | None, lists: Path) -> FoundTarget:
    place = folder / "build" / (lists.relative_to(folder) if output is None else output) / name
    command = shlex.quote(relative(place, folder))
    if harness == "catch2":
        command += " '[!benchmark]'"
    return FoundTarget(name, command, harness)
