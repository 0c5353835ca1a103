"""When to look at a growing set of pairs, and what each look may spend of the error.

The looks are at 12, 15, 18, 23, 29, 36, ... pairs, and their levels add up to alpha however many there are, so the
budget need not be known when the first is taken. That the levels simply add up (Bonferroni over the looks) holds for
every joint behaviour of the looks: for drift, bursts and any other change of the noise within a weighing, where the
usual group-sequential boundaries assume independent increments.

The last look, at the end of the budget, may spend all that is left: whether it is the last depends on the clock and
on `--pairs`, never on which side was slower.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

# Against looks at 10, 15, 22, 33, ... (x1.5), which pay for fewer looks but wait longer for each: +1 % on the `bursts`
# trace takes 29 pairs instead of 33 in the median, and no row of benchmarks/verdicts_on_traces.py gets worse.
FIRST_LOOK = 12
GROWTH = 1.25
# Each look but the last spends this share of what the looks before it left. 0.1 balances early verdicts on large
# changes against late ones on small: 0.15 finds +1 % no sooner and leaves 1 % more of the identical pairs undecided.
SHARE = 0.1


def look_sizes() -> Iterator[int]:
    """Pairs at the first, second, ... look, without end: 12, 15, 18, 23, 29, 36, ..."""
    size = float(FIRST_LOOK)
    while True:
        yield int(size)
        size *= GROWTH


@dataclass(frozen=True)
class Look:
    """One look: at how many pairs, at which level, and whether it ends the budget."""

    pairs: int
    level: float
    last: bool


def plan_looks(pairs: int, alpha: float, *, ended: bool) -> list[Look]:
    """The looks taken by the time `pairs` pairs are in; `ended` if the budget ended there.

    A level is a fixed part of alpha, so that what a smaller alpha rejects a larger one rejects too, which the shares of
    alpha that several benchmarks get by Holm or Benjamini and Hochberg rest on. That is why what a look could not
    spend, because its test is discrete, is not passed on.
    """
    looks: list[Look] = []
    if pairs == 0:
        return looks
    left = alpha
    for size in look_sizes():
        last = ended and size >= pairs
        if size > pairs and not last:
            break
        look = Look(min(size, pairs), left if last else SHARE * left, last)
        looks.append(look)
        left -= look.level
        if last or size >= pairs:
            break
    return looks


def next_look(pairs: int) -> int:
    """The number of pairs at the first look after `pairs` pairs."""
    return next(size for size in look_sizes() if size > pairs)
