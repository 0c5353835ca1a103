"""What was found in a folder: how it is built, and what of it could be weighed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.subjects.responses import beginning_of

# Of what others wrote and what was built, and how far down anybody keeps benchmarks.
_NOT_LOOKED_INTO = frozenset(
    "build target vendor third_party thirdparty external extern deps node_modules site-packages testdata dist".split()  # noqa: SIM905
)
_DEEPEST = 4
_MOST_FILES = 5_000


@dataclass(frozen=True)
class FoundTarget:
    """What could be weighed."""

    name: str
    command: str
    harness: str | None = None
    environment: Sequence[str] = ()


@dataclass(frozen=True)
class Found:
    """One way of building that a folder has, with what it builds."""

    what: str
    """In words: `Cargo with criterion`."""
    build: str | None
    targets: Sequence[FoundTarget]
    comments: Sequence[str] = ()
    """What should stand beside the build."""
    not_driven: str | None = None
    """Of benchmarks that no harness drives: which these are, and of what others would be."""


def files_named(folder: Path, *endings: str) -> Iterator[Path]:
    """The project's own files whose name ends so, those that are near first, in the order of their paths."""
    seen = 0
    for place, folders, names in os.walk(folder):
        here = Path(place)
        depth = len(here.relative_to(folder).parts)
        folders[:] = sorted(
            one
            for one in folders
            if depth < _DEEPEST and not one.startswith((".", "build", "cmake-build")) and one not in _NOT_LOOKED_INTO
        )
        for name in sorted(names):
            seen += 1
            if seen > _MOST_FILES:
                return
            if name.endswith(endings):
                yield here / name


def text_of(path: Path) -> str:
    """What a file says, as far as it can be read and is no more than people write."""
    return beginning_of(path).decode("utf-8", "replace")


def relative(path: Path, folder: Path) -> str:
    """The way to a path from a folder, as a command has it: `./build/sort`."""
    way = path.relative_to(folder).as_posix()
    return "." if way == "." else f"./{way}"
