"""Checks of what is asked about hooks and the launches' environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from steelyard.api.options import Options
from steelyard.api.parameters import parameter_names
from steelyard.model.errors import UsageError
from steelyard.model.placeholders import LAYOUT, LOOPS
from steelyard.model.typed import in_quotes

if TYPE_CHECKING:
    from steelyard.model.settings import Settings

_MOST_COMMANDS: Final = 2


def hooks_checked(options: Options, *, is_alone: bool) -> dict[str, Any]:
    """Return the fields of the settings for hooks.

    Raises UsageError for too many commands, and for a parameter in one that runs where it has no value. For a command
    that `is_alone`, a second command around launches would never run.
    """
    launch, varying = options.launch, _varying_names(options)
    return {
        "setup": _commands_run_once("--setup", launch.setup, varying),
        "prepare": _commands_around_launches("--prepare", launch.prepare, is_alone=is_alone),
        "conclude": _commands_around_launches("--conclude", launch.conclude, is_alone=is_alone),
        "cleanup": _commands_run_once("--cleanup", launch.cleanup, varying),
    }


def check_variables(options: Options, commands: Sequence[str]) -> None:
    """Raise UsageError for a variable with a parameter in its value, which would be the same in all launches."""
    for variable, name in product(options.launch.env or [], _varying_names(options)):
        if f"{{{name}}}" in variable:
            instead = in_quotes(f"env {variable} {commands[0] if commands else 'COMMAND'}")
            raise UsageError(
                f"--env {variable} is the same for all values: {{{name}}} has none there; set it in the command, as "
                f"in {instead}"
            )


def with_values_around(settings: Settings, values: Mapping[str, str]) -> Settings:
    """Return the settings with the values of parameters in what goes around each launch."""
    from steelyard.subjects.command import command_with_values, is_hook_by_shell

    around = {
        hook: [command_with_values(one, values, shell=is_hook_by_shell(one)) for one in getattr(settings, hook)]
        for hook in ("prepare", "conclude")
    }
    return settings.model_copy(update=around)


def _varying_names(options: Options) -> list[str]:
    """Return the names whose values differ from launch to launch."""
    layout = [LAYOUT] if options.weighing.layouts is not None else []
    loops = [LOOPS] if options.counting.loops is not None else []
    return [*parameter_names(options.weighing), *layout, *loops]


def _one_or_two(option: str, commands: Sequence[str] | None) -> list[str]:
    given = list(commands or [])
    if len(given) > _MOST_COMMANDS:
        raise UsageError(f"{option} was given {len(given)} times: once for both commands, or twice, one for each")
    return given


def _commands_around_launches(option: str, commands: Sequence[str] | None, *, is_alone: bool) -> list[str]:
    given = _one_or_two(option, commands)
    if is_alone and len(given) > 1:
        raise UsageError(f"{option} was given twice, and there is one command: give it once")
    return given


def _commands_run_once(option: str, commands: Sequence[str] | None, varying: Sequence[str]) -> list[str]:
    given = _one_or_two(option, commands)
    for placeholder in (f"{{{name}}}" for name in varying):
        if any(placeholder in command for command in given):
            raise UsageError(
                f"{option} runs once, for all values: {placeholder} has none there; "
                "use --prepare or --conclude, around each launch, or write the values out"
            )
    return given
