"""Options that take several arguments each time, which typer cannot declare: `--parameter-list NAME A,B,C`."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

from steelyard.model.errors import UsageError

# NUL cannot stand in an argument, so it parts the arguments of one option without doubt.
SEPARATOR = "\0"
_ARGUMENTS = {
    "--parameter-list": ("NAME", "A,B,C"),
    "-L": ("NAME", "A,B,C"),
    "--parameter-scan": ("NAME", "FROM", "TO", "STEP"),
    "-P": ("NAME", "FROM", "TO", "STEP"),
}


class CompareCommand(TyperCommand):
    """`compare`, whose parameter options take as many arguments as they name."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Join the arguments of each such option before typer sees them; raises UsageError where there are too few."""
        return list(super().parse_args(ctx, _joined(args)))


def arguments_of(option: str, joined: str) -> list[str]:
    """The arguments of such an option again; raises UsageError where another spelling (`-Ln`) went past the joining."""
    arguments = joined.split(SEPARATOR)
    if len(arguments) != len(_ARGUMENTS[option]):
        raise _too_few(option)
    return arguments


def _too_few(option: str) -> UsageError:
    names = _ARGUMENTS[option]
    return UsageError(f"{option} takes {len(names)} words: {option} {' '.join(names)}")


def _joined(arguments: list[str]) -> list[str]:
    left, joined = list(arguments), []
    while left:
        option = left.pop(0)
        joined.append(option)
        if option == "--":
            return joined + left
        if option in _ARGUMENTS:
            count = len(_ARGUMENTS[option])
            taken, left = left[:count], left[count:]
            if len(taken) < count or any(one.startswith("--") for one in taken):
                raise _too_few(option)
            joined.append(SEPARATOR.join(taken))
    return joined
