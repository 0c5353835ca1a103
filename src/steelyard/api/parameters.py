"""Parameters of commands, whose names and values stand in one text each, as those of one option do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from steelyard.model.errors import UsageError

# NUL cannot stand in an argument, so it parts the arguments of one option without doubt.
SEPARATOR = "\0"
_LIST, _SCAN = ("NAME", "A,B,C"), ("NAME", "FROM", "TO")
ARGUMENTS = {"--parameter-list": _LIST, "-L": _LIST, "--parameter-scan": _SCAN, "-P": _SCAN}
"""What each such option is followed by."""


def arguments_of(option: str, joined: str) -> list[str]:
    """The arguments of such an option again; raises UsageError where another spelling (`-Ln`) went past the joining."""
    arguments = joined.split(SEPARATOR)
    if len(arguments) != len(ARGUMENTS[option]) + may_have_step(option):
        raise too_few(option)
    return arguments


def too_few(option: str) -> UsageError:
    """What is said of an option with fewer arguments than it takes."""
    names, step = ARGUMENTS[option], " [STEP]" if may_have_step(option) else ""
    return UsageError(f"{option} takes {len(names)} words: {option} {' '.join(names)}{step}")


def may_have_step(option: str) -> bool:
    """Whether one more may follow its arguments."""
    return ARGUMENTS[option] is _SCAN


def listed(parameters: Mapping[str, Sequence[str | float]]) -> list[str]:
    """Parameters with their values as they are: behind an empty word, which no option has there."""
    return [SEPARATOR.join((name, "", *map(str, values))) for name, values in parameters.items()]


def values_listed(joined: str) -> tuple[str, list[str]] | None:
    """A name and its values, as `listed` has them; None for what stands on a command line, parted by commas."""
    name, *words = joined.split(SEPARATOR)
    return (name, words[1:]) if len(words) > 1 else None
