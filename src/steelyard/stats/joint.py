"""Tests with repeated looks, which share alpha among the looks without wasting any of it.

Under the hypothesis of a change, the signs of the differences are fair coins, given their sizes, order and levels (see
`stats.native`). So what the looks would have shown with other signs is as probable as what they did show: a group of
flips is kept for the whole weighing, and each look drops those with the largest sums of scores, as many as it may
spend. The hypothesis is rejected when the observed signs are dropped. Nothing is assumed about how one look's sum
depends on the next one's: the flips show it, whatever the noise did in between.

The flips are a linear code, which makes a group of them: pair i has a word of `BITS` bits, and flip r turns its sign
where the two words have an odd number of bits in common. Hence (Hemerik and Goeman 2018):
- The test is exact for this very group, whereas flips drawn at random make it exact only on average over the draws:
  all signs that flips of the group turn into one another are equally probable, and of each such orbit no more than the
  spent share is dropped. The words are always the same, so a record is judged as its weighing was.
- With two-sided sums the group holds all flips of the first 17 pairs, so at the first looks nothing is sampled.
- The sums after all flips are one Walsh-Hadamard transform, whose cost does not grow with the pairs. For few pairs,
  which have few words, tables of what each half of a flip adds take less time (`native/signs`).
- A subgroup of the flips is a smaller code, which shows of most looks that they do not reject (`at_least_as_large`).
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
# The bits of the subgroup of flips that is tried first.
_SUBGROUP_BITS = 12
# A look drops only the largest sums: mostly out of this many times as many as are dropped by then.
_SORTED_FACTOR = 3.0


class Test(NamedTuple):
    """How the test of one hypothesis stands after some looks."""

    dropped: FlipArray
    """The flips that the looks have dropped, shape (k,). Flip 0 turns no sign: it is what was observed."""
    rejected: bool
    bound: float
    """The newest look dropped the flips beyond it: the size of a sum, divided by the root of its scores' squares."""


NOT_STARTED = Test(np.empty(0, dtype=np.uint16), rejected=False, bound=inf)


class Flipped(NamedTuple):
    """What a look sees: signed whole scores, (1, n), or two kinds of them, (2, n), to be flipped.

    Of two kinds the larger sum counts, each divided by the root of its squares, and the second multiplied by `counts`.
    With so few pairs that several flips turn the same signs, only the first flips are tried, each of which stands for
    equally many.
    """

    whole: WholeScores
    counts: float = 1.0

    @property
    def distinct_flips(self) -> int:
        """How many of the flips differ in which signs of these pairs they turn."""
        return 1 << bits_of(self.whole.shape[1])

    def flips_as_large(self) -> int:
        """Return after how many of all flips the sum is at least as large as the observed one."""
        return native.flips_as_large(self.whole, self.counts, fold=False) * (FLIPS // self.distinct_flips)


def bits_of(pairs: int) -> int:
    """Return how many bits of a flip have a part in the signs of the first `pairs` pairs."""
    return max(0, min(BITS, pairs - 1))


def flipped(signed: FloatArray) -> Flipped:
    """Flip signed scores (n,)."""
    return Flipped(native.whole_units(signed)[None])


def at_least_as_large(seen: Flipped) -> int:
    """Return a lower bound on how many flips make the sum at least as large as the observed one.

    Only a subgroup of the flips is tried, in a tenth of the time: each of its flips is a different one of all flips.
    """
    bits = bits_of(seen.whole.shape[1])
    times = FLIPS >> bits if bits <= _SUBGROUP_BITS else 1  # for so few pairs it has all flips that can be told apart
    return native.flips_as_large(seen.whole, seen.counts, fold=True) * times


def p_value(seen: Flipped) -> float:
    """Return the share of the flips whose sums are at least as large as the observed one; exact for up to 17 pairs."""
    return seen.flips_as_large() / FLIPS


def look(test: Test, seen: Flipped, may_drop: int) -> Test:
    """Take one more look, which may drop up to `may_drop` flips.

    Flips with equal sums are dropped together or not at all, and what a look leaves unspent is not passed on. So a
    test that may drop at least as many at every look drops all that this one drops, whatever the sums. A later look
    must have no fewer pairs than an earlier one.
    """
    if may_drop <= 0:
        return test._replace(bound=inf)
    # Sums of two kinds are already divided by their roots.
    root = max(1.0, sqrt((seen.whole[0].astype(np.float64) ** 2).sum())) if len(seen.whole) == 1 else 1.0
    # Mostly only sums beyond this can be dropped, which saves most of the sorting.
    likely = normal_quantile(min(1.0, _SORTED_FACTOR * (len(test.dropped) + may_drop) / FLIPS))
    copies = FLIPS // seen.distinct_flips
    dropped = native.look(seen.whole, seen.counts, test.dropped, may_drop // copies, likely * root)
    # The other flips differ from these only in signs of pairs that are not there yet.
    offsets = np.arange(0, FLIPS, seen.distinct_flips, dtype=np.uint16)
    newest = (dropped.newest[:, None] + offsets).ravel() if copies > 1 else dropped.newest
    return Test(np.concatenate([test.dropped, newest]), test.rejected or dropped.rejected, dropped.bound / root)


def sums(whole: WholeScores) -> Totals:
    """The sum of signed whole scores (n,) after each of the flips, shape (FLIPS,)."""
    return native.sums(whole, FLIPS)
