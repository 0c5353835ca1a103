"""The options that choose benchmarks inside programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from steelyard.cli.command import Options
from steelyard.cli.options import JudgingOptions
from steelyard.cli.values import ReadBy
from steelyard.model.errors import UsageError
from steelyard.model.values import shard

if TYPE_CHECKING:
    from steelyard.design.suite.selection import Selection


@dataclass(frozen=True, kw_only=True)
class SuiteOptions(Options):
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


def harness_checked(options: SuiteOptions, of_commands: Mapping[str, bool]) -> str | None:
    """The harness that is asked for, if it is known and nothing stands beside it that it has no use for.

    `of_commands` are the options of a command as a whole, and whether each is asked for.
    """
    name = options.harness
    if name is None:
        for option, patterns in (("--benchmark", options.benchmark), ("--tag", options.tag)):
            if patterns:
                raise UsageError(f"{option} chooses from those of a harness: say of which with --harness auto")
        return None

    from steelyard.subjects.harness import AUTO, harness_named

    if name != AUTO:
        harness_named(name)
    for option, is_asked_for in of_commands.items():
        if is_asked_for:
            raise UsageError(f"{option} is for plain commands: leave it out, or --harness {name}")
    return name


# Enough for a verdict on most benchmarks; a suite would otherwise have to share what one command gets.
_SECONDS_EACH = 3.0


def selection_of(options: SuiteOptions, judging: JudgingOptions, *, control: bool) -> Selection:
    """Which of a harness's benchmarks are wanted, and how long each may take if nothing else limits that."""
    from steelyard.design.suite.selection import Selection
    from steelyard.design.suite.shards import ShardAsked

    is_unlimited = judging.max_time is None and judging.pairs is None
    return Selection(
        only=options.benchmark or [],
        tags=options.tag or [],
        shard=None if options.shard is None else ShardAsked(*options.shard),
        seconds_each=_SECONDS_EACH if is_unlimited else None,
        control=control,
    )
