"""`steelyard check`: whether a program can be measured as it is."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from steelyard.cli import options
from steelyard.cli.status import FOUND
from steelyard.model.errors import InterruptedBeforeStart, UsageError


def check(
    command: Annotated[str, typer.Argument(metavar="COMMAND", help="The program to look at, in quotes.")],
    protocol: Annotated[
        bool, typer.Option("--protocol", help="Whether it speaks the harness protocol (docs/protocol.md).")
    ] = False,
    timeout: options.Timeout = 60,
    env: options.Env = None,
    inherit_env: options.InheritEnv = False,
) -> None:
    """Look whether a program can be measured as it is, rule by rule.

    Exit status: 0 every rule holds, 1 one does not, 2 wrong usage, 3 it could not be tried.
    """
    if not protocol:
        raise UsageError("say what to check: --protocol, whether it speaks the harness protocol")

    from steelyard.cli.screen import output
    from steelyard.design.conformance import Conformance
    from steelyard.design.interrupt import Interrupt
    from steelyard.design.recorder import InterruptedByUser
    from steelyard.measure.launch import Launcher
    from steelyard.report.conformance import rules
    from steelyard.subjects.command import command_subject

    settings = options.plain_settings(timeout=timeout, env=env, inherit_env=inherit_env)
    subject = command_subject(command, command, "checked", shell=False)
    with Launcher() as launcher, Interrupt(launcher.cancel):
        try:
            found = Conformance(subject, settings, launcher.launch, os.environ).rules()
        except InterruptedByUser:
            raise InterruptedBeforeStart("interrupted before every rule was tried") from None
    rules(output(), command, found)
    raise typer.Exit(FOUND if any(rule.trouble for rule in found) else 0)
