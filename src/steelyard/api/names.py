"""The names of commands in the report."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.model.errors import UsageError


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
