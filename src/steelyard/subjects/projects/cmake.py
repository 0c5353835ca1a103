"""CMake: executables that are linked with Google Benchmark or Catch2, else any."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from steelyard.subjects.projects.found import Found, FoundTarget, files_named, relative, text_of

_LISTS = "CMakeLists.txt"
_PROJECT = re.compile(r"\bproject\s*\(\s*([\w.+-]+)", re.IGNORECASE)
_EXECUTABLE = re.compile(r"\badd_executable\s*\(\s*\"?([\w.+-]+)\"?([^)]*)\)", re.IGNORECASE)
_FOREACH = re.compile(
    r"\bforeach\s*\(\s*(\w+)\s+(?:IN\s+ITEMS\s+)?([\w.+\s-]+)\)((?:(?!\bforeach\b).)*?)\bendforeach\s*\([^)]*\)",
    re.IGNORECASE | re.DOTALL,
)
_LINKS = re.compile(r"\btarget_link_libraries\s*\(\s*([\w.+-]+)([^)]*)\)", re.IGNORECASE)
# Loops within loops could be written out for ever: what is longer lists no programs that anybody would weigh.
_LONGEST, _MOST_WORDS = 200_000, 50
_COMMENT = re.compile(r"#.*")
_OUTPUT = re.compile(
    r"set\s*\(\s*CMAKE_RUNTIME_OUTPUT_DIRECTORY\s+\"?\$\{(?:CMAKE|PROJECT)_BINARY_DIR\}/?([\w./-]*)", re.IGNORECASE
)
_GOOGLE = re.compile(r"\bbenchmark(?:::|_main\b|\b)")
_CATCH = re.compile(r"\bCatch2?(?:::|WithMain\b|\b)")
_CATCH_BENCHMARK = re.compile(r"\bBENCHMARK(?:_ADVANCED)?\s*\(")
_CONFIGURE, _BUILD_ALL = "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release\n", "cmake --build build --parallel"
# Make and Ninja refuse a target that an older revision has not yet; CMake lists all of them for either.
_BUILD_CHOSEN = r"""set --
for one in {names}; do
    if grep -q "/$one\.dir\$" build/CMakeFiles/TargetDirectories.txt; then set -- "$@" "$one"; fi
done
[ $# = 0 ] || cmake --build build --target "$@" --parallel"""
_SOURCES = (".cpp", ".cc", ".cxx", ".c++", ".C")


def cmake(folder: Path) -> Found | None:
    """What CMake builds in a folder; None without a CMakeLists.txt."""
    if not (folder / _LISTS).is_file():
        return None
    lists = {path: _unrolled(_COMMENT.sub("", text_of(path))) for path in files_named(folder, _LISTS)}
    output = _OUTPUT.search(lists.get(folder / _LISTS, ""))
    found = [
        _target(name, harness, folder, None if output is None else output[1], path.parent)
        for path, text in lists.items()
        for name, harness in dict(_executables(text, path.parent)).items()  # one may be made in several ways
    ]
    project = _PROJECT.search(lists.get(folder / _LISTS, ""))
    found.sort(key=lambda one: project is None or one.name != project[1])  # the program that the rest is for goes first
    targets = [one for one in found if one.harness is not None] or found
    harnesses = dict.fromkeys(one.harness for one in targets if one.harness)
    names = " ".join(shlex.quote(one.name) for one in targets)
    build = _CONFIGURE + (_BUILD_CHOSEN.format(names=names) if targets else _BUILD_ALL)
    return Found(f"CMake with {' and '.join(harnesses)}" if harnesses else "CMake", build, targets)


def _unrolled(text: str) -> str:
    """A list's text with each loop over plain words written out, inner ones first: programs are often made in one."""
    while len(text) < _LONGEST and (unrolled := _FOREACH.sub(_written_out, text)) != text:
        text = unrolled
    return text


def _written_out(loop: re.Match[str]) -> str:
    name, listed, body = loop.groups()
    words = listed.split()
    return "\n".join(body.replace(f"${{{name}}}", word) for word in words) if len(words) <= _MOST_WORDS else loop[0]


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
