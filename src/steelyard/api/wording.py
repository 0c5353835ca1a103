"""Error messages in terms of arguments: a sentence about an option becomes one about the argument for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from steelyard.api.arguments import ARGUMENT_KINDS
from steelyard.model.errors import SteelyardError

OTHER_NAMES = {
    "--metric": "metrics",
    "--benchmark": "benchmarks",
    "--tag": "tags",
    "--target": "targets",
    "--env": "environment",
    "--inherit-env": "inherit_environment",
    "--parameter-list": "parameters",
}
"""The arguments that have another name than their options."""
_OPTION = re.compile(r"--[a-z]+(?:-[a-z]+)*")
# Quoted text is the user's, and what follows the program's name is a command line; both stay as they are.
_QUOTES_AND_OPTIONS = re.compile(rf"('[^']*'|\"[^\"]*\"|\bsteelyard [a-z]+ [^:;()]*)|(?<![\w-]){_OPTION.pattern}")


@contextmanager
def reword_errors(names: Mapping[str, str] = OTHER_NAMES) -> Iterator[None]:
    """Reword errors raised in this context to be about arguments.

    `names` maps options to arguments that have another name.
    """
    try:
        yield
    except SteelyardError as error:
        error.args = (reword_sentence(str(error), names),)
        raise


def split_option(sentence: str) -> tuple[str, str] | None:
    """Return the argument that a sentence begins with, and the rest; None if it begins with no option."""
    match = _OPTION.match(sentence)
    return None if match is None else (argument_of(match[0]), sentence[match.end() :])


def argument_of(option: str, names: Mapping[str, str] = OTHER_NAMES) -> str:
    """Return an option's name in Python; in a project's file it is the same with hyphens."""
    return names.get(option, option.removeprefix("--").replace("-", "_"))


def reword_sentence(sentence: str, names: Mapping[str, str] = OTHER_NAMES) -> str:
    """Reword a sentence that begins with an option; others may contain unquoted words of the user's."""
    split = split_option(sentence)
    if split is None or split[0] not in ARGUMENT_KINDS:
        return sentence
    return _QUOTES_AND_OPTIONS.sub(lambda part: part[0] if part[1] else _argument_or_option(part[0], names), sentence)


def _argument_or_option(option: str, names: Mapping[str, str]) -> str:
    name = argument_of(option, names)
    return name if name in ARGUMENT_KINDS else option
