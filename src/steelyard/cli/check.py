"""`steelyard check`: whether benchmarks are sound, and whether a program follows the protocol."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.api.checks import requested_check
from steelyard.api.streams import launched_files
from steelyard.cli.check_options import CheckOptions
from steelyard.cli.check_outcome import say_findings, show_record, status_of
from steelyard.cli.command import command
from steelyard.cli.inputs import project_instead_of_command
from steelyard.cli.outputs import check_apart, check_writable, earlier_files_removed_on_error
from steelyard.model.errors import UsageError

if TYPE_CHECKING:
    from steelyard.design.check.session import CheckRequest
    from steelyard.design.world import World

_NOT_OF_PROTOCOL = ("harness", "benchmark", "allocations", "json", "max_time")


@command(
    CheckOptions,
    examples=(
        "steelyard check 'gzip -9 -c /bin/sh'",
        "steelyard check 'sort /etc/passwd' --heap --max-time 10s -o findings.json",
    ),
)
def check(options: CheckOptions, world: World) -> int:
    """Check whether benchmarks are sound: rule by rule, with what was measured and what to do (steelyard docs check).

    With --harness the benchmarks inside the program, else the command as a whole. Without a command the targets of the
    project's file, steelyard.toml (see steelyard init), as they are in the work tree.

    Exit status: 0 no trouble, 1 trouble with a rule, 2 wrong usage, 3 it could not be tried, 130 interrupted.
    """
    if options.protocol and not options.given.keys().isdisjoint(_NOT_OF_PROTOCOL):
        raise UsageError(
            "--protocol looks at nothing else: leave --harness, --benchmark, --heap, --json and --max-time out "
            "(--timeout limits each launch)"
        )

    check_writable(options.json)
    options = replace(options, launch=replace(options.launch, seed=options.launch.seed or 0))
    if options.command is None:
        if options.protocol:
            raise UsageError("--protocol is about one program: steelyard check --protocol './program'")
        from steelyard.cli.several_checks import check_project

        return check_project(project_instead_of_command("check", "check './program'"), options, world)
    if options.target:
        raise UsageError("--target chooses from those of a project's file: leave it out, or the command")
    return _check_command(options.command, options, world)


def _check_command(command: str, options: CheckOptions, world: World) -> int:
    """Check a command, as it is here or, built, in a revision."""
    from steelyard.cli.screen import watching
    from steelyard.design.check.session import check_target

    with (
        earlier_files_removed_on_error(options.json, what="check"),
        watching(world) as watch,
        requested_check(command, options, options.max_time, watch, world) as request,
    ):
        watch.wipe()
        say_findings(request.findings)
        check_apart([options.json], launched_files([request.subject], request.settings))
        if options.protocol:
            return _check_conformance(request, world)
        record = check_target(request, world, watch, seconds=options.max_time, heap=options.allocations)
        watch.wipe()
        show_record(record, options.json, world)
        return status_of(bool(record.troubles()), record.interrupted)


def _check_conformance(request: CheckRequest, world: World) -> int:
    from steelyard.cli.screen import output
    from steelyard.design.check.conformance import try_protocol
    from steelyard.report.check import show_rules

    found = try_protocol(request.subject, request.settings, world)
    show_rules(output(world.environment), request.subject.command, found.rules, interrupted=found.interrupted)
    return status_of(any(rule.trouble for rule in found.rules), found.interrupted)
