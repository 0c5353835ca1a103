"""When to look at a growing set of pairs, and what share of alpha may be spent by then.

The looks are at 12, 13, 14, 15, 17, 19, ... pairs, each about a tenth more. Together the looks until n pairs may spend
the share 1 - 0.9 sqrt(12 / n) of alpha. This goes on for any number of looks, so the budget need not be known when the
first one is taken. The look at the end of the budget may spend all that is left, or keeps a part of it for a weighing
that goes on. When a budget ends depends on the clock and on `--pairs`, never on which side was slower.

Whoever adds another budget has seen how the first one ended, and may size it by the way the result leans. So all later
looks are fixed by where the first budget ended: each is at a quarter more pairs, and what is left of alpha falls as the
number of pairs rises. Other budgets end without a look of their own, so nobody's choice moves anything.
`stats.sequential` spends these shares.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import sqrt
from typing import NamedTuple

FIRST_LOOK = 12
# Pairs too few for a look show something of their noise from this number on.
FEWEST_WITH_NOISE = 4
# Finer looks gain next to nothing (x1.05: 1 % fewer pairs), and each takes time.
GROWTH = 1.1
# Less is left to spend once a budget has ended, so fewer looks share it: where 45 pairs became 88, x1.1 would make
# the bounds 6 % wider.
GROWTH_AFTER_END = 1.25
# What the first look may spend. It balances early verdicts on large changes against late ones on small changes.
FIRST_SHARE = 0.1
# The part of what little is left that the end of a budget keeps. It makes bounds 3 to 8 % wider for all who stop there.
RESERVE = 0.5
# The smallest p-value of few pairs is a power of 2, and has to be reached however the division rounds.
_ROUNDING = 1e-9


class Look(NamedTuple):
    """One look: at how many pairs, from which to which share of alpha it may spend, and whether it ends the budget."""

    pairs: int
    share_before: float
    share: float
    last: bool


@dataclass(frozen=True)
class Budgets:
    """What a weighing may spend when its budget ends, and where that was, once other budgets followed."""

    reserve: float = 0.0
    """The part of the remaining alpha that the end of the budget keeps for going on."""
    ended: int | None = None
    """After how many pairs the first budget ended, if others followed; 0 where it ended without a look of its own."""
    alpha: float = 1.0
    """The alpha of the weighing: a budget of few pairs spends at its end at least what they need to show anything."""

    def may_go_on_after(self, pairs: int) -> bool:
        """Whether the first budget, if it ends after so many pairs, leaves anything to spend."""
        return self.ended is not None or self.share_at_end(pairs) != 1

    def share_at_end(self, pairs: int) -> float:
        """Return the share of alpha spent once the budget has ended; over 1 where so few pairs can show nothing."""
        share = 1 - self.reserve * (1 - share_spent(max(pairs, FIRST_LOOK)))
        least = 2.0 ** (1 - pairs) / self.alpha
        if least > 1 or pairs > FIRST_LOOK:
            return max(share, least)
        return max(share, min(1.0, least * (1 + _ROUNDING)))


ONE_BUDGET = Budgets()


def look_sizes() -> Iterator[int]:
    """Pairs at the first, second, ... look, without end: 12, 13, 14, 15, 17, 19, ..."""
    size = float(FIRST_LOOK)
    while True:
        yield int(size)
        size *= GROWTH


def share_spent(pairs: int) -> float:
    """Return the share of alpha that the looks until so many pairs may spend, if no budget ended by then."""
    return 1 - (1 - FIRST_SHARE) * sqrt(FIRST_LOOK / pairs)


def plan_looks(pairs: int, *, ended: bool, budgets: Budgets = ONE_BUDGET) -> list[Look]:
    """Return the looks taken by `pairs` pairs; `ended` says that the budget ended there, if none ended before."""
    end = (pairs if ended else None) if budgets.ended is None else _judged_end(budgets)
    usual = takewhile(lambda size: size <= pairs and (not end or size < end), look_sizes())
    places = [(size, share_spent(size)) for size in usual]
    if end and end <= pairs:
        share = min(1.0, budgets.share_at_end(end))
        places.append((end, share))
        later = takewhile(lambda size: size <= pairs, _sizes_after(end))
        places += [(size, _share_after(end, share, size)) for size in later]
    shares = [0.0, *(share for _, share in places)]
    return [Look(size, before, share, size == end) for (size, share), before in zip(places, shares, strict=False)]


def _judged_end(budgets: Budgets) -> int | None:
    """Return after how many pairs the first budget ended; None if these were too few to show anything."""
    return budgets.ended if budgets.ended and budgets.share_at_end(budgets.ended) <= 1 else None


def _share_after(end: int, share: float, pairs: int) -> float:
    """Return the share of alpha spent by `pairs` pairs, where a budget ended after `end` pairs with `share` spent."""
    return 1 - (1 - share) * end / pairs


def share_of_next(looks: Sequence[Look], pairs: int) -> float:
    """Return the share of alpha spent by the first look at `pairs` pairs or more, if these looks go on as planned."""
    end = next((look for look in looks if look.last), None)
    size = next(size for size in _sizes(end and end.pairs) if size >= pairs)
    return share_spent(size) if end is None else _share_after(end.pairs, end.share, size)


def _sizes_after(end: int) -> Iterator[int]:
    size = end
    while True:
        size = max(size + 1, round(size * GROWTH_AFTER_END))
        yield size


def next_look(pairs: int, budgets: Budgets = ONE_BUDGET) -> int:
    """Return the number of pairs at the first look after `pairs` pairs, if the budget lasts that long."""
    end = None if budgets.ended is None else _judged_end(budgets)
    return next(size for size in _sizes(end) if size > pairs)


def _sizes(end: int | None) -> Iterator[int]:
    """Return the pairs at the looks: of a first budget, or after its end."""
    return look_sizes() if end is None else _sizes_after(end)
