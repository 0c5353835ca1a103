"""When to look at a growing set of pairs, and what share of the error may be spent by then.

The looks are at 12, 13, 14, 15, 17, 19, ... pairs, each about a tenth more. The share of alpha that all looks until n
pairs may spend is 1 - 0.9 sqrt(12 / n): it goes on however many looks there are, so the budget need not be known when
the first is taken. The look at the end of the budget may spend all that is left, or keeps a part of it for a weighing
that goes on. Whether a budget ends depends on the clock and on `--pairs`, never on which side was slower.

Whoever has another budget follow has seen the first one's end, and gives more or less as it leans. So all looks from
there on are known by where it ended: each at a quarter more pairs, and what is left falls as the number of pairs rises.
Other budgets end without a look of their own, and nobody's choice moves anything. `stats.sequential` spends it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import sqrt
from typing import NamedTuple

FIRST_LOOK = 12
# Pairs that are too few for a look tell of their noise from so many on.
FEWEST_WITH_NOISE = 4
# Finer looks gain next to nothing (x1.05: -1 % of the pairs), and cost a look's time each.
GROWTH = 1.1
# There is less to spend once a budget has ended, and fewer looks share it: of 45 pairs that became 88, x1.1 has bounds
# that are wider by 6 %.
GROWTH_AFTER_END = 1.25
# What the first look may spend. It balances early verdicts on large changes against late ones on small.
FIRST_SHARE = 0.1
# Of what is left, which is little then, the end of a budget keeps so much: 3 to 8 % wider bounds for whoever stops.
RESERVE = 0.5
# What a flip of few signs is worth is a power of 2, and has to be reached whatever the division rounds.
_ROUNDING = 1e-9


class Look(NamedTuple):
    """One look: at how many pairs, between which shares of alpha it may spend, and whether it ends the budget."""

    pairs: int
    share_before: float
    share: float
    last: bool


@dataclass(frozen=True)
class Budgets:
    """What a weighing may spend when its budget ends, and what it has, once others followed."""

    reserve: float = 0.0
    """The part of what is left of alpha that the end of the budget keeps for going on."""
    ended: int | None = None
    """After how many pairs the first budget ended, if others followed; 0 where it ended without a look of its own."""
    alpha: float = 1.0
    """That of the weighing: an end of few pairs spends at least what they can show anything with."""

    def may_go_on_after(self, pairs: int) -> bool:
        """Whether the end of the first budget, with so many pairs, leaves anything to spend."""
        return self.ended is not None or self.share_at_end(pairs) != 1

    def share_at_end(self, pairs: int) -> float:
        """What share of alpha is spent once the budget has ended; over 1 where so few can show nothing at all."""
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
    """What share of alpha the looks until so many pairs may spend, if no budget ended by then."""
    return 1 - (1 - FIRST_SHARE) * sqrt(FIRST_LOOK / pairs)


def plan_looks(pairs: int, *, ended: bool, budgets: Budgets = ONE_BUDGET) -> list[Look]:
    """The looks taken by the time `pairs` pairs are in; `ended` if the budget ended there, and no other did before."""
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
    """After how many pairs the first budget ended, unless these were too few to show anything."""
    return budgets.ended if budgets.ended and budgets.share_at_end(budgets.ended) <= 1 else None


def _share_after(end: int, share: float, pairs: int) -> float:
    """What share of alpha is spent with so many pairs, where a budget's end had spent one by fewer."""
    return 1 - (1 - share) * end / pairs


def share_of_next(looks: Sequence[Look], pairs: int) -> float:
    """What share of alpha is spent by the first look of at least so many pairs, as the plan of these goes on."""
    end = next((look for look in looks if look.last), None)
    size = next(size for size in _sizes(end and end.pairs) if size >= pairs)
    return share_spent(size) if end is None else _share_after(end.pairs, end.share, size)


def _sizes_after(end: int) -> Iterator[int]:
    size = end
    while True:
        size = max(size + 1, round(size * GROWTH_AFTER_END))
        yield size


def next_look(pairs: int, budgets: Budgets = ONE_BUDGET) -> int:
    """The number of pairs at the first look after `pairs` pairs, in a budget that goes on for so long."""
    end = None if budgets.ended is None else _judged_end(budgets)
    return next(size for size in _sizes(end) if size > pairs)


def _sizes(end: int | None) -> Iterator[int]:
    """Pairs at the looks: of a first budget, or behind its end."""
    return look_sizes() if end is None else _sizes_after(end)
