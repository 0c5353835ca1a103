"""The options that say what is processed, for a throughput. Imports nothing heavy: `--help` reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from steelyard.api.asked import Throughput
from steelyard.cli.command import Options


@dataclass(frozen=True, kw_only=True)
class ThroughputOptions(Options, Throughput):
    """What a launch processes, or with a harness an iteration."""

    panel: ClassVar[str] = "What is run"

    processed_bytes: Annotated[
        str | None,
        typer.Option(
            "--bytes",
            metavar="N",
            help="Each run of the command (with --harness, each iteration) processes N bytes, as in 64M or {size}: "
            "bytes a second are shown.",
        ),
    ] = None
    processed_items: Annotated[
        str | None,
        typer.Option("--items", metavar="N", help="The same of items of any kind: items a second are shown."),
    ] = None
