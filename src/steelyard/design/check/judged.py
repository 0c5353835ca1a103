"""A rule, and what it says: pure functions of the evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from steelyard.design.check.evidence import Evidence
from steelyard.stats.growth import Effect, Shown

# `perhaps`: it seems to be beyond the threshold, and more launches may show it. `lacking`: it takes more to try it.
State = Literal["sound", "trouble", "perhaps", "lacking", "untried"]

LEVEL = 0.0003
"""The level of each look that a rule takes at a benchmark, of three at most: together they stay below 0.001."""


@dataclass(frozen=True)
class Judged:
    """What a rule says of a benchmark; `figure` is in the rule's unit."""

    state: State
    finding: str
    figure: float | None = None
    remedy: str | None = None
    """What to do about it, where the rule's remedy is for another cause."""


@dataclass(frozen=True)
class Rule:
    """One rule: what it is called, where trouble begins and why there, and what to do about it."""

    code: str
    sound: str
    """In a few words, what holds where there is no trouble."""
    threshold: float
    unit: str
    origin: str
    remedy: str
    judge: Callable[[Evidence], Judged] = lambda _: untried("launches of its own tell")


_STATES: dict[Shown, State] = {"beyond": "trouble", "perhaps": "perhaps", "within": "sound"}


def judge_effect(found: Effect, finding: str) -> Judged:
    """Return the judgement that the place of an effect against its threshold means."""
    return Judged(_STATES[found.shown], finding, found.figure)


def untried(why: str) -> Judged:
    """Return the judgement of a rule that could not be tried."""
    return Judged("untried", why)


TOO_FEW = Judged("lacking", "there was time for too few launches")
"""The judgement of a rule that there was too little time to try."""

BLURRED = untried(
    "most launches waited for a processor, and nothing tells how long each of their times is without that: check it "
    "while less else is running"
)
"""The judgement of a rule that waits would bias, where nobody knows which times include them."""


def percent(share: float, sign: bool = False) -> str:
    """Write a share."""
    return f"{100 * share:{'+' if sign else ''}.{1 if abs(share) < 0.1 else 0}f} %"
