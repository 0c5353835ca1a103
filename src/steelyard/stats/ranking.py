"""Which of several candidates is faster, as far as their intervals show it.

Each was compared with the same baseline, and has an interval of its own. Two of them are told apart if their intervals
do not overlap and their estimates differ by at least the margin. For two equal candidates this requires one interval to
miss to the left or the other to miss to the right, so with intervals at 1 - alpha its chance is at most alpha, however
the two depend on each other. Among up to eight equal candidates with equal noise, the chance of any wrong order stays
below alpha as well (tests/stats/test_ranking.py simulates both): where two equally wide intervals just part, they lie
3.6 standard errors of their difference apart, for an alpha of 0.01.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Interval = tuple[float, float]


@dataclass(frozen=True)
class Standing:
    """What is known of one candidate, as log-ratios to the baseline. `interval` is None where none is known.

    The baseline itself is one of them, at exactly 0: for any other, `word` is its verdict against the baseline.
    """

    estimate: float
    interval: Interval | None
    word: str = "undecided"
    is_baseline: bool = False


@dataclass(frozen=True)
class Rank:
    """The best and worst place, from 1, that one may have: equal if all others are decidedly before or behind it."""

    best: int
    worst: int


def is_before(one: Standing, other: Standing, margin: float) -> bool:
    """Whether `one` is decidedly faster than `other`; the `margin` is a log-ratio."""
    if one.is_baseline:
        return other.word == "slower"
    if other.is_baseline:
        return one.word == "faster"
    if one.interval is None or other.interval is None:
        return False
    return one.interval[1] < other.interval[0] and other.estimate - one.estimate >= margin


def ranks(standings: Sequence[Standing], margin: float) -> list[Rank]:
    """The places that each may have; candidates that are not told apart share theirs."""
    count = len(standings)
    return [
        Rank(
            1 + sum(is_before(other, one, margin) for other in standings),
            count - sum(is_before(one, other, margin) for other in standings),
        )
        for one in standings
    ]


def fastest_first(standings: Sequence[Standing], ranked: Sequence[Rank]) -> list[int]:
    """Indices of the standings in the order of their ranks, and of their estimates where ranks are equal."""
    return sorted(
        range(len(standings)),
        key=lambda place: (ranked[place].best + ranked[place].worst, standings[place].estimate),
    )
