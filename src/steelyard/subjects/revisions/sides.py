"""Revisions as the subjects of a weighing: one command, run in the folder of each."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.model.errors import UsageError
from steelyard.model.subject import RevisionFacts, Subject
from steelyard.subjects.command import LAYOUT_PLACE, command_subject
from steelyard.subjects.revisions.builds import Built
from steelyard.subjects.revisions.git import Repository

Builds = Sequence[Built]
"""Those of one revision: one, or one a layout, from the first on."""


@dataclass(frozen=True)
class Side:
    """Where the commands of one side run."""

    name: str
    folders: Sequence[Path]
    """One, or one a layout, from the first on; their paths differ by its number at the end of one folder's name."""
    revision: RevisionFacts | None = None

    def subject(self, command: str, role: str, *, shell: bool, search_path: str | None) -> Subject:
        """A command there; raises UsageError where it has not its program in every folder."""
        found = [
            command_subject(command, self.name, role, shell=shell, search_path=search_path, directory=str(folder))
            for folder in self.folders
        ]
        update = {
            "revision": self.revision,
            "directory": _of_all([subject.directory or "" for subject in found]),
            "program": _of_all([subject.program for subject in found]),
        }
        return found[0].model_copy(update=update)


def _of_all(paths: Sequence[str]) -> str:
    """The path of each layout, with `{layout}` where its number stands."""
    first, last = Path(paths[0]).parts, Path(paths[-1]).parts
    if first == last:
        return paths[0]
    several = [
        part if part == other else f"{part.removesuffix('1')}{LAYOUT_PLACE}"
        for part, other in zip(first, last, strict=True)
    ]
    return str(Path(*several))


def side_of(builds: Builds, name: str) -> Side:
    """The side that these builds are."""
    facts = builds[0].facts()
    if len(builds) > 1:
        facts = facts.model_copy(update={"build": builds[0].recipe.command, "layout": None})
    return Side(name, [one.folder for one in builds], facts)


def subjects_of(
    sides: Sequence[Builds], command: str, names: Sequence[str], *, shell: bool, search_path: str | None
) -> list[Subject]:
    """The command in each of the sides; raises UsageError where one has not its program."""
    found: list[Subject] = []
    for builds, name in zip(sides, names, strict=True):
        role = "candidate" if found else "baseline"
        try:
            found.append(side_of(builds, name).subject(command, role, shell=shell, search_path=search_path))
        except UsageError as error:
            how = "" if _has_program(builds[0], command) else f", {_how_built(builds[0])}"
            raise UsageError(f"{error} (in {builds[0].revision.label}{how})") from error
    return found


def check_relative(repository: Repository, command: str) -> None:
    """Raise UsageError for a program that is named as the work tree's own: it would be that of both sides."""
    try:
        word = Path(*shlex.split(command)[:1])
    except ValueError:
        return  # whoever reads it says so
    if word.is_absolute():
        # Also where the way there is a link; where the program itself is one, as that of an environment, it stays.
        place = Path(os.path.realpath(word.parent), word.name)
        found = next((path for path in (word, place) if path.is_relative_to(repository.root)), None)
        if found is not None:
            raise UsageError(
                f"{word} is a file of the work tree, whichever revision is weighed: give its path from here, "
                f"./{_from_here(repository, found)}"
            )


def _from_here(repository: Repository, word: Path) -> Path:
    here = repository.root / repository.directory
    return word.relative_to(here) if word.is_relative_to(here) else word.relative_to(repository.root)


def _has_program(side: Built, command: str) -> bool:
    """Whether the first word is a file there, so that no build is what it lacks."""
    try:
        return (side.folder / Path(*shlex.split(command)[:1])).is_file()
    except (ValueError, OSError):
        return False


def _how_built(side: Built) -> str:
    written = side.recipe.written
    return "where nothing is built: give --build CMD" if written is None else f"built by {written}; see {side.log}"
