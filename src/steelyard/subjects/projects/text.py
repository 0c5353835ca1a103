"""Write the first version of a project's file, for people to start from."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from steelyard.subjects.projects.autotools import autotools
from steelyard.subjects.projects.cmake import cmake
from steelyard.subjects.projects.discovery import FoundProject, FoundTarget
from steelyard.subjects.projects.go_and_java import go, gradle, maven
from steelyard.subjects.projects.javascript import javascript
from steelyard.subjects.projects.makefile import make
from steelyard.subjects.projects.meson import meson
from steelyard.subjects.projects.python import python, python_programs
from steelyard.subjects.projects.rust import cargo

_HEAD = """\
# What `steelyard compare` weighs here, and how: `steelyard docs config` has all keys.
# Both sides are revisions of the repository, each in a folder of its own: by default the merge base with the
# default branch, and the work tree as it is. `steelyard compare --base REV --candidate REV` takes others.
"""
_TAIL = """\
[compare]
margin = "1%"               # the smallest change that matters; less is `same`
# metrics = ["active", "max_rss"]   # the first decides; see `steelyard compare --help`
# max-time = "5m"           # for all targets together
# pairing = "tandem"        # see `steelyard docs tandem`

# Other margins for some: by a pattern of benchmarks, a metric, or both.
# [compare.margins]
# "noisy*" = "5%"
# max_rss = "2%"

# What `steelyard gate` fails for, where that is not every `slower`.
# [gate]
# max-slower = ["5%"]
"""
_WORK_COMMENT = "# It should take 10 ms to 10 s: give it an input, or say how often, behind the program."
# Begins a build of several lines, so that any failure ends it.
_STOP_AT_FAILURE = "set -e\n"
_NO_BUILD = '[build]\n# command = "make"'
_NO_TARGET = """\
[[target]]
name = "program"
# What is weighed: change it to a command of yours, as it is called from this folder.
command = "./program input"
"""


def found_in(folder: Path, environment: Mapping[str, str]) -> list[FoundProject]:
    """Return what could be weighed in a folder: all benchmarks, or else the programs of the first way of building."""
    search_path = environment.get("PATH")
    built = [cargo(folder), cmake(folder), meson(folder), go(folder), *python(folder, search_path)]
    projects = _found(*built, maven(folder), gradle(folder))
    with_harness = [project for project in projects if any(target.harness for target in project.targets)]
    if with_harness:
        return with_harness
    # A package.json is often there only for tools, and a Makefile for the developers' chores.
    programs = _found(autotools(folder), python_programs(folder, search_path), make(folder), javascript(folder))
    return sorted([*projects, *programs], key=lambda project: not project.targets)[:1]


def _found(*projects: FoundProject | None) -> list[FoundProject]:
    return [project for project in projects if project is not None]


def project_text(projects: Sequence[FoundProject]) -> str:
    """Return the text of a project's file for what was found."""
    targets = [target for project in projects for target in project.targets]
    is_known = bool(targets) or any(project.build for project in projects)
    build = "\n".join(_build(projects)) if is_known else _NO_BUILD
    parts = ["\n".join(_target(target, name)) for target, name in zip(targets, names_of(projects), strict=True)]
    return "\n\n".join([_HEAD.rstrip(), build, *(parts or [_NO_TARGET.rstrip()]), _TAIL])


def names_of(projects: Sequence[FoundProject]) -> Iterator[str]:
    """Yield the name of each target, with as much added as makes it unique."""
    candidates = [
        (target.name, f"{target.name} ({project.what})", target.command.removeprefix("./"))
        for project in projects
        for target in project.targets
    ]
    taken = Counter(name for names in candidates for name in dict.fromkeys(names))
    for names in candidates:
        yield next((name for name in names if taken[name] == 1), names[-1])


def _build(projects: Sequence[FoundProject]) -> Iterator[str]:
    yield "[build]"
    commands = [project.build for project in projects if project.build]
    if any(target.build for project in projects for target in project.targets):
        yield (
            "# What all targets need; the `build` of each comes after it, if the target is weighed."
            if commands
            else "# Each target has its own `build`; a `command` here would come before them, for what all need."
        )
    yield "# Run by /bin/sh in the folder of each revision; what was built before is kept, and not built again."
    for project in projects:
        yield from (f"# {line}".rstrip() for line in project.comments)
    if commands:
        command = "\n".join(commands)
        yield f"command = {_quoted(command if command.isprintable() else _STOP_AT_FAILURE + command)}"
        yield '# timeout = "30m"'
        yield '# environment = ["CFLAGS=-O2"]   # NAME=VALUE to set, NAME to pass on, beside what compilers read'


def _target(target: FoundTarget, name: str) -> Iterator[str]:
    yield "[[target]]"
    yield f"name = {_quoted(name)}"
    if target.harness is None:
        yield _WORK_COMMENT
    yield f"command = {_quoted(target.command)}"
    if target.build is not None:
        yield f"build = {_quoted(target.build)}"
    if target.environment:
        yield f"environment = [{', '.join(map(_quoted, target.environment))}]"
    if target.harness is not None:
        yield f"harness = {_quoted(target.harness)}"
        yield '# benchmarks = ["one", "other*"]   # only these'


def _quoted(text: str) -> str:
    """Return a text in TOML's notation: one of several lines literally, if possible."""
    if "\n" in text and "'''" not in text:
        return f"'''\n{text}\n'''"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
