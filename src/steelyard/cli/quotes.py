"""Commands given without their quotes: `steelyard run gzip -6 file`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from typing import Any

from steelyard.model.errors import UsageError
from steelyard.model.typed import command_in_quotes


def quotes_needed(context: Any, arguments: Sequence[str]) -> str | None:
    """Return how to quote a command whose words stand apart in `arguments`, the words after `steelyard`; else None."""
    name = getattr(getattr(context, "command", None), "name", None)
    if name not in ("compare", "run", "count", "check"):
        return None
    takes_value = {
        spelling: not getattr(param, "is_flag", False) for param in context.command.params for spelling in param.opts
    }
    words = _from_first_argument(list(arguments[1:]), takes_value)
    if len(words) < 2 or " " in words[0]:
        return None
    if name == "compare":
        return "give each command in quotes: steelyard compare 'BASELINE WITH ITS WORDS' 'CANDIDATE WITH ITS WORDS'"
    own_options = (
        place for place, word in enumerate(words) if word.startswith("--") and word.partition("=")[0] in takes_value
    )
    words = words[: next(own_options, len(words))]
    return quoting_advice(words, f"steelyard {name} ") if len(words) > 1 else None


def check_no_files(names: Iterable[str], commands: Sequence[str]) -> None:
    """Raise UsageError for `sort -n file` without quotes; but a program may be named after itself."""
    if not commands or any(len(command.split()) > 1 for command in commands):
        return
    programs = {os.path.realpath(command) for command in commands if os.access(command, os.X_OK)}
    for name in names:
        is_file = os.path.isfile(name)  # noqa: PTH113 - Path's raises where the name is too long for one
        if is_file and os.path.realpath(name) not in programs:
            raise UsageError(
                f"--name {name} is a file: {quoting_advice([commands[0], '-n', name])}, or it another name"
            )


def quoting_advice(words: Iterable[str], prefix: str = "") -> str:
    """Say how to give a command of several words."""
    return f"give the command in quotes: {prefix}{command_in_quotes(words)}"


def splits_command(option: str, arguments: Sequence[str]) -> bool:
    """Return whether a short option seems to be one of the command that it follows: `steelyard run sort -m file`.

    Behind two words, which may be commands, or with a number, it is rather meant for the tool.
    """
    _, program, third, fourth = [*arguments, "", "", "", ""][:4]
    return third == option and not (option.startswith("--") or program.startswith("-") or fourth.isdigit())


def is_runnable(word: str) -> bool:
    """Return whether a word that is no subcommand is a command to measure, as other tools take it."""
    return " " in word or "/" in word or os.path.isfile(word) or shutil.which(word) is not None  # noqa: PTH113


def _from_first_argument(words: list[str], takes_value: dict[str, bool]) -> list[str]:
    """Return the words from the first that is neither an option nor its value; empty if that cannot be told."""
    while words and words[0].startswith("-"):
        option, equals, _ = words.pop(0).partition("=")
        if option not in takes_value and option[:2] not in takes_value:
            return []  # an unknown option may have a value, which is no word of the command
        if takes_value.get(option) and not equals:
            words = words[1:]
    return words
