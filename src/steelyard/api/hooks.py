"""The commands around launches: what is asked, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from steelyard.api.asked import Asked
from steelyard.api.parameters import SEPARATOR
from steelyard.model.errors import UsageError

_MOST: Final = 2


def hooks_checked(options: Asked) -> dict[str, Any]:
    """Those fields of the settings; raises UsageError for too many, or for a parameter that has no value in one."""
    launch, varied = options.launch, _varied(options)
    return {
        "setup": _once("--setup", launch.set_up, varied),
        "prepare": _few("--prepare", launch.prepare),
        "conclude": _few("--conclude", launch.conclude),
        "cleanup": _once("--cleanup", launch.cleanup, varied),
    }


def _varied(options: Asked) -> list[str]:
    """The names that stand for another value from launch to launch."""
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


def _once(option: str, commands: Sequence[str] | None, varied: Sequence[str]) -> list[str]:
    given = _few(option, commands)
    for place in (f"{{{name}}}" for name in varied):
        if any(place in command for command in given):
            raise UsageError(
                f"{option} runs once, for all values: {place} has none there; "
                "use --prepare or --conclude, around each launch, or write the values out"
            )
    return given
