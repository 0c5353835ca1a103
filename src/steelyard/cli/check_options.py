"""The options of `steelyard check`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from steelyard.api.checks import DEFAULT_LIMIT_S
from steelyard.cli.command import Only, ReadBy, Without
from steelyard.cli.options import LaunchOptions, Targets, json_option
from steelyard.cli.revisions import OneRevisionOptions
from steelyard.cli.settings import MeasuringOptions, SuiteOptions
from steelyard.model.values import seconds


class CheckedRevisionOptions(OneRevisionOptions):
    """Which revision is checked, and how it is built."""

    base: Annotated[
        str | None,
        typer.Option(
            metavar="REV",
            help="Check what this revision has.  [default: a command in no checkout; with --build, or of "
            "steelyard.toml, the work tree]",
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class CheckOptions(MeasuringOptions):
    """The options of `check`."""

    panel: ClassVar[str] = "What is looked at"

    command: Annotated[
        str | None,
        typer.Argument(
            metavar="[COMMAND]", help="The program to look at, in quotes.  [default: what steelyard.toml says]"
        ),
    ] = None
    protocol: Annotated[
        bool,
        typer.Option("--protocol", help="Only whether it speaks the harness protocol (steelyard docs protocol)."),
    ] = False
    suite: Annotated[SuiteOptions, Only("harness", "benchmark")] = SuiteOptions()
    revisions: Annotated[CheckedRevisionOptions, Without("candidate")] = CheckedRevisionOptions()
    allocations: Annotated[
        bool, typer.Option("--heap", help="Count allocations too, and look for leaks (steelyard docs heap).")
    ] = False
    max_time: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="Longest time for each benchmark, or for a command."),
        ReadBy(seconds),
    ] = DEFAULT_LIMIT_S
    target: Targets = None
    launch: Annotated[
        LaunchOptions,
        Only("timeout", "env", "inherit_env", "seed"),
    ] = LaunchOptions(warm_up=0, timeout=60)
    json: Annotated[Path | None, json_option("Write the findings as JSON; - is stdout.")] = None
