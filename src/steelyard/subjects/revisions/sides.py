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
from steelyard.subjects.responses import beginning_of
from steelyard.subjects.revisions.builds import Built
from steelyard.subjects.revisions.git import Repository

_LOOKED_AT = 1024
Builds = Sequence[Built]
"""Those of one revision: one, or one a layout, from the first on."""


@dataclass(frozen=True)
class Side:
    """Where the commands of one side run."""

    name: str
    folders: Sequence[Path]
    """One, or one a layout, from the first on; their paths differ by its number at the end of one folder's name."""
    revision: RevisionFacts | None = None
    label: str = ""
    """What an error calls it, where that is not its name."""
    how_built: str = ""
    """What an error says of its build, where that did not make the program."""

    def subject(self, command: str, role: str, *, shell: bool, search_path: str | None) -> Subject:
        """A command there; raises UsageError where it has not its program in every folder."""
        try:
            found = [
                command_subject(command, self.name, role, shell=shell, search_path=search_path, directory=str(folder))
                for folder in self.folders
            ]
        except UsageError as error:
            how = "" if _has_program(self.folders[0], command) else self.how_built
            raise UsageError(f"{error} (in {', '.join(filter(None, (self.label or self.name, how)))})") from error
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


def new_file(baseline: Side, candidate: Side, command: str) -> str | None:
    """The file that a command names and that only the candidate has, so that there is no such command in the baseline.

    None where the baseline has any of those that it names. And where nothing is built for what is no text: it may be
    what somebody has built in the work tree.
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return None  # whoever reads it says so
    mine, theirs = candidate.folders[0], baseline.folders[0]
    if words[:2] == ["env", "-C"] and len(words) > len(["env", "-C", "FOLDER"]):
        mine, theirs, words = mine / words[2], theirs / words[2], words[3:]
    relative = [word for word in words if not os.path.isabs(word)]  # noqa: PTH117
    named = relative[:1] if relative[:1] == words[:1] and "/" in relative[0] else relative
    named = [word.partition("::")[0] for word in named]  # of pytest, what is run of the file comes behind
    # os.path.exists() is False where a word is too long for a name, or has a NUL.
    named = [word for word in named if os.path.exists(mine / word)]  # noqa: PTH110
    if not named or any(os.path.exists(theirs / word) for word in named):  # noqa: PTH110
        return None
    is_built = candidate.revision is not None and candidate.revision.build is not None
    return named[0] if is_built or b"\0" not in beginning_of(mine / named[0], _LOOKED_AT) else None


def as_in(side: Side, subject: Subject) -> Subject:
    """The subject of another side as it would be in this one, which has not its program."""
    folder, program = _of_all([str(one) for one in side.folders]), Path(subject.program)
    if subject.directory is not None and program.is_relative_to(subject.directory):
        program = folder / program.relative_to(subject.directory)
    update = {
        "name": side.name,
        "revision": side.revision,
        "directory": folder,
        "program": str(program),
        "digest": None,
    }
    return subject.model_copy(update=update)


def side_of(builds: Builds, name: str) -> Side:
    """The side that these builds are."""
    facts = builds[0].facts()
    if len(builds) > 1:
        facts = facts.model_copy(update={"build": builds[0].recipe.command, "layout": None})
    folders = [one.folder for one in builds]
    return Side(name, folders, facts, builds[0].revision.label, _how_built(builds[0]))


def subjects_of(
    sides: Sequence[Builds],
    command: str,
    names: Sequence[str],
    *,
    shell: bool,
    search_path: str | None,
    is_harness: bool = False,
) -> list[Subject]:
    """The command in each of the sides; raises UsageError where one has not its program.

    A harness's program that is new in the candidate is a subject of the baseline all the same, which has no benchmark.
    """
    found: list[Subject] = []
    places = [side_of(builds, name) for builds, name in zip(sides, names, strict=True)]
    for place in places:
        role = "candidate" if found else "baseline"
        try:
            found.append(place.subject(command, role, shell=shell, search_path=search_path))
        except UsageError:
            if is_harness and not found and new_file(places[0], places[1], command):
                candidate = places[1].subject(command, "candidate", shell=shell, search_path=search_path)
                return [as_in(places[0], candidate), candidate]
            raise
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


def _has_program(folder: Path, command: str) -> bool:
    """Whether the first word is a file there, so that no build is what it lacks."""
    try:
        return (folder / Path(*shlex.split(command)[:1])).is_file()
    except (ValueError, OSError):
        return False


def _how_built(side: Built) -> str:
    if side.recipe.written is None:
        return "where nothing is built: give --build CMD"
    command = side.recipe.written.strip()
    what = "its command" if "\n" in command else command  # a script has been shown, and hides the answer
    return f"built by {what}; see {side.log}"
