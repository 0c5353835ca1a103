"""Checks of what is asked about hooks and the launches' environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from steelyard.api.options import HOOKS, Options
from steelyard.api.parameters import parameter_names
from steelyard.model.errors import UsageError
from steelyard.model.placeholders import LAYOUT, LOOPS
from steelyard.model.typed import in_quotes

if TYPE_CHECKING:
    from steelyard.model.settings import Settings

_MOST_COMMANDS: Final = 2
_AROUND_LAUNCHES: Final = ("prepare", "conclude")


def hooks_checked(options: Options, *, is_alone: bool) -> dict[str, Any]:
    """Return the fields of the settings for hooks.

    Raises UsageError for too many commands, and for a parameter in one that runs where it has no value. For a command
    that `is_alone`, a second command around launches would never run.
    """
    given = {hook: list(getattr(options.launch, hook) or []) for hook in HOOKS}
    for hook, commands in given.items():
        if len(commands) > _MOST_COMMANDS:
            raise UsageError(f"--{hook} has {len(commands)} commands: give one for both sides, or two, one for each")
        if hook not in _AROUND_LAUNCHES:
            _refuse_parameters(hook, commands, _varying_names(options))
        elif is_alone and len(commands) > 1:
            raise UsageError(f"--{hook} has two commands, for two sides, and there is one: give one")
    return given


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
        for hook in _AROUND_LAUNCHES
    }
    return settings.model_copy(update=around)


def _varying_names(options: Options) -> list[str]:
    """Return the names whose values differ from launch to launch."""
    layout = [LAYOUT] if options.weighing.layouts is not None else []
    loops = [LOOPS] if options.counting.loops is not None else []
    return [*parameter_names(options.weighing), *layout, *loops]


def _refuse_parameters(hook: str, commands: Sequence[str], names: Sequence[str]) -> None:
    for placeholder in (f"{{{name}}}" for name in names):
        if any(placeholder in command for command in commands):
            raise UsageError(
                f"--{hook} runs once, for all values: {placeholder} has none there; "
                "use --prepare or --conclude, around each launch, or write the values out"
            )
