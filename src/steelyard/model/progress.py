"""What a weighing reports between two launches, and during one that may take minutes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Member(NamedTuple):
    """One benchmark of a suite while it is weighed: its verdict, or how it stands."""

    name: str
    word: str | None
    """The verdict, or `failed`; None while it is open."""
    done: int
    change: float | None = None
    interval: tuple[float, float] | None = None
    is_next: bool = False


@dataclass(frozen=True)
class Progress:
    """The state after a pair (or after a launch of a run); `change` and `interval` are those of the last look."""

    benchmark: str
    done: int
    limit: int | None
    change: float | None = None
    interval: tuple[float, float] | None = None
    seconds_left: float | None = None
    allowance: str | None = None
    """What the budget allows, if the user should know before it is spent: reported once, to stay on screen."""
    noun: str | None = None
    """The name of what is `done`, if not pairs."""
    side: str | None = None
    """The side that is counted, `baseline` or `candidate`, where each is launched on its own."""
    members: Callable[[], Sequence[Member]] | None = None
    """Returns all benchmarks of a suite, for displays that draw them: not computed for each pair."""
    is_first: bool = False
    """Whether the very first launch begins, which may take long, or wait for something for ever: it is given up after
    `seconds_left`, if ever."""
    waited_s: float | None = None
    """How long a command that is not measured, such as a hook, has run so far; 0 once it ended."""
    lasted_s: float | None = None
    """How long the launch under way has taken, if it takes long."""
    goes_on: bool = False
    """Whether this only reports that the measurement goes on."""


GOES_ON = Progress("", 0, None, goes_on=True)

Watch = Callable[[Progress], None]
"""Receives the progress of a measurement."""
