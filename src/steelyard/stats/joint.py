"""Tests that are looked at again and again, whose looks together spend alpha and waste nothing of it.

Under the hypothesis of a change, the signs of the differences are fair coins, given their sizes, order and levels (see
`stats.native`). So what the looks would have shown with other signs is as probable as what they did show: a group of
flips is kept for the whole weighing, and each look drops those whose sums of scores are the largest, as many as it may
spend. The hypothesis is rejected when the signs that were observed are dropped. Nothing is assumed of how one look's
sum goes with the next one's; that is what the flips tell, whatever the noise did in between.

The flips are a linear code, which makes a group of them: pair i has a word of `BITS` bits, and flip r turns its sign
where the two words have an odd number of bits in common. Hence (Hemerik and Goeman 2018):
- The test is exact for this one group, where flips drawn at random are so only on average over the drawing: all
  signs that come from one another by flips of the group are equally probable, and of each such orbit no more than the
  share that is spent is dropped. The words are always the same, so that a record is judged as its weighing was.
- With two-sided sums the group holds all flips of the first 17 pairs: at the first looks nothing is sampled at all.
- The sums of all flips are one Walsh-Hadamard transform, whose cost does not grow with the pairs; of few pairs, which
  have few words, tables of what each half of a flip makes of them take less (`native/signs`).
- A subgroup of them is a smaller code, by which most looks are known not to reject (`at_least_as_large`).
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from steelyard.stats import native
from steelyard.stats.arrays import FloatArray
from steelyard.stats.native import FlipArray, Totals, WholeScores
from steelyard.stats.quantiles import normal_quantile

BITS = 16
FLIPS = 1 << BITS
# So many bits has a subgroup of the flips, which is asked first.
_SUBGROUP = 12
# A look drops none but the largest sums, mostly of so many times as many as are dropped by then.
_MORE = 3.0


class Test(NamedTuple):
    """How the test of one hypothesis stands after some looks."""

    dropped: FlipArray
    """The flips that the looks have dropped, shape (k,). Flip 0 turns no sign: it is what was observed."""
    rejected: bool
    bound: float
    """The newest look dropped what is beyond it: the size of a sum, by the root of its scores' squares."""


BEGUN = Test(np.empty(0, dtype=np.uint16), rejected=False, bound=inf)


class Flipped(NamedTuple):
    """What a look sees: signed whole scores, (1, n), or two kinds of them, (2, n), to be flipped.

    Of two kinds the larger sum by its root counts, the second `counts` less. Of so few pairs that several flips turn
    the same signs, the first flips alone are asked, which stand for as many others each.
    """

    whole: WholeScores
    counts: float = 1.0

    @property
    def told_apart(self) -> int:
        """How many flips turn signs of these pairs differently."""
        return 1 << bits_of(self.whole.shape[1])

    def as_large(self) -> int:
        """After how many of all flips the sum is as large as what was observed."""
        return native.as_large(self.whole, self.counts, fold=False) * (FLIPS // self.told_apart)


def bits_of(pairs: int) -> int:
    """How many bits of a flip turn the sign of any of the first pairs."""
    return max(0, min(BITS, pairs - 1))


def flipped(signed: FloatArray) -> Flipped:
    """Flip signed scores (n,)."""
    return Flipped(native.units(signed)[None])


def at_least_as_large(seen: Flipped) -> int:
    """After how many flips, at least, the sum is as large as what was observed.

    A subgroup of the flips is asked, which takes a tenth of the time: each of its flips is another one of all.
    """
    bits = bits_of(seen.whole.shape[1])
    times = FLIPS >> bits if bits <= _SUBGROUP else 1  # of so few pairs it is all that can be told apart
    return native.as_large(seen.whole, seen.counts, fold=True) * times


def p_value(seen: Flipped) -> float:
    """The share of the flips whose sums are as large as what was observed; exact for the first 17 pairs."""
    return seen.as_large() / FLIPS


def look(test: Test, seen: Flipped, may_drop: int) -> Test:
    """Take one more look, which may drop so many flips.

    Flips whose sums are equal are dropped together or not at all, and what a look leaves is not passed on. So a test
    that may drop at least as many at every look drops all that this one drops, whatever the sums. A later look has no
    fewer pairs than an earlier one.
    """
    if may_drop <= 0:
        return test._replace(bound=inf)
    # Of two kinds, the sums are by their roots.
    root = max(1.0, sqrt((seen.whole[0].astype(np.float64) ** 2).sum())) if len(seen.whole) == 1 else 1.0
    # The only ones that it may drop, mostly, which spares most of the sorting.
    large = normal_quantile(min(1.0, _MORE * (len(test.dropped) + may_drop) / FLIPS))
    others = FLIPS // seen.told_apart
    found = native.look(seen.whole, seen.counts, test.dropped, may_drop // others, large * root)
    # Others turn no more signs of these pairs.
    alike = np.arange(0, FLIPS, seen.told_apart, dtype=np.uint16)
    newest = (found.newest[:, None] + alike).ravel() if others > 1 else found.newest
    return Test(np.concatenate([test.dropped, newest]), test.rejected or found.rejected, found.bound / root)


def sums(whole: WholeScores) -> Totals:
    """The sum of signed whole scores (n,) after each of the flips, shape (FLIPS,)."""
    return native.sums(whole, FLIPS)
