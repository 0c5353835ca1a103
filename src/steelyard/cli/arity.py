"""Options that take several arguments each time, which typer cannot declare: `--parameter-list NAME A,B,C`."""

from __future__ import annotations

from collections.abc import Collection

from steelyard.api.parameters import ARGUMENTS, SEPARATOR, may_have_step, too_few

# The step of a range that no number follows. The next word is a step only if it is a number, since no command is one.
_USUAL_STEP = "1"


def joined(arguments: list[str], options: Collection[str]) -> list[str]:
    """Join the words of each such option in a command line into one; raise UsageError if there are too few.

    `options` are those of the command, which has some or none of these.
    """
    left, words = list(arguments), []
    while left:
        option = left.pop(0)
        if (glued := _glued(option)) in options:
            raise too_few(glued)
        words.append(option)
        if option == "--":
            return words + left
        if option in ARGUMENTS and option in options:
            count = len(ARGUMENTS[option])
            taken, left = left[:count], left[count:]
            if len(taken) < count or any(one.startswith("--") or one in options for one in taken):
                raise too_few(option)
            if may_have_step(option):
                taken.append(left.pop(0) if left and _is_number(left[0]) else _USUAL_STEP)
            words.append(SEPARATOR.join(taken))
    return words


def _glued(word: str) -> str:
    """Return the option that a word begins with if its first argument is attached: `-Ln`, `--parameter-list=n`."""
    name, equals, _ = word.partition("=")
    short = "" if word.startswith("--") else word[:2]
    found = name if equals else short if len(word) > 2 else ""
    return found if found in ARGUMENTS else ""


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
