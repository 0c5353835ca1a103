"""Options that take several arguments each time, which typer cannot declare: `--parameter-list NAME A,B,C`."""

from __future__ import annotations

from collections.abc import Collection

from steelyard.api.parameters import ARGUMENTS, SEPARATOR, may_have_step, too_few_arguments

# The step of a range that no number follows. The next word is a step only if it is a number, since no command is one.
_DEFAULT_STEP = "1"


def join_arguments(arguments: list[str], options: Collection[str]) -> list[str]:
    """Join the words of each such option in a command line into one; raise UsageError if there are too few.

    `options` are those of the command, which has some or none of these.
    """
    remaining, words = list(arguments), []
    while remaining:
        option = remaining.pop(0)
        if (attached := _attached_option(option)) in options:
            raise too_few_arguments(attached)
        words.append(option)
        if option == "--":
            return words + remaining
        if option in ARGUMENTS and option in options:
            count = len(ARGUMENTS[option])
            values, remaining = remaining[:count], remaining[count:]
            if len(values) < count or any(one.startswith("--") or one in options for one in values):
                raise too_few_arguments(option)
            if may_have_step(option):
                values.append(remaining.pop(0) if remaining and _is_number(remaining[0]) else _DEFAULT_STEP)
            words.append(SEPARATOR.join(values))
    return words


def _attached_option(word: str) -> str:
    """Return the option that a word begins with if its first argument is attached: `-Ln`, `--parameter-list=n`."""
    name, equals, _ = word.partition("=")
    short = "" if word.startswith("--") else word[:2]
    option = name if equals else short if len(word) > 2 else ""
    return option if option in ARGUMENTS else ""


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
