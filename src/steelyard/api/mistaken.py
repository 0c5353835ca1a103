"""What was meant where a command names no program: two revisions, as git's own commands take them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.subjects.revisions.git import Git


def meant_revisions(commands: Sequence[str], missing: str, environment: Mapping[str, str]) -> str | None:
    """What to give instead where the first of these commands are revisions of the repository here; None elsewhere.

    The `missing` one names no program.
    """
    from steelyard.model.errors import SteelyardError
    from steelyard.model.project_file import load_project, repository_top
    from steelyard.subjects.revisions.git import Git

    here = Path.cwd()
    if not all(map(_may_be_revision, (missing, commands[0]))) or repository_top(here) is None:
        return None
    try:
        git = Git.found(here, environment)
        found = list(takewhile(lambda word: _is_revision(word, git), commands[:2]))
        project = load_project(here) if found == [*commands] else None
    except SteelyardError:  # without git there is none
        return None
    if not found:
        return None
    options = " ".join(f"{option} {word}" for option, word in zip(("--base", "--candidate"), found, strict=False))
    are = "are revisions" if len(found) > 1 else "is a revision"
    said = f"{' and '.join(map(repr, found))} {are} here"
    if project is not None:
        return f"{said}: steelyard compare {options} weighs what {project.file} says"
    command = shlex.quote(commands[len(found)]) if len(commands) > len(found) else "'COMMAND its words'"
    return f"{said}, in which one command can be weighed: steelyard compare {options} {command}"


def _may_be_revision(word: str) -> bool:
    return bool(word) and not word.startswith("-") and word.isprintable() and len(word.split()) == 1


def _is_revision(word: str, git: Git) -> bool:
    asked = ("rev-parse", "--verify", "--quiet", f"{word}^{{commit}}")
    return _may_be_revision(word) and git.answer(*asked) is not None
