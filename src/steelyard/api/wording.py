"""Error messages in terms of arguments: a sentence about an option becomes one about the argument for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from steelyard.api.taken import TAKES
from steelyard.model.errors import SteelyardError

_OTHERWISE = {
    "--metric": "metrics",
    "--benchmark": "benchmarks",
    "--tag": "tags",
    "--target": "targets",
    "--env": "environment",
    "--inherit-env": "inherit_environment",
    "--parameter-list": "parameters",
}
_OPTION = re.compile(r"--[a-z]+(?:-[a-z]+)*")
# Quoted text is the user's, and what follows the program's name is a command line; both stay as they are.
_PARTS = re.compile(rf"('[^']*'|\"[^\"]*\"|\bsteelyard [a-z]+ [^:;()]*)|(?<![\w-]){_OPTION.pattern}")


@contextmanager
def told_of_arguments(own: Mapping[str, str] = _OTHERWISE) -> Iterator[None]:
    """Reword errors raised in this context to be about arguments.

    `own` maps options to arguments that have another name.
    """
    try:
        yield
    except SteelyardError as error:
        error.args = (of_arguments(str(error), own),)
        raise


def split_option(said: str) -> tuple[str, str] | None:
    """Return the argument that a sentence begins with, and the rest; None if it begins with no option."""
    match = _OPTION.match(said)
    return None if match is None else (argument_of(match[0]), said[match.end() :])


def argument_of(option: str, own: Mapping[str, str] = _OTHERWISE) -> str:
    """Return an option's name in Python; in a project's file it is the same with hyphens."""
    return own.get(option, option.removeprefix("--").replace("-", "_"))


def of_arguments(said: str, own: Mapping[str, str] = _OTHERWISE) -> str:
    """Reword a sentence that begins with an option; others may contain unquoted words of the user's."""
    split = split_option(said)
    if split is None or split[0] not in TAKES:
        return said
    return _PARTS.sub(lambda part: part[0] if part[1] else _argument(part[0], own), said)


def _argument(option: str, own: Mapping[str, str]) -> str:
    name = argument_of(option, own)
    return name if name in TAKES else option
