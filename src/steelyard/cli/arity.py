"""Options that take several arguments each time, which typer cannot declare: `--parameter-list NAME A,B,C`."""

from __future__ import annotations

from collections.abc import Collection

from steelyard.model.errors import UsageError

# NUL cannot stand in an argument, so it parts the arguments of one option without doubt.
SEPARATOR = "\0"
_LIST, _SCAN = ("NAME", "A,B,C"), ("NAME", "FROM", "TO")
_ARGUMENTS = {"--parameter-list": _LIST, "-L": _LIST, "--parameter-scan": _SCAN, "-P": _SCAN}
# Of a range that no number stands behind: the next word is a step only if it is a number, as no command is one.
_USUAL_STEP = "1"


def arguments_of(option: str, joined: str) -> list[str]:
    """The arguments of such an option again; raises UsageError where another spelling (`-Ln`) went past the joining."""
    arguments = joined.split(SEPARATOR)
    if len(arguments) != len(_ARGUMENTS[option]) + _may_have_step(option):
        raise _too_few(option)
    return arguments


def joined(arguments: list[str], options: Collection[str]) -> list[str]:
    """The words of a command line with those of each such option made one; raises UsageError where there are too few.

    A command has some of them, or none: its `options`.
    """
    left, words = list(arguments), []
    while left:
        option = left.pop(0)
        words.append(option)
        if option == "--":
            return words + left
        if option in _ARGUMENTS and option in options:
            count = len(_ARGUMENTS[option])
            taken, left = left[:count], left[count:]
            if len(taken) < count or any(one.startswith("--") for one in taken):
                raise _too_few(option)
            if _may_have_step(option):
                taken.append(left.pop(0) if left and _is_number(left[0]) else _USUAL_STEP)
            words.append(SEPARATOR.join(taken))
    return words


def _too_few(option: str) -> UsageError:
    names, step = _ARGUMENTS[option], " [STEP]" if _may_have_step(option) else ""
    return UsageError(f"{option} takes {len(names)} words: {option} {' '.join(names)}{step}")


def _may_have_step(option: str) -> bool:
    return _ARGUMENTS[option] is _SCAN


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
