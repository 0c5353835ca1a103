"""CMake: executables that are linked with Google Benchmark or Catch2, else any."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from steelyard.subjects.projects.cmake_lists import BUILT, LISTS, Executable, Reading, read_folder, read_project
from steelyard.subjects.projects.discovery import (
    FoundProject,
    FoundTarget,
    called_with,
    files_named,
    is_auxiliary,
    relative,
    text_of,
    where_there,
)

_PROJECT = re.compile(r"^\s*project\s*\(", re.IGNORECASE | re.MULTILINE)
_GOOGLE = re.compile(r"\bbenchmark(?:::|_main\b|\b)")
_GOOGLE_USED = re.compile(r"\bbenchmark::|BENCHMARK")
_OWN_MAIN = re.compile(r"\bint\s+main\s*\(")
_CATCH = re.compile(r"\bCatch2?(?:::|WithMain\b|\b)")
_CATCH_BENCHMARK = re.compile(r"\bBENCHMARK(?:_ADVANCED)?\s*\(")
_CONFIGURE = "cmake -S {source} -B {built} -DCMAKE_BUILD_TYPE=Release{options}"
# By --parallel alone, make starts as many compilers as there are files.
_BUILD_ALL = f"cmake --build {BUILT} --parallel $(nproc)"
_BUILD_ONE = "cmake --build {built} --target {name} --parallel $(nproc)"
_SOURCES = (".cpp", ".cc", ".cxx", ".c++", ".C")


def cmake(folder: Path) -> FoundProject | None:
    """Return what CMake builds in a folder; None without a CMakeLists.txt."""
    if not (folder / LISTS).is_file():
        return None
    projects = _projects(folder)
    chosen = [(project, _chosen_programs(project, is_top=project.top == folder)) for project in projects]
    if any(program.harness for _, programs in chosen for program in programs):
        chosen = [(project, [program for program in programs if program.harness]) for project, programs in chosen]
    targets = [_target(project, program, folder) for project, programs in chosen for program in programs]
    builds = [_configure_command(project, programs, folder) for project, programs in chosen if programs]
    build = "\n".join(builds) or f"{_CONFIGURE.format(source='.', built=BUILT, options='')}\n{_BUILD_ALL}"
    return FoundProject(called_with("CMake", targets), build, targets)


def _projects(folder: Path) -> list[Reading]:
    """Return the folder's project, and those below it that are built by themselves."""
    readings = [read_project(folder)]
    for path in files_named(folder, LISTS):
        if any(path.parent in reading.folders for reading in readings):
            continue
        if _PROJECT.search(text_of(path)):
            readings.append(read_project(path.parent))
        else:
            read_folder(readings[0], path.parent)  # added in a way that cannot be read
    return readings


def _chosen_programs(reading: Reading, *, is_top: bool) -> list[Executable]:
    """Return the programs to weigh: the benchmarks, each with its harness, or else those that the project is for."""
    found = ((program, harness) for program in reading.executables for harness in _harnesses(program))
    programs = [replace(program, harness=harness) for program, harness in found]
    if benchmarks := [program for program in programs if program.harness]:
        return benchmarks
    if not is_top:
        return []  # examples, and trials of how the project is used
    # An option for tests or fuzzing may need tools that are not there, which would fail the build of all.
    usual = [program for program in programs if not program.options] or programs
    main_programs = [program for program in programs if not _serves_others(program, reading.top)] or usual
    return sorted(main_programs, key=lambda program: program.name != reading.name)


def _harnesses(program: Executable) -> Iterator[str | None]:
    """Yield the harness that drives a program, None if none does; yield nothing for a program that has only tests."""
    texts = [text_of(path) for path in program.sources if path.name.endswith(_SOURCES)]
    if _GOOGLE.search(program.linked):
        # One that is linked with it and starts by itself, without a word of it, measures in a way of its own.
        has_own_main = any(map(_OWN_MAIN.search, texts)) and not any(map(_GOOGLE_USED.search, texts))
        yield None if has_own_main else "google-benchmark"
    elif _CATCH.search(program.linked) is None:
        yield None
    elif any(map(_CATCH_BENCHMARK.search, texts)):
        yield "catch2"


def _serves_others(program: Executable, top: Path) -> bool:
    return is_auxiliary(program.name, program.lists.relative_to(top).as_posix(), *program.options)


def _target(reading: Reading, program: Executable, folder: Path) -> FoundTarget:
    command = shlex.quote(relative(reading.top / program.file, folder))
    if program.harness == "catch2":
        command += " '[!benchmark]'"
    build = _BUILD_ONE.format(built=shlex.quote(_build_folder(reading, folder)), name=shlex.quote(program.name))
    return FoundTarget(program.name, command, program.harness, build=build)


def _build_folder(reading: Reading, folder: Path) -> str:
    """Return the folder that a project is built in."""
    source = relative(reading.top, folder)
    return BUILT if source == "." else f"{source}/{BUILT}"


def _configure_command(reading: Reading, programs: Sequence[Executable], folder: Path) -> str:
    """Return the line that configures the build of one project, with the options that its programs depend on."""
    source = relative(reading.top, folder)
    option_names = dict.fromkeys(item for program in programs for item in program.options)
    options = "".join(" " + shlex.quote(f"-D{item}=ON") for item in option_names)
    built = shlex.quote(_build_folder(reading, folder))
    line = _CONFIGURE.format(source=shlex.quote(source), built=built, options=options)
    return line if source == "." else where_there(f"{source}/{LISTS}", line)
