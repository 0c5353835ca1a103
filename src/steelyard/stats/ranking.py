"""Which of several candidates is faster, as far as what is known of each says so.

Each was compared with one baseline, and has an interval of its own. Two of them are told apart where their intervals
have nothing in common and their estimates differ by the margin at least. Of two equal ones that takes one interval that
misses to the left or one that misses to the right, so that at 1 - alpha each it happens with a chance of alpha at most,
however the two depend on each other. Among up to eight equal ones with equal noise any wrong order at all stays below
alpha as well (tests/stats/test_ranking.py simulates both): two equal intervals that part lie 3.6 standard errors of
their difference apart, where alpha is 0.01.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Interval = tuple[float, float]


@dataclass(frozen=True)
class Standing:
    """What is known of one of them: log-ratios to what all were compared with. `interval` is None where none is known.

    The `baseline` itself is one of them, at 0 exactly: `word` says of any other whether it was found to differ from it.
    """

    estimate: float
    interval: Interval | None
    word: str = "undecided"
    is_baseline: bool = False


@dataclass(frozen=True)
class Rank:
    """From which to which place one may be, from 1: the same, where all others are decidedly before it or behind it."""

    best: int
    worst: int


def is_before(one: Standing, other: Standing, margin: float) -> bool:
    """Whether one is decidedly faster than the other; the `margin` is a log-ratio."""
    if one.is_baseline:
        return other.word == "slower"
    if other.is_baseline:
        return one.word == "faster"
    if one.interval is None or other.interval is None:
        return False
    return one.interval[1] < other.interval[0] and other.estimate - one.estimate >= margin


def ranks(standings: Sequence[Standing], margin: float) -> list[Rank]:
    """The places that each may have; those that are not told apart share theirs."""
    many = len(standings)
    return [
        Rank(
            1 + sum(is_before(other, one, margin) for other in standings),
            many - sum(is_before(one, other, margin) for other in standings),
        )
        for one in standings
    ]


def fastest_first(standings: Sequence[Standing], ranked: Sequence[Rank]) -> list[int]:
    """Places of them in the order of their ranks, those that share one by their estimates."""
    return sorted(
        range(len(standings)),
        key=lambda place: (ranked[place].best + ranked[place].worst, standings[place].estimate),
    )
