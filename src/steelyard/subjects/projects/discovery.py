"""What was found in a folder: how it is built, and what in it could be weighed."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.subjects.responses import beginning_of

# Folders of others' code, those of build output and of data, and how deep anybody keeps benchmarks.
_OTHERS_FOLDERS = frozenset(
    "vendor third_party third-party thirdparty 3rdparty external extern deps node_modules site-packages".split()  # noqa: SIM905
)
_SKIPPED_FOLDERS = _OTHERS_FOLDERS | {"build", "target", "testdata", "dist"}
# Programs that are not what a project is for, and those of them that measure it.
_AUXILIARY = re.compile(r"test|fuzz|mock|example", re.IGNORECASE)
_MEASURES = re.compile(r"bench|perf", re.IGNORECASE)
_DEEPEST = 4
_MOST_FILES = 5_000


@dataclass(frozen=True)
class FoundTarget:
    """Something that could be weighed."""

    name: str
    command: str
    harness: str | None = None
    environment: Sequence[str] = ()
    build: str | None = None
    """What builds this one alone, after what builds all."""


@dataclass(frozen=True)
class FoundProject:
    """One way in which a folder is built, and what that builds."""

    what: str
    """The way in words: `Cargo with criterion`."""
    build: str | None
    targets: Sequence[FoundTarget]
    comments: Sequence[str] = ()
    """Comments to write next to the build."""
    not_driven: str | None = None
    """Which benchmarks no harness drives, and by what others could be driven."""


def files_named(folder: Path, *endings: str) -> Iterator[Path]:
    """Yield the project's own files whose names end so; a folder's own files before those in folders below it."""
    seen = 0
    for root, folders, names in os.walk(folder):
        here = Path(root)
        depth = len(here.relative_to(folder).parts)
        folders[:] = sorted(
            name_of_folder
            for name_of_folder in folders
            if depth < _DEEPEST
            and not name_of_folder.startswith((".", "build", "cmake-build"))
            and name_of_folder not in _SKIPPED_FOLDERS
            and not _is_repository(here / name_of_folder)
        )
        for name in sorted(names):
            seen += 1
            if seen > _MOST_FILES:
                return
            if name.endswith(endings):
                yield here / name


def called_with(tool: str, targets: Sequence[FoundTarget]) -> str:
    """Return what a way of building is called, with the harnesses of what it builds: `CMake with catch2`."""
    harnesses = dict.fromkeys(target.harness for target in targets if target.harness)
    return f"{tool} with {' and '.join(harnesses)}" if harnesses else tool


def where_there(file: str, line: str) -> str:
    """Return a line of a build for revisions that have a file: it would fail in an older one without it."""
    return f"[ ! -f {shlex.quote(file)} ] || {line}"


def is_auxiliary(name: str, *words: str) -> bool:
    """Return whether a program only serves to test or to explain what a project is for, by all that is said of it."""
    return _AUXILIARY.search(" ".join([name, *words])) is not None and _MEASURES.search(name) is None


def is_others(folder: Path, top: Path) -> bool:
    """Return whether a folder below `top` has others' code: a copy of it, or a git submodule."""
    between = [folder, *folder.parents][: len(folder.relative_to(top).parts)]
    return any(one.name in _OTHERS_FOLDERS or _is_repository(one) for one in between)


def _is_repository(folder: Path) -> bool:
    return Path(folder, ".git").exists()


def text_of(path: Path) -> str:
    """Return a file's text: none if it is unreadable, and no more than people write."""
    return beginning_of(path).decode("utf-8", "replace")


def relative(path: Path, folder: Path) -> str:
    """Return a path relative to a folder, as commands write it: `./build/sort`."""
    relative_path = path.relative_to(folder).as_posix()
    return "." if relative_path == "." else f"./{relative_path}"
