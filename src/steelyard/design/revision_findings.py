"""Findings on the revisions that are weighed: what their checkouts have in common, or should not contain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from steelyard.design.findings import some_names
from steelyard.model.findings import IDENTICAL, SHARED, UNLIKE_CRATES, Finding

if TYPE_CHECKING:
    from steelyard.model.settings import Settings
    from steelyard.model.subject import Subject
    from steelyard.subjects.revisions.builds import Built
    from steelyard.subjects.revisions.git import Repository


def identical_finding(baseline: str, candidate: str, same: str, *, parent: str | None) -> Finding:
    """Return the finding that both sides are one program, as the clause `same` says: there is nothing to weigh.

    `parent` is a revision from which the candidate may differ.
    """
    return Finding(
        code=IDENTICAL,
        message=f"identical: {baseline} and {candidate} {same}, so that nothing had to be measured",
        remedy=f"to weigh what the last commit changed: --base {parent}" if parent else None,
    )


def shared_findings(
    repository: Repository,
    sides: Sequence[Sequence[Built]],
    subjects: Sequence[Subject],
    settings: Settings,
    environment: Mapping[str, str],
) -> list[Finding]:
    """Return findings on files that are the work tree's, whichever revision runs, and on crates that are neither's.

    `environment` is the user's.
    """
    from steelyard.subjects.command import shared_environment
    from steelyard.subjects.revisions.crates import unlike_crates
    from steelyard.subjects.revisions.shared import shared_by_revisions

    found = shared_by_revisions(repository, sides, subjects, shared_environment(settings, environment))
    crates = unlike_crates([builds[0] for builds in sides])
    return [
        *(Finding(code=SHARED, message=one.message, remedy=one.remedy) for one in found),
        *([_unlike_crates_finding(crates)] if crates else ()),
    ]


def _unlike_crates_finding(crates: Sequence[str]) -> Finding:
    return Finding(
        code=UNLIKE_CRATES,
        message="the revisions were built with other versions of crates, and git does not keep the Cargo.lock of each: "
        f"{some_names(crates)}",
        remedy="a change may be theirs: steelyard cache --clear has all revisions built anew, with the newest that "
        "fit; a Cargo.lock in git says which",
    )


def built_files_finding(paths: Sequence[str]) -> Finding:
    """Return the finding that the work tree holds what was built there before, which a build may take for its own."""
    return Finding(
        code="built-files",
        message="the work tree was taken with what git neither tracks nor ignores, built files too: "
        f"{some_names(paths)}",
        remedy="a build may take them for up to date: name them in .gitignore, or remove them",
    )
