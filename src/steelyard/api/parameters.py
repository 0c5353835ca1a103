"""Parameters of commands. An option's name and values are joined into one text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from steelyard.api.options import Plan
from steelyard.model.errors import UsageError

# No argument can contain NUL, so it separates the arguments of one option unambiguously.
SEPARATOR = "\0"
_LIST, _SCAN = ("NAME", "A,B,C"), ("NAME", "FROM", "TO")
ARGUMENTS = {"--parameter-list": _LIST, "-L": _LIST, "--parameter-scan": _SCAN, "-P": _SCAN}
"""The arguments that each of these options takes."""


def arguments_of(option: str, joined: str) -> list[str]:
    """Split an option's joined arguments; raise UsageError if a spelling such as `-Ln` escaped the joining."""
    arguments = joined.split(SEPARATOR)
    if len(arguments) != len(ARGUMENTS[option]) + may_have_step(option):
        raise too_few_arguments(option)
    return arguments


def too_few_arguments(option: str) -> UsageError:
    """Return the error for an option with fewer arguments than it takes."""
    names, step = ARGUMENTS[option], " [STEP]" if may_have_step(option) else ""
    return UsageError(f"{option} takes {len(names)} words: {option} {' '.join(names)}{step}")


def may_have_step(option: str) -> bool:
    """Return whether one more argument may follow."""
    return ARGUMENTS[option] is _SCAN


def parameter_names(plan: Plan) -> list[str]:
    """Return the names of the parameters that are asked for."""
    return [argument.split(SEPARATOR)[0] for argument in [*(plan.parameter_list or []), *(plan.parameter_scan or [])]]


def join_parameters(parameters: Mapping[str, Sequence[str | float]]) -> list[str]:
    """Join parameters with their values verbatim, marked by an empty word, which no option has in that place."""
    return [SEPARATOR.join((name, "", *map(str, values))) for name, values in parameters.items()]


def split_parameter(joined: str) -> tuple[str, list[str]] | None:
    """Split what `join_parameters` joined into name and values.

    Returns None for a command line's text, whose values have commas.
    """
    name, *words = joined.split(SEPARATOR)
    return (name, words[1:]) if len(words) > 1 else None
