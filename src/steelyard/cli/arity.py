"""Options that take several words each time, which typer cannot declare: `--parameter-list NAME A,B,C`."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

from steelyard.model.errors import UsageError

# NUL cannot stand in an argument, so it parts the words of one option without doubt.
SEPARATOR = "\0"
_WORDS = {
    "--parameter-list": ("NAME", "A,B,C"),
    "-L": ("NAME", "A,B,C"),
    "--parameter-scan": ("NAME", "FROM", "TO", "STEP"),
    "-P": ("NAME", "FROM", "TO", "STEP"),
}


class CompareCommand(TyperCommand):
    """`compare`, whose parameter options take as many words as they name."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Join the words of each such option before typer sees them; raises UsageError where there are too few."""
        return list(super().parse_args(ctx, _joined(args)))


def words_of(option: str, joined: str) -> list[str]:
    """The words of such an option again; raises UsageError where another spelling (`-Ln`) has gone past the joining."""
    words = joined.split(SEPARATOR)
    if len(words) != len(_WORDS[option]):
        raise _too_few(option)
    return words


def _too_few(option: str) -> UsageError:
    words = _WORDS[option]
    return UsageError(f"{option} takes {len(words)} words: {option} {' '.join(words)}")


def _joined(arguments: list[str]) -> list[str]:
    left, joined = list(arguments), []
    while left:
        word = left.pop(0)
        joined.append(word)
        if word == "--":
            return joined + left
        if word in _WORDS:
            count = len(_WORDS[word])
            taken, left = left[:count], left[count:]
            if len(taken) < count or any(one.startswith("--") for one in taken):
                raise _too_few(word)
            joined.append(SEPARATOR.join(taken))
    return joined
