"""Tests that are looked at again and again, whose looks together spend alpha and waste nothing of it.

Under the hypothesis of a change, the signs of the differences are fair coins, given their sizes, order and levels (see
`stats.phases`). So what the looks would have shown with other signs is as probable as what they did show: a group of
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
  have few words, one product of matrices is a fraction of it.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
FlipArray = npt.NDArray[np.uint16]
Totals = npt.NDArray[np.float32]

BITS = 16
FLIPS = 1 << BITS
# The transform goes by blocks of so many bits: products of matrices so small that no library gives them to threads,
# which wait for each other for milliseconds on a busy machine.
_BLOCK = 5
# Up to so many pairs one product of matrices does it sooner: of 40 in 0.05 ms, where the transform takes 0.19 ms. It is
# as small a product no more, but the tool keeps its libraries to one thread (`cli/main.py`).
_FEW = 128
# The largest score in units, and up to where single precision holds every whole number.
_UNITS, _EXACT = 1023, 1 << 24
# Sums beyond so many roots of their squares: the only ones that a look may drop, mostly.
_LARGE = 2.0


class Test(NamedTuple):
    """How the test of one hypothesis stands after some looks."""

    dropped: FlipArray
    """The flips that the looks have dropped, shape (k,). Flip 0 turns no sign: it is what was observed."""
    rejected: bool
    bound: float
    """The newest look dropped what is beyond it: the size of a sum, by the root of its scores' squares."""


BEGUN = Test(np.empty(0, dtype=np.uint16), rejected=False, bound=inf)


class Flipped(NamedTuple):
    """What a look sees: the sizes of the sums after each flip, shape (FLIPS,), and the root of the scores' squares."""

    sizes: Totals
    root: float


def flipped(signed: FloatArray) -> Flipped:
    """Flip signed scores (n,)."""
    whole = rounded(signed)
    sizes = sums(whole)
    return Flipped(np.abs(sizes, out=sizes), max(1.0, float(np.sqrt((whole**2).sum()))))


def larger(one: Flipped, other: Flipped, counts: float) -> Flipped:
    """Of two kinds of scores, after each flip the larger sum by its root, where one of the other kind `counts` less."""
    sizes = one.sizes / np.float32(one.root)
    return Flipped(np.maximum(sizes, other.sizes * np.float32(counts / other.root), out=sizes), 1.0)


def p_value(seen: Flipped) -> float:
    """The share of the flips whose sums are as large as what was observed; exact for the first 17 pairs."""
    return float(np.mean(seen.sizes >= seen.sizes[0]))


def rounded(signed: FloatArray) -> FloatArray:
    """Signed scores (..., n) in whole units, so small that few sums are equal, of which none could be dropped.

    At least one unit: a score that were rounded to 0 would take its sign out of the test.
    """
    units = min(_UNITS, _EXACT // max(1, signed.shape[-1]))
    sizes = np.abs(signed)
    largest = np.maximum(sizes.max(axis=-1, keepdims=True), np.finfo(np.float64).tiny)
    return np.asarray(np.copysign(np.maximum(np.rint(sizes / largest * units), sizes > 0), signed))


def look(test: Test, seen: Flipped, may_drop: int) -> Test:
    """Take one more look, which may drop so many flips.

    Flips whose sums are equal are dropped together or not at all, and what a look leaves is not passed on. So a test
    that may drop at least as many at every look drops all that this one drops, whatever the sums.
    """
    if may_drop <= 0:
        return test._replace(bound=inf)
    left = seen.sizes.copy()
    left[test.dropped] = -1
    large = np.flatnonzero(left > _LARGE * seen.root)  # a twentieth of them or so, which spares most of the sorting
    places = large if len(large) > may_drop else np.arange(FLIPS)
    sizes = left[places]
    bound = float(np.partition(sizes, len(sizes) - may_drop - 1)[len(sizes) - may_drop - 1])
    dropped = np.concatenate([test.dropped, places[sizes > bound].astype(np.uint16)])
    return Test(dropped, test.rejected or bool(left[0] > bound), bound / seen.root)


def sums(signed: FloatArray) -> Totals:
    """The sum of signed scores (n,) after each flip, shape (FLIPS,).

    Whole scores make whole sums, which single precision holds exactly, in whatever order they are added: every machine
    finds the same.
    """
    if len(signed) <= _FEW:
        left, right = _halves()
        return np.asarray((left[:, : len(signed)] * signed.astype(np.float32) @ right[: len(signed)]).reshape(-1))
    by_word = np.bincount(_words(len(signed)), weights=signed, minlength=FLIPS).astype(np.float32)
    inner, outer = _hadamard(_BLOCK), _hadamard(BITS - 2 * _BLOCK)
    blocks = inner @ by_word.reshape(-1, 1 << _BLOCK, 1 << _BLOCK) @ inner
    across = blocks.reshape(len(outer), 1 << _BLOCK, 1 << _BLOCK).swapaxes(0, 1)
    return np.asarray((outer @ across).swapaxes(0, 1).reshape(-1))


@lru_cache(maxsize=1)
def _halves() -> tuple[Totals, Totals]:
    """The signs of each flip are products: what its upper half makes of the first pairs, and what its lower half does.

    Shapes (halves, pairs) and (pairs, halves).
    """
    words, signs = _words(_FEW), _hadamard(BITS // 2)
    return signs[:, words >> BITS // 2], signs[words & (1 << BITS // 2) - 1]


@lru_cache(maxsize=3)
def _hadamard(bits: int) -> Totals:
    matrix = np.ones((1, 1), dtype=np.float32)
    for _ in range(bits):
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix


def flips_of(pair: int) -> int:
    """The word of a pair, counted from 0: flip r turns its sign if the two have an odd number of bits in common."""
    return int(_words(pair + 1)[pair])


def _words(pairs: int) -> IntArray:
    """The words of the first pairs, (pairs,): no bit, each single bit, and then a sequence that never changes."""
    return _all_words(1 << max(pairs, 1024).bit_length())[:pairs]


@lru_cache(maxsize=1)
def _all_words(pairs: int) -> IntArray:
    """SplitMix64 (Steele, Lea and Flood 2014): no library may change what it gives."""
    state = np.arange(1, pairs + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    words = ((state ^ (state >> np.uint64(31))) >> np.uint64(64 - BITS)).astype(np.int64)
    words[: BITS + 1] = [0, *(1 << bit for bit in range(BITS))]
    return words
