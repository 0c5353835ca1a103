"""Revisions as the subjects of a weighing: one command, run in the folder of each."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from steelyard.model.errors import UsageError
from steelyard.model.placeholders import LAYOUT, LAYOUT_PLACE, with_values
from steelyard.model.subject import RevisionFacts, Subject
from steelyard.model.typed import command_line, in_quotes
from steelyard.subjects.command import command_subject
from steelyard.subjects.programs import behind_env
from steelyard.subjects.responses import beginning_of
from steelyard.subjects.revisions.builds import Built
from steelyard.subjects.revisions.checkout import NotBuiltError
from steelyard.subjects.revisions.failures import shown_command
from steelyard.subjects.revisions.git import Repository

_BEGINNING_BYTES = 1024
Builds = Sequence[Built]
"""The builds of one revision: one, or one per layout in their order."""


@dataclass(frozen=True)
class Side:
    """Where the commands of one side run."""

    name: str
    folders: Sequence[Path]
    """One, or one per layout in their order; the paths differ in the layout's number, which ends one folder's name."""
    revision: RevisionFacts | None = None
    label: str = ""
    """What an error calls it, if not by its name."""
    how_built: str = ""
    """What an error says about its build if that did not make the program."""
    error: NotBuiltError | None = None
    """Why the target's own build failed; None if it did not, or the revision may not have the target yet."""
    lacks_target: bool = False
    """Whether the target's own build failed in a revision that does not have the target yet."""
    builds: Builds = ()
    """What its folders are of."""

    def of_target(self, name: str) -> Side:
        """Return this side as it is built for one target."""
        own = [one for built in self.builds for one in built.recipe.targets or () if one.target == name]
        if not own or self.revision is None:
            return self
        outcomes = [built.targets[name] for built in self.builds]
        failed = next((one for one in outcomes if one.error is not None), None)
        command = own[0].command if len(self.builds) > 1 else self.builds[0].recipe.written_for(own[0])
        whole = "\n".join(filter(None, (self.revision.build, command)))
        return replace(
            self,
            revision=self.revision.model_copy(update={"build": whole}),
            how_built=_how_built(self.builds[0], command, outcomes[0].log),
            error=failed.error if failed and not failed.may_be_new else None,
            lacks_target=failed is not None and failed.may_be_new,
        )

    def subject(self, command: str, role: str, *, shell: bool | None, search_path: str | None) -> Subject:
        """Return a command as a subject here; raises UsageError unless its program is in every folder."""
        if len(self.builds) == 1 and (layout := self.builds[0].recipe.layout) is not None:
            command = with_values(command, {LAYOUT: str(layout)})
        try:
            subjects = [
                command_subject(command, self.name, role, shell=shell, search_path=search_path, directory=str(folder))
                for folder in self.folders
            ]
        except UsageError as error:
            has_program = _has_program(self.folders[0], command)
            build_note = "" if has_program else self._script_note(command) or self.how_built
            raise UsageError(
                f"{error} (in {', '.join(filter(None, (self.label or self.name, build_note)))})"
            ) from error
        update = {
            "revision": self.revision,
            "directory": _path_for_all_layouts([subject.directory or "" for subject in subjects]),
            "program": _path_for_all_layouts([subject.program for subject in subjects]),
        }
        return subjects[0].model_copy(update=update)

    def _script_note(self, command: str) -> str | None:
        """Return how a script that is in the user's folder, and not here, gets here; None if it is no such script."""
        here = self.builds[0].here if self.builds else None
        if here is None or not _has_program(here, command):
            return None
        word = shlex.split(command)[0]
        if beginning_of(here / word, 2) != b"#!":
            return None  # it has to be built here, too
        copying = command_line(["install", "-D", str(here / word), word])  # it makes a folder that is missing, too
        if self.builds[0].recipe.is_built:
            return f"which lacks this script: have its build copy it, {copying}"
        return f"which lacks this script: --build {in_quotes(copying)} copies it there"

    def without_program(self, command: str, *, shell: bool) -> Subject:
        """Return a command whose program was not built here as a subject, for a record that says so."""
        argv = ["/bin/sh", "-c", command] if shell else command.split()
        return Subject(
            name=self.name,
            command=command,
            argv=argv,
            program=argv[0],
            shell=shell,
            digest=None,
            directory=_path_for_all_layouts([str(folder) for folder in self.folders]),
            revision=self.revision,
        )


def _path_for_all_layouts(paths: Sequence[str]) -> str:
    """Return the path for all layouts, with `{layout}` in place of the number."""
    first, last = Path(paths[0]).parts, Path(paths[-1]).parts
    if first == last:
        return paths[0]
    parts = [
        part if part == other else f"{part.removesuffix('1')}{LAYOUT_PLACE}"
        for part, other in zip(first, last, strict=True)
    ]
    return str(Path(*parts))


def new_file(baseline: Side, candidate: Side, command: str) -> str | None:
    """Return the file that a command names and that only the candidate has, so that the baseline lacks the command.

    None if the baseline has any of the files that the command names. None also for a binary file if nothing is built,
    as somebody may have built it in the work tree.
    """
    try:
        folder, words = behind_env(shlex.split(command))
    except ValueError:
        return None  # reported when the command is read
    candidate_folder, baseline_folder = candidate.folders[0] / folder, baseline.folders[0] / folder
    relative_words = [word for word in words if not os.path.isabs(word)]  # noqa: PTH117
    files = relative_words[:1] if relative_words[:1] == words[:1] and "/" in relative_words[0] else relative_words
    files = [word.partition("::")[0] for word in files]  # with pytest, the tests to run follow the file's name
    # os.path.exists() is False where a word is too long for a name, or has a NUL.
    files = [word for word in files if os.path.exists(candidate_folder / word)]  # noqa: PTH110
    if not files or any(os.path.exists(baseline_folder / word) for word in files):  # noqa: PTH110
        return None
    is_built = candidate.revision is not None and candidate.revision.build is not None
    return files[0] if is_built or b"\0" not in beginning_of(candidate_folder / files[0], _BEGINNING_BYTES) else None


def subject_in(side: Side, subject: Subject) -> Subject:
    """Return another side's subject as it would be in this side, which lacks its program."""
    folder, program = _path_for_all_layouts([str(one) for one in side.folders]), Path(subject.program)
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
    """Return the side that these builds make up."""
    first = builds[0]
    facts, how_built = first.facts(), _how_built(first, first.recipe.written, first.log)
    if len(builds) > 1:
        facts = facts.model_copy(update={"build": first.recipe.command, "layout": None})
    folders = [one.folder for one in builds]
    return Side(name, folders, facts, first.revision.label, how_built, builds=builds)


def subjects_of(
    sides: Sequence[Side], command: str, *, shell: bool | None, search_path: str | None, is_harness: bool = False
) -> list[Subject]:
    """Return the command as a subject of each side; raises UsageError if a side lacks its program.

    If the program of a harness is new in the candidate, the baseline still gets a subject, one without benchmarks.
    """
    subjects: list[Subject] = []
    for side in sides:
        role = "candidate" if subjects else "baseline"
        try:
            subjects.append(side.subject(command, role, shell=shell, search_path=search_path))
        except UsageError:
            if is_harness and not subjects and new_file(sides[0], sides[1], command):
                candidate = sides[1].subject(command, "candidate", shell=shell, search_path=search_path)
                return [subject_in(sides[0], candidate), candidate]
            raise
    return subjects


def check_relative(repository: Repository, command: str) -> None:
    """Raise UsageError for a program given by its absolute path in the work tree: both sides would run that one."""
    try:
        word = Path(*shlex.split(command)[:1])
    except ValueError:
        return  # reported when the command is read
    if word.is_absolute():
        # Links on the way to the program are followed, but not the program itself, as an environment's may be one.
        real_path = Path(os.path.realpath(word.parent), word.name)
        inside = next((path for path in (word, real_path) if path.is_relative_to(repository.root)), None)
        if inside is not None:
            raise UsageError(
                f"{word} is a file of the work tree, whichever revision is weighed: give its path from here, "
                f"./{_path_from_here(repository, inside)}"
            )


def _path_from_here(repository: Repository, word: Path) -> Path:
    here = repository.here
    return word.relative_to(here) if word.is_relative_to(here) else word.relative_to(repository.root)


def _has_program(folder: Path, command: str) -> bool:
    """Return whether the first word of a command is a file there, so that the build is not at fault."""
    try:
        return (folder / Path(*shlex.split(command)[:1])).is_file()
    except (ValueError, OSError):
        return False


def _how_built(build: Built, command: str | None, log: Path) -> str:
    if command is None:
        return "where nothing is built: give --build CMD"
    again = "; if something removed it since, steelyard cache --clear has all built again" if build.is_kept else ""
    return f"built by {shown_command(command)}; see {log}{again}"
