"""Revisions as the subjects of a weighing: one command, run in the folder of each."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from steelyard.model.errors import UsageError
from steelyard.model.records import Subject
from steelyard.subjects.command import command_subject
from steelyard.subjects.revisions.builds import Built
from steelyard.subjects.revisions.git import Repository


def subjects_of(
    sides: Sequence[Built], command: str, names: Sequence[str], *, shell: bool, search_path: str | None
) -> list[Subject]:
    """The command in each of the sides; raises UsageError where one has not its program."""
    found: list[Subject] = []
    for side, name in zip(sides, names, strict=True):
        role = "candidate" if found else "baseline"
        try:
            subject = command_subject(
                command, name, role, shell=shell, search_path=search_path, directory=str(side.folder)
            )
        except UsageError as error:
            raise UsageError(f"{error} (in {side.revision.label}, {_how_built(side)})") from error
        found.append(subject.model_copy(update={"revision": side.facts()}))
    return found


def check_relative(repository: Repository, command: str) -> None:
    """Raise UsageError for a program that is named as the work tree's own: it would be that of both sides."""
    try:
        word = Path(*shlex.split(command)[:1])
    except ValueError:
        return  # whoever reads it says so
    if word.is_absolute() and word.is_relative_to(repository.root):
        raise UsageError(
            f"{word} is a file of the work tree, whichever revision is weighed: give its path from here, "
            f"./{_from_here(repository, word)}"
        )


def shared_program(repository: Repository, subjects: Sequence[Subject]) -> str | None:
    """A program that was found on PATH within the repository, and so is the work tree's for both sides."""
    for subject in subjects:
        if "/" not in subject.argv[0] and Path(subject.program).is_relative_to(repository.root):
            return subject.program
    return None


def _from_here(repository: Repository, word: Path) -> Path:
    here = repository.root / repository.directory
    return word.relative_to(here) if word.is_relative_to(here) else word.relative_to(repository.root)


def _how_built(side: Built) -> str:
    written = side.recipe.written
    return "where nothing is built: give --build CMD" if written is None else f"built by {written}; see {side.log}"
