"""`steelyard check`: whether benchmarks are sound, and whether a program speaks the protocol."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli import options
from steelyard.cli.checks import in_range
from steelyard.cli.status import FOUND, INTERRUPTED
from steelyard.cli.suite import BenchmarkPatterns, HarnessName
from steelyard.model.errors import UsageError

if TYPE_CHECKING:
    from steelyard.model.records import Settings, Subject

Json = Annotated[Path | None, typer.Option("--json", "-o", metavar="FILE", help="Write the findings as JSON.")]


def check(
    command: Annotated[str, typer.Argument(metavar="COMMAND", help="The program to look at, in quotes.")],
    protocol: Annotated[
        bool, typer.Option("--protocol", help="Only whether it speaks the harness protocol (docs/protocol.md).")
    ] = False,
    harness: HarnessName = None,
    benchmark: BenchmarkPatterns = None,
    heap: Annotated[
        bool, typer.Option("--heap", help="Count allocations too, and look for leaks (docs/heap.md).")
    ] = False,
    max_time: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time for each benchmark, or for a command.")
    ] = 20.0,
    timeout: options.Timeout = 60,
    env: options.Env = None,
    inherit_env: options.InheritEnv = False,
    seed: options.Seed = None,
    json: Json = None,
) -> None:
    """Look whether benchmarks are sound: rule by rule, with what was measured and what to do (docs/check.md).

    With --harness the benchmarks inside a program, else the command as a whole.

    Exit status: 0 no trouble, 1 trouble with a rule, 2 wrong usage, 3 it could not be tried, 130 interrupted.
    """
    if protocol and (harness is not None or benchmark or heap or json is not None):
        raise UsageError("--protocol looks at nothing else: leave --harness, --benchmark, --heap and --json out")

    from steelyard.subjects.command import command_subject

    in_range("--max-time", max_time, 0.1, 86_400)
    options.check_writable(json)
    settings = options.plain_settings(
        timeout=timeout, env=env, inherit_env=inherit_env, harness=harness, benchmark=benchmark, seed=seed or 0
    )
    subject = command_subject(command, command, "checked", shell=False)
    if protocol:
        raise typer.Exit(_conformance(subject, settings))
    raise typer.Exit(_soundness(subject, settings, benchmark or [], max_time, heap, json))


def _conformance(subject: Subject, settings: Settings) -> int:
    from steelyard.cli.screen import output
    from steelyard.design.check.conformance import try_protocol
    from steelyard.design.world import World
    from steelyard.report.conformance import rules

    found = try_protocol(subject, settings, World())
    rules(output(), subject.command, found.rules, interrupted=found.interrupted)
    return _status(any(rule.trouble for rule in found.rules), found.interrupted)


def _soundness(
    subject: Subject, settings: Settings, only: list[str], seconds: float, heap: bool, json: Path | None
) -> int:
    from steelyard.cli.screen import output, watching
    from steelyard.design.check.session import check_target
    from steelyard.design.world import World
    from steelyard.model.files import write_atomically
    from steelyard.report.check import soundness

    with watching() as watch:
        found = check_target(subject, settings, World(), watch, only=only, seconds=seconds, heap=heap)
    if json is not None:
        write_atomically(json, f"{found.model_dump_json(indent=1)}\n".encode())
    soundness(output(), found)
    return _status(bool(found.troubles()), found.interrupted)


def _status(troubled: bool, interrupted: bool) -> int:
    if interrupted:
        return INTERRUPTED
    return FOUND if troubled else 0
