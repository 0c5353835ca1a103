"""`steelyard check`: whether benchmarks are sound, and whether a program follows the protocol."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from steelyard.api.checks import DEFAULT_LIMIT_S, target_of
from steelyard.cli.command import Only, ReadBy, command
from steelyard.cli.options import LaunchOptions, json_option
from steelyard.cli.outputs import as_json, check_apart, check_writable, is_printed, writing_files
from steelyard.cli.settings import MeasuringOptions, SuiteOptions
from steelyard.cli.status import FOUND, INTERRUPTED
from steelyard.model.errors import UsageError
from steelyard.model.values import seconds

if TYPE_CHECKING:
    from steelyard.design.world import World
    from steelyard.model.settings import Settings
    from steelyard.model.subject import Subject


@dataclass(frozen=True, kw_only=True)
class CheckOptions(MeasuringOptions):
    """The options of `check`."""

    panel: ClassVar[str] = "What is looked at"

    command: Annotated[str, typer.Argument(metavar="COMMAND", help="The program to look at, in quotes.")]
    protocol: Annotated[
        bool,
        typer.Option("--protocol", help="Only whether it speaks the harness protocol (steelyard docs protocol)."),
    ] = False
    suite: Annotated[SuiteOptions, Only("harness", "benchmark")] = SuiteOptions()
    allocations: Annotated[
        bool, typer.Option("--heap", help="Count allocations too, and look for leaks (steelyard docs heap).")
    ] = False
    max_time: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="Longest time for each benchmark, or for a command."),
        ReadBy(seconds),
    ] = DEFAULT_LIMIT_S
    launch: Annotated[
        LaunchOptions,
        Only("timeout", "env", "inherit_env", "seed"),
    ] = LaunchOptions(warm_up=0, timeout=60)
    json: Annotated[Path | None, json_option("Write the findings as JSON; - is stdout.")] = None


@command(
    CheckOptions,
    examples=(
        "steelyard check 'gzip -9 -c /bin/sh'",
        "steelyard check 'sort /etc/passwd' --heap --max-time 10s -o findings.json",
    ),
)
def check(options: CheckOptions, world: World) -> int:
    """Check whether benchmarks are sound: rule by rule, with what was measured and what to do (steelyard docs check).

    With --harness the benchmarks inside a program, else the command as a whole.

    Exit status: 0 no trouble, 1 trouble with a rule, 2 wrong usage, 3 it could not be tried, 130 interrupted.
    """
    if options.protocol and (
        options.suite.harness is not None
        or options.suite.benchmark
        or options.allocations
        or options.json is not None
        or "max_time" in options.given
    ):
        raise UsageError(
            "--protocol looks at nothing else: leave --harness, --benchmark, --heap, --json and --max-time out "
            "(--timeout limits each launch)"
        )

    check_writable(options.json)
    launch = replace(options.launch, seed=options.launch.seed or 0)
    subject, settings = target_of(options.command, replace(options, launch=launch), options.max_time, world)
    check_apart([options.json], [Path(subject.program)])
    if options.protocol:
        return _check_conformance(subject, settings, world)
    return _check_soundness(subject, settings, options, world)


def _check_conformance(subject: Subject, settings: Settings, world: World) -> int:
    from steelyard.cli.screen import output
    from steelyard.design.check.conformance import try_protocol
    from steelyard.report.check import show_rules

    found = try_protocol(subject, settings, world)
    show_rules(output(world.environment), subject.command, found.rules, interrupted=found.interrupted)
    return _status(any(rule.trouble for rule in found.rules), found.interrupted)


def _check_soundness(subject: Subject, settings: Settings, options: CheckOptions, world: World) -> int:
    from steelyard.cli.screen import output, watching
    from steelyard.design.check.session import check_target
    from steelyard.report.check import show_soundness

    with watching(world) as watch:
        record = check_target(
            subject,
            settings,
            world,
            watch,
            only=options.suite.benchmark or [],
            seconds=options.max_time,
            heap=options.allocations,
        )
    with writing_files((options.json, partial(as_json, record))):
        show_soundness(output(world.environment, beside_data=is_printed(options.json)), record)
    return _status(bool(record.troubles()), record.interrupted)


def _status(has_trouble: bool, interrupted: bool) -> int:
    if interrupted:
        return INTERRUPTED
    return FOUND if has_trouble else 0
