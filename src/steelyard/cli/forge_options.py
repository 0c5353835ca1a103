"""The options of `gate` for comments where code is reviewed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from steelyard.cli.command import CommandOptions


@dataclass(frozen=True, kw_only=True)
class ForgeOptions(CommandOptions):
    """What to write where code is reviewed; tokens come only from the environment."""

    panel: ClassVar[str] = "Where code is reviewed"

    github: Annotated[
        bool,
        typer.Option(
            "--github",
            help="Write the job's summary, annotations and outputs; with GITHUB_TOKEN the pull request's comment.",
        ),
    ] = False
    gitlab: Annotated[
        bool, typer.Option("--gitlab", help="With GITLAB_TOKEN write the note on the pipeline's merge request.")
    ] = False
    comment: Annotated[
        bool, typer.Option("--comment", help="The comment or note alone; says what is missing where there can be none.")
    ] = False
    title: Annotated[
        str,
        typer.Option(metavar="TEXT", help="Heads the page; each title has a comment of its own."),
    ] = "Steelyard"
