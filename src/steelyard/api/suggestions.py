"""What a mistaken command line may have meant: revisions, as for git, or values of a parameter, as for hyperfine."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from itertools import islice, takewhile
from pathlib import Path

from steelyard.model.placeholders import combinations
from steelyard.model.typed import in_quotes

# If there are more values, only this many are written out.
_MOST_VALUES = 4


def suggest_revisions(commands: Sequence[str], missing: str, environment: Mapping[str, str]) -> str | None:
    """Return what to write instead if the first of these commands are revisions of this repository; None otherwise.

    `missing` is the one that names no program.
    """
    from steelyard.model.errors import SteelyardError
    from steelyard.model.project_file import load_project, repository_top
    from steelyard.subjects.revisions.git import Git

    here = Path.cwd()
    if not all(map(_may_be_revision, (missing, commands[0]))) or repository_top(here) is None:
        return None
    try:
        git = Git.find(here, environment)
        revisions = list(
            takewhile(lambda word: _may_be_revision(word) and git.commit_of(word) is not None, commands[:2])
        )
        project = load_project(here) if revisions == [*commands] else None
    except SteelyardError:  # without git, nothing is a revision
        return None
    if not revisions:
        return None
    options = " ".join(f"{option} {word}" for option, word in zip(("--base", "--candidate"), revisions, strict=False))
    verb = "are revisions" if len(revisions) > 1 else "is a revision"
    statement = f"{' and '.join(map(repr, revisions))} {verb} here"
    if project is not None:
        return f"{statement}: steelyard compare {options} weighs what {project.file} says"
    command = shlex.quote(commands[len(revisions)]) if len(commands) > len(revisions) else "'COMMAND its words'"
    return f"{statement}, in which one command can be weighed: steelyard compare {options} {command}"


def suggest_values(command: str, parameters: Sequence[tuple[str, Sequence[str]]], *, shell: bool) -> str:
    """Return how to weigh the values of a command's `parameters` (one or more) against each other."""
    from steelyard.subjects.command import command_with_values

    params = list(islice(combinations(parameters), _MOST_VALUES + 1))
    written = [in_quotes(command_with_values(command, one, shell=shell)) for one in params[:_MOST_VALUES]]
    ellipsis = " and so on" if len(params) > _MOST_VALUES else ""
    return (
        "compare needs two commands or more, which are weighed anew with each value of a parameter; to weigh the "
        f"values against the first, write them out: steelyard compare {' '.join(written)}{ellipsis}"
    )


def _may_be_revision(word: str) -> bool:
    return bool(word) and not word.startswith("-") and word.isprintable() and len(word.split()) == 1
