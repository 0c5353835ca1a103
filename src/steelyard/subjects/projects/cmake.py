"""CMake: executables that are linked with Google Benchmark or Catch2, else any."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from steelyard.subjects.projects.cmake_lists import LISTS, Executable, Reading, read_folder, read_project, way_to
from steelyard.subjects.projects.found import Found, FoundTarget, files_named, relative, text_of

_PROJECT = re.compile(r"^\s*project\s*\(", re.IGNORECASE | re.MULTILINE)
_GOOGLE = re.compile(r"\bbenchmark(?:::|_main\b|\b)")
_CATCH = re.compile(r"\bCatch2?(?:::|WithMain\b|\b)")
_CATCH_BENCHMARK = re.compile(r"\bBENCHMARK(?:_ADVANCED)?\s*\(")
# Programs that are not what a project is for.
_BESIDE = re.compile(r"test|fuzz|mock", re.IGNORECASE)
_MEASURES = re.compile(r"bench|perf", re.IGNORECASE)
_CONFIGURE = "cmake -S {source} -B {built} -DCMAKE_BUILD_TYPE=Release{options}"
_BUILD_ALL = "cmake --build build --parallel"
_BUILD_ONE = "cmake --build {built} --target {name} --parallel"
_SOURCES = (".cpp", ".cc", ".cxx", ".c++", ".C")


def cmake(folder: Path) -> Found | None:
    """Return what CMake builds in a folder; None without a CMakeLists.txt."""
    if not (folder / LISTS).is_file():
        return None
    projects = _projects(folder)
    chosen = [(one, _chosen(one, is_top=one.top == folder)) for one in projects]
    if any(harness for _, programs in chosen for _, harness in programs):
        chosen = [(one, [(program, harness) for program, harness in all_ if harness]) for one, all_ in chosen]
    targets = [_target(one, program, harness, folder) for one, programs in chosen for program, harness in programs]
    builds = [_configured(one, [program for program, _ in programs], folder) for one, programs in chosen if programs]
    harnesses = dict.fromkeys(one.harness for one in targets if one.harness)
    build = "\n".join(builds) or f"{_CONFIGURE.format(source='.', built='build', options='')}\n{_BUILD_ALL}"
    return Found(f"CMake with {' and '.join(harnesses)}" if harnesses else "CMake", build, targets)


def _projects(folder: Path) -> list[Reading]:
    """Return the folder's project, and those below it that are built by themselves."""
    readings = [read_project(folder)]
    for path in files_named(folder, LISTS):
        if any(path.parent in one.folders for one in readings):
            continue
        if _PROJECT.search(text_of(path)):
            readings.append(read_project(path.parent))
        else:
            read_folder(readings[0], path.parent)  # added in a way that cannot be read
    return readings


def _chosen(reading: Reading, *, is_top: bool) -> list[tuple[Executable, str | None]]:
    """Return (program, harness) of those to weigh: the benchmarks, or else the programs that the project is for."""
    found = [(one, harness) for one in reading.executables for harness in _harnesses(one)]
    if any(harness for _, harness in found):
        return [(one, harness) for one, harness in found if harness]
    if not is_top:
        return []  # examples, and trials of how the project is used
    own = [pair for pair in found if not _is_beside(pair[0], reading.top)] or found
    return sorted(own, key=lambda pair: pair[0].name != reading.name)


def _harnesses(one: Executable) -> Iterator[str | None]:
    """Yield the harness that drives a program, None if none does; yield nothing for a program that has only tests."""
    if _GOOGLE.search(one.linked):
        yield "google-benchmark"
    elif _CATCH.search(one.linked) is None:
        yield None
    elif any(_CATCH_BENCHMARK.search(text_of(path)) for path in one.sources if path.name.endswith(_SOURCES)):
        yield "catch2"


def _is_beside(one: Executable, top: Path) -> bool:
    """Return whether a program only serves to test the others."""
    words = " ".join([one.name, one.lists.relative_to(top).as_posix(), *one.options])
    return _BESIDE.search(words) is not None and _MEASURES.search(one.name) is None


def _target(reading: Reading, one: Executable, harness: str | None, folder: Path) -> FoundTarget:
    command = shlex.quote(way_to(reading, one, folder))
    if harness == "catch2":
        command += " '[!benchmark]'"
    build = _BUILD_ONE.format(built=shlex.quote(_built(reading, folder)), name=shlex.quote(one.name))
    return FoundTarget(one.name, command, harness, build=build)


def _built(reading: Reading, folder: Path) -> str:
    """Return the folder that a project is built in."""
    source = relative(reading.top, folder)
    return "build" if source == "." else f"{source}/{reading.built}"


def _configured(reading: Reading, programs: Sequence[Executable], folder: Path) -> str:
    """Return the line that configures the build of one project, with the options that its programs depend on."""
    source = relative(reading.top, folder)
    asked = dict.fromkeys(one for program in programs for one in program.options)
    options = "".join(" " + shlex.quote(f"-D{one}=ON") for one in asked)
    built = shlex.quote(_built(reading, folder))
    line = _CONFIGURE.format(source=shlex.quote(source), built=built, options=options)
    # An older revision may not have the project yet.
    return line if source == "." else f"[ ! -f {shlex.quote(f'{source}/{LISTS}')} ] || {line}"
