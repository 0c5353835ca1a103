"""Checks of what is asked about hooks and the launches' environment."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, Final

from steelyard.api.asked import Asked
from steelyard.api.parameters import SEPARATOR
from steelyard.model.errors import UsageError
from steelyard.model.typed import in_quotes

_MOST: Final = 2


def hooks_checked(options: Asked, *, is_alone: bool) -> dict[str, Any]:
    """Return the fields of the settings for hooks.

    Raises UsageError for too many commands, and for a parameter in one that runs where it has no value. For a command
    that `is_alone`, a second command around launches would never run.
    """
    launch, varied = options.launch, _varied(options)
    return {
        "setup": _once("--setup", launch.set_up, varied),
        "prepare": _of_each("--prepare", launch.prepare, is_alone=is_alone),
        "conclude": _of_each("--conclude", launch.conclude, is_alone=is_alone),
        "cleanup": _once("--cleanup", launch.cleanup, varied),
    }


def check_variables(options: Asked, commands: Sequence[str]) -> None:
    """Raise UsageError for a variable with a parameter in its value, which would be the same in all launches."""
    for variable, name in product(options.launch.env or [], _varied(options)):
        if f"{{{name}}}" in variable:
            instead = in_quotes(f"env {variable} {commands[0] if commands else 'COMMAND'}")
            raise UsageError(
                f"--env {variable} is the same for all values: {{{name}}} has none there; set it in the command, as "
                f"in {instead}"
            )


def _varied(options: Asked) -> list[str]:
    """Return the names whose values differ from launch to launch."""
    weighing = options.weighing
    parameters = [*(weighing.parameter_list or []), *(weighing.parameter_scan or [])]
    names = [given.split(SEPARATOR)[0] for given in parameters]
    layout = ["layout"] if weighing.layouts is not None else []
    loops = ["loops"] if options.counting.loops is not None else []
    return [*names, *layout, *loops]


def _few(option: str, commands: Sequence[str] | None) -> list[str]:
    given = list(commands or [])
    if len(given) > _MOST:
        raise UsageError(f"{option} was given {len(given)} times: once for both commands, or twice, one for each")
    return given


def _of_each(option: str, commands: Sequence[str] | None, *, is_alone: bool) -> list[str]:
    given = _few(option, commands)
    if is_alone and len(given) > 1:
        raise UsageError(f"{option} was given twice, and there is one command: give it once")
    return given


def _once(option: str, commands: Sequence[str] | None, varied: Sequence[str]) -> list[str]:
    given = _few(option, commands)
    for place in (f"{{{name}}}" for name in varied):
        if any(place in command for command in given):
            raise UsageError(
                f"{option} runs once, for all values: {place} has none there; "
                "use --prepare or --conclude, around each launch, or write the values out"
            )
    return given
