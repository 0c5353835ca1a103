"""What a weighing tells whoever watches it, between two launches; and within one that may take minutes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Member(NamedTuple):
    """One benchmark of a suite while it is weighed: its verdict, or how it stands; `failed` is a word as well."""

    name: str
    word: str | None
    """None while it is open."""
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
    """What the budget allows, where the user should know before it is spent: said once, to stay."""
    noun: str | None = None
    """What is `done`, if these are no pairs."""
    side: str | None = None
    """Which one of a benchmark that is, where each is launched by itself: `baseline` or `candidate`."""
    members: Callable[[], Sequence[Member]] | None = None
    """Of a suite all benchmarks, for whoever draws them: not worked out for each pair."""
    is_first: bool = False
    """Whether the first launch of all begins, which may take long, or wait for something for ever: in `seconds_left` it
    is given up, if ever."""
    waited_s: float | None = None
    """Of a command that is not measured and lasts, as one around the launches: how long it has run; 0 once it ended."""
    lasted_s: float | None = None
    """How long the launch has taken that is under way, where one lasts."""
    goes_on: bool = False
    """Whether this tells nothing but that."""


GOES_ON = Progress("", 0, None, goes_on=True)

Watch = Callable[[Progress], None]
"""Is told how far a measurement is."""
