"""The options for weighing one command in two revisions of a git repository."""

from __future__ import annotations

from typing import Annotated, ClassVar

import typer

from steelyard.api.options import Revisions
from steelyard.cli.command import CommandOptions, ReadBy
from steelyard.model.values import seconds


class RevisionOptions(Revisions, CommandOptions):
    """Which revisions, and how each is built."""

    panel: ClassVar[str] = "Revisions of a git repository"

    base: Annotated[
        str | None,
        typer.Option(
            metavar="REV",
            help="Weigh the one command in this revision against the candidate.  "
            "[default: the merge base with the default branch]",
        ),
    ]
    candidate: Annotated[
        str | None,
        typer.Option(
            metavar="REV", help="The revision that may have changed.  [default: the work tree, with its changes]"
        ),
    ]
    build: Annotated[
        str | None,
        typer.Option(metavar="CMD", help="Build each side by this shell command, in a folder of its own; kept."),
    ]
    build_timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="Longest time that a build may take."), ReadBy(seconds)
    ]


class OneRevisionOptions(RevisionOptions):
    """Which revision is measured alone, and how it is built."""

    panel: ClassVar[str] = "A revision of a git repository"

    base: Annotated[
        str | None,
        typer.Option(
            metavar="REV",
            help="Measure the command in this revision.  [default: in no checkout; with --build the work tree]",
        ),
    ]
    build: Annotated[
        str | None,
        typer.Option(metavar="CMD", help="Build it by this shell command, in a folder of its own; kept."),
    ]
