"""When to look at a growing set of pairs, and what share of the error may be spent by then.

The looks are at 12, 13, 14, 15, 17, 19, ... pairs, each about a tenth more. The share of alpha that all looks until n
pairs may spend is 1 - 0.9 sqrt(12 / n): it goes on however many looks there are, so the budget need not be known when
the first is taken. The last look, at the end of the budget, may spend all that is left: whether it is the last depends
on the clock and on `--pairs`, never on which side was slower. `stats.sequential` spends it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

FIRST_LOOK = 12
# Pairs that are too few for a look tell of their noise from so many on.
FEWEST_WITH_NOISE = 4
# Finer looks gain next to nothing (x1.05: -1 % of the pairs), and cost a look's time each.
GROWTH = 1.1
# What the first look may spend. It balances early verdicts on large changes against late ones on small.
FIRST_SHARE = 0.1


def look_sizes() -> Iterator[int]:
    """Pairs at the first, second, ... look, without end: 12, 13, 14, 15, 17, 19, ..."""
    size = float(FIRST_LOOK)
    while True:
        yield int(size)
        size *= GROWTH


def share_spent(pairs: int) -> float:
    """What share of alpha the looks until so many pairs may spend, if none of them is the last."""
    return 1 - (1 - FIRST_SHARE) * sqrt(FIRST_LOOK / pairs)


@dataclass(frozen=True)
class Look:
    """One look: at how many pairs, between which shares of alpha it may spend, and whether it ends the budget."""

    pairs: int
    share_before: float
    share: float
    last: bool


def plan_looks(pairs: int, *, ended: bool) -> list[Look]:
    """The looks taken by the time `pairs` pairs are in; `ended` if the budget ended there."""
    looks: list[Look] = []
    if pairs == 0:
        return looks
    before = 0.0
    for size in look_sizes():
        last = ended and size >= pairs
        if size > pairs and not last:
            break
        share = 1.0 if last else share_spent(size)
        looks.append(Look(min(size, pairs), before, share, last))
        before = share
        if last or size >= pairs:
            break
    return looks


def next_look(pairs: int) -> int:
    """The number of pairs at the first look after `pairs` pairs."""
    return next(size for size in look_sizes() if size > pairs)
