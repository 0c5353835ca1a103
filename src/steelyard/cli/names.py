"""What commands are called in the report."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.model.errors import UsageError


def names_of(given: Sequence[str] | None, listed: str | None, usual: Sequence[str]) -> list[str]:
    """The names of all: those `given` one by one or `listed` with commas, and the `usual` ones of the others.

    Raises UsageError for names that cannot be told apart, and for more or (in a list) fewer than there are commands.
    """
    if listed is None:
        return _one_by_one(given or [], usual)
    if given:
        raise UsageError("--name and --names are the same: give one of them")
    names = [name.strip() for name in listed.split(",")]
    if len(names) != len(usual) or not all(names) or len(set(names)) < len(names):
        raise UsageError(
            f"--names {listed!r} has to be {len(usual)} different names with commas between them: --names old,new"
        )
    return names


def _one_by_one(given: Sequence[str], usual: Sequence[str]) -> list[str]:
    if len(given) > len(usual):
        raise UsageError(f"--name was given {len(given)} times for {len(usual)} commands: once for each")
    names = [*(name.strip() for name in given), *usual[len(given) :]]
    for name in names[: len(given)]:
        if not name:
            raise UsageError("--name '' is empty: give each command a name that can be seen")
        if names.count(name) > 1:
            raise UsageError(f"--name {name!r} would be the name of two commands: give each its own")
    return names
