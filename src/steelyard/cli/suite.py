"""The options that choose benchmarks inside programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from steelyard.api.asked import Suite
from steelyard.cli.command import Options
from steelyard.cli.values import ReadBy
from steelyard.model.values import shard


@dataclass(frozen=True, kw_only=True)
class SuiteOptions(Options, Suite):
    """Who drives the benchmarks, and which of them."""

    panel: ClassVar[str] = "Benchmarks inside programs"

    harness: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Measure the benchmarks inside the programs: of protocol (all SDKs), google-benchmark, criterion, go "
            "and others (steelyard docs adapters), or auto to recognise them.",
        ),
    ] = None
    benchmark: Annotated[
        list[str] | None,
        typer.Option("--benchmark", "-b", metavar="PATTERN", help="Only those of a harness; * and ? as in a shell."),
    ] = None
    tag: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Only those benchmarks of a harness that have such a tag."),
    ] = None
    shard: Annotated[
        tuple[int, int] | None,
        typer.Option(
            metavar="I/N",
            help="Only part I of N of the benchmarks, for N machines; steelyard merge joins what they measured.",
        ),
        ReadBy(shard),
    ] = None
