"""The input and output of launches, from the names given for them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.model.settings import Settings
    from steelyard.model.subject import Subject

# hyperfine's name for no input and no output, which is what a launch has anyway.
_NOWHERE = "null"
_IN_SCRIPT = re.compile(r"[\s;&|()<>\"']+")


def input_of_launches(option: str, text: str) -> Path | None:
    """Return the file that each launch reads, None for none; raise UsageError for standard input."""
    if text == "-":
        raise UsageError(f"{option} -: standard input cannot be read again for each launch: give the path of a file")
    return None if text == _NOWHERE else Path(text)


def output_of_launches(option: str, text: str) -> Path | None:
    """Return the file that each launch writes, None for none; raise UsageError for what is not a file."""
    if text in ("-", "inherit"):
        raise UsageError(f"{option} {text} would mix with what is printed: give the path of a file")
    if text == "pipe":
        raise UsageError(
            f"{option} pipe: launches write to a file or nowhere; with --shell put '| cat' into the command"
        )
    return None if text == _NOWHERE else Path(text)


def check_apart(outputs: Iterable[Path], read: Iterable[Path], *, option: str = "") -> None:
    """Raise UsageError for an output file that is also read, and would be lost; it begins with the `option` for it."""
    sources = {*map(os.path.realpath, read)}  # `Path.resolve` raises for circular links
    for path in outputs:
        if os.path.realpath(path) in sources:
            raise UsageError(f"{option}{path} is read, and would be overwritten: give another file")


def file_for(path: str, *read: Path | None) -> Path:
    """Return the file that a caller names for what is made of others; raise UsageError if it is one of these."""
    file = Path(path)
    check_apart([file], filter(None, read))
    return file


def launched_files(subjects: Sequence[Subject], settings: Settings) -> list[Path]:
    """Return the files that launches read or execute, or have a copy of in a revision."""
    files = [file for subject in subjects for file in (subject.program, *named_files(subject.argv))]
    return [Path(file) for file in (*files, settings.stdin or "") if os.path.isfile(file)]  # noqa: PTH113


def named_files(words: Sequence[str]) -> list[str]:
    """Return the files that a command names: its program by a path, and those of its words, after a `=` too."""
    # The words of a script for a shell are in one word of the command, as in sh -c 'sh bench.sh <data'.
    parts = [part for word in words[1:] for part in (word, *_IN_SCRIPT.split(word))]
    others = [name for part in parts for name in (part, part.partition("=")[2])]
    # os.path.isfile does not raise where a word is too long for a name.
    return [word for word in (*(word for word in words[:1] if "/" in word), *others) if os.path.isfile(word)]  # noqa: PTH113
