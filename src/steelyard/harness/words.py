"""The words of the harness protocol on a command line."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

VERSION = 1
PREFIX = "--steelyard-"

_MOST = {"loops": 2**53, "before": 2**53, "samples": 10_000, "seed": 2**64 - 1, "fd": 2**31 - 1}
_LEAST = {"loops": 1, "before": 1, "samples": 1, "seed": 0, "fd": 0}


class WordError(Exception):
    """The driver's words cannot be followed."""


class Order:
    """What the driver wants: the list, or one benchmark run."""

    __slots__ = ("before", "loops", "name", "samples", "seed")

    def __init__(self, name: str | None, loops: int, samples: int, seed: int, before: list[tuple[str, int]]) -> None:
        self.name, self.loops, self.samples, self.seed, self.before = name, loops, samples, seed, before


def separated(arguments: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """The protocol's words by their keys, whatever they are, and the user's own words.

    `before` may be said more than once: its values are lines, which no name can break.
    """
    words: dict[str, str] = {}
    others: list[str] = []
    for argument in arguments:
        if argument.startswith(PREFIX):
            key, _, value = argument[len(PREFIX) :].partition("=")
            words[key] = f"{words[key]}\n{value}" if key == "before" and key in words else value
        else:
            others.append(argument)
    return words, others


def descriptor(words: dict[str, str]) -> int:
    """The descriptor to answer on, closed in whatever this process executes; raises WordError if there is none."""
    fd = _number(words, "fd")
    try:
        os.set_inheritable(fd, False)
    except OSError as error:
        raise WordError(f"--steelyard-fd={fd} is not open: {error.strerror}") from error
    return fd


def order(words: dict[str, str]) -> Order:
    """What is wanted; raises WordError if that is unclear, or of a version that is not spoken here."""
    version = words.get("protocol")
    if version != str(VERSION):
        said = "is missing" if version is None else f"asks for {version!r}"
        raise WordError(f"--steelyard-protocol {said}: this harness speaks version {VERSION}")
    if ("list" in words) == ("run" in words):
        raise WordError("say either --steelyard-list or --steelyard-run=NAME")
    if "list" in words:
        return Order(None, 1, 1, 0, [])
    seed = _number(words, "seed") if "seed" in words else 0
    before = [_earlier(line) for line in words["before"].split("\n")] if "before" in words else []
    return Order(words["run"], _number(words, "loops"), _number(words, "samples"), seed, before)


def _earlier(value: str) -> tuple[str, int]:
    loops, _, name = value.partition(":")
    return name, _number({"before": loops}, "before")


def _number(words: dict[str, str], key: str) -> int:
    if key not in words:
        raise WordError(f"--steelyard-{key}=NUMBER is missing")
    value = words[key]
    # No number that is in range has more digits, and Python refuses to read very long ones.
    if value.isascii() and value.isdigit() and len(value) <= 20 and _LEAST[key] <= int(value) <= _MOST[key]:
        return int(value)
    raise WordError(f"--steelyard-{key}={value[:40]}: it has to be an integer from {_LEAST[key]} to {_MOST[key]}")
