"""`steelyard count`: what one command executes, counted under Valgrind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from steelyard.api.options import HOOKS
from steelyard.api.settings import count_of_command
from steelyard.cli.command import Only, ReadBy, Without, command
from steelyard.cli.inputs import warn_of_unread_input
from steelyard.cli.options import (
    SHOWN_FUNCTIONS,
    FileOptions,
    JudgingOptions,
    LaunchOptionsOfOne,
    Name,
    ShownFunctions,
    WeighingOptions,
)
from steelyard.cli.outputs import check_not_launched, check_writable
from steelyard.cli.quotes import check_no_files
from steelyard.cli.settings import CountingOptions, MeasuringOptions, SuiteOptions
from steelyard.model.values import share

if TYPE_CHECKING:
    from steelyard.design.world import World


@dataclass(frozen=True, kw_only=True)
class CountOptions(MeasuringOptions):
    """The options of `count`."""

    panel: ClassVar[str] = "What is counted"

    command: Annotated[str, typer.Argument(metavar="COMMAND", help="The command to count, in quotes.")]
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[,NAME]",
            help="What is counted: instructions, cost, l1_hits, ll_hits, ram_hits.  [default: instructions]",
        ),
    ] = None
    alpha: Annotated[
        float,
        typer.Option(
            metavar="P",
            help="Where counts differ, as many are taken as a verdict with this chance of error needs: 5 for 0.01. "
            "0.001% to 20%.",
        ),
        ReadBy(share),
    ] = JudgingOptions.alpha
    counting: CountingOptions = CountingOptions()
    name: Name = None
    weighing: Annotated[WeighingOptions, Only("parameter_list", "parameter_scan")] = WeighingOptions()
    suite: Annotated[SuiteOptions, Without("shard")] = SuiteOptions()
    launch: Annotated[
        LaunchOptionsOfOne,
        Only(*HOOKS, "stdin", "shell", "ignore_failure", "timeout", "env", "inherit_env"),
    ] = LaunchOptionsOfOne(warm_up=0, seed=0)
    functions: ShownFunctions = SHOWN_FUNCTIONS
    files: FileOptions = FileOptions()


@command(
    CountOptions,
    examples=(
        "steelyard count 'gzip -9 -c /bin/sh'",
        "steelyard count 'sort /etc/passwd' --metric instructions,cost --functions 20",
    ),
)
def count(options: CountOptions, world: World) -> int:
    """Count what a command executes: instructions, or the cost of its memory accesses, under Valgrind.

    Counts do not depend on what else the machine does. To compare two versions: steelyard compare --metric
    instructions.

    Exit status: 0 counted, 2 wrong usage, 3 a launch failed or valgrind is missing, 130 interrupted.
    """
    from steelyard.cli.screen import watching
    from steelyard.design.session import attempt

    check_writable(*options.files.paths())
    check_no_files([options.name] if options.name else [], [options.command])
    judging = JudgingOptions(metric=options.metric, alpha=options.alpha)
    request = count_of_command(options.command, options.name, replace(options, judging=judging), world)
    check_not_launched(request, *options.files.paths())
    warn_of_unread_input(options.launch)
    with (
        watching(world) as watch,
        _imported_meanwhile("steelyard.cli.outcome", "steelyard.design.judging.judgement"),
    ):
        outcome = attempt(request, watch, world)

    from steelyard.cli.outcome import report_outcome

    return report_outcome(outcome, options.files, world, functions=options.functions)


@contextmanager
def _imported_meanwhile(*modules: str) -> Iterator[None]:
    """Import the modules that judge and print while Valgrind counts, as this process is idle then."""
    importing = Thread(target=lambda: [import_module(module) for module in modules])
    importing.start()
    try:
        yield
    finally:
        importing.join()
