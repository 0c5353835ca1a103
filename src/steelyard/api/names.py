"""The names of commands in the report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from steelyard.model.errors import UsageError
from steelyard.model.typed import in_quotes


def names_of(given: Sequence[str] | None, listed: str | None, defaults: Sequence[str]) -> list[str]:
    """Return all names: those `given` one by one or `listed` with commas, and the `defaults` for the rest.

    Raises UsageError for names that are not distinct, and for more or (in a list) fewer names than commands.
    """
    if listed is None:
        return _names_given_singly(given or [], defaults)
    if given:
        raise UsageError("--name and --names are the same: give one of them")
    names = [name.strip() for name in listed.split(",")]
    if len(names) != len(defaults) or not all(names) or len(set(names)) < len(names):
        raise UsageError(
            f"--names {listed!r} has to be {len(defaults)} different names with commas between them: --names old,new"
        )
    return names


def check_no_files(names: Iterable[str], commands: Sequence[str]) -> None:
    """Raise UsageError for `sort -n file` without quotes; but a program may be named after itself."""
    if any(len(command.split()) > 1 for command in commands):
        return
    programs = {os.path.realpath(command) for command in commands if os.access(command, os.X_OK)}
    for name in names:
        is_file = os.path.isfile(name)  # noqa: PTH113 - Path's raises where the name is too long for one
        if is_file and os.path.realpath(name) not in programs:
            raise UsageError(
                f"--name {name} is a file: {quoting_advice(f'{commands[0]} -n {name}')}, or it another name"
            )


def quoting_advice(command: str, prefix: str = "") -> str:
    """Say how to give a command of several words."""
    return f"give the command in quotes: {prefix}{in_quotes(command)}"


def _names_given_singly(given: Sequence[str], defaults: Sequence[str]) -> list[str]:
    if len(given) > len(defaults):
        from steelyard.report.figures import count

        raise UsageError(
            f"--name was given {count(len(given), 'time')} for {count(len(defaults), 'command')}: once for each"
        )
    names = [*(name.strip() for name in given), *defaults[len(given) :]]
    for name in names[: len(given)]:
        if not name:
            raise UsageError("--name '' is empty: give each command a name that can be seen")
        if names.count(name) > 1:
            raise UsageError(f"--name {name!r} would be the name of two commands: give each its own")
    return names


def default_names(commands: Sequence[str]) -> list[str]:
    """Return the commands as their own names; equal ones get their positions."""
    return [
        command if commands.count(command) == 1 else f"{command} ({place})"
        for place, command in enumerate(commands, start=1)
    ]
