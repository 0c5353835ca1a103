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
- A subgroup of them is a smaller code, by which most looks are known not to reject (`at_least_as_large`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from steelyard.stats.quantiles import normal_quantile

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
FlipArray = npt.NDArray[np.uint16]
Totals = npt.NDArray[np.float32]

BITS = 16
FLIPS = 1 << BITS
# The transform goes by blocks of so many bits: products of matrices so small that no library gives them to threads,
# which wait for each other for milliseconds on a busy machine.
_BLOCK = 5
# Up to so many pairs a product of the signs themselves does it sooner: of 40 in 0.05 ms, the transform takes 0.15 ms.
_FEW = 128
# Rows times columns of such products, which are as small as well.
_SMALL = 1 << 11
# The largest score in units, and up to where single precision holds every whole number.
_UNITS, _EXACT = 1023, 1 << 24
# So many bits has a subgroup of the flips, which is asked first; these are the words in it of the other bits: any that
# are no other's would do.
_SUBGROUP, _OTHERS = 12, (0x0F3, 0x335, 0x556, 0x969)
# A look drops none but the largest sums, mostly of so many times as many as are dropped by then.
_MORE = 3.0


# The C library gives a piece of memory as large as the sums back to the kernel at once, which then has to hand out each
# page anew: 1,200 of them, a tenth of the time, to judge 20 pairs. It keeps pieces up to the size of the largest one
# that was given back so far, and this one is never touched.
np.empty(1 << 22, dtype=np.uint8)


class Test(NamedTuple):
    """How the test of one hypothesis stands after some looks."""

    dropped: FlipArray
    """The flips that the looks have dropped, shape (k,). Flip 0 turns no sign: it is what was observed."""
    rejected: bool
    bound: float
    """The newest look dropped what is beyond it: the size of a sum, by the root of its scores' squares."""


BEGUN = Test(np.empty(0, dtype=np.uint16), rejected=False, bound=inf)


class Flipped(NamedTuple):
    """What a look sees: the sizes of the sums after each flip, and the root of the scores' squares.

    Of so few pairs that several flips turn the same signs, the first flips alone, which stand for as many others each:
    shape (2 ** bits_of(n),).
    """

    sizes: Totals
    root: float

    def as_large(self) -> int:
        """After how many of all flips the sum is as large as what was observed."""
        return int(np.count_nonzero(self.sizes >= self.sizes[0])) * (FLIPS // len(self.sizes))


def bits_of(pairs: int) -> int:
    """How many bits of a flip turn the sign of any of the first pairs."""
    return max(0, min(BITS, pairs - 1))


def flipped(signed: FloatArray) -> Flipped:
    """Flip signed scores (n,)."""
    whole = rounded(signed)
    sizes = sums(whole, bits_of(len(whole)))
    return Flipped(np.abs(sizes, out=sizes), float(roots(whole)))


def roots(whole: FloatArray) -> FloatArray:
    """The roots of the squares of whole scores, (..., n), at least 1: shape (...)."""
    return np.asarray(np.maximum(np.sqrt((whole**2).sum(axis=-1)), 1.0))


def larger(whole: FloatArray, counts: float) -> Flipped:
    """Flip two kinds of whole scores, (2, n): after each flip the larger sum by its root, the second `counts` less."""
    return Flipped(_larger(whole[None], counts, bits_of(whole.shape[1]), _words)[0], 1.0)


def at_least_as_large(whole: FloatArray, counts: float) -> IntArray:
    """After how many flips, at least, the larger sum is as large as what was observed: of whole (r, 2, n), shape (r,).

    A subgroup of the flips is asked, which takes a tenth of the time: each of its flips is another one of all.
    """
    bits, needed = min(_SUBGROUP, bits_of(whole.shape[2])), bits_of(whole.shape[2])
    sizes = _larger(whole, counts, bits, _folded)
    times = FLIPS >> bits if bits == needed else 1  # of so few pairs it is all that can be told apart
    return np.asarray(np.count_nonzero(sizes >= sizes[:, :1], axis=1) * times)


def _larger(whole: FloatArray, counts: float, bits: int, words: Callable[[int], IntArray]) -> Totals:
    """The larger sums by their roots, (r, 2 ** bits), of two kinds of whole scores, (r, 2, n)."""
    rows, _, n = whole.shape
    sizes = _sums(whole.reshape(-1, n), bits, words).reshape(rows, 2, -1)
    np.abs(sizes, out=sizes)
    by_root = roots(whole)
    sizes[:, 0] /= by_root[:, :1].astype(np.float32)
    sizes[:, 1] *= (counts / by_root[:, 1:]).astype(np.float32)
    return np.asarray(np.maximum(sizes[:, 0], sizes[:, 1]))


def p_value(seen: Flipped) -> float:
    """The share of the flips whose sums are as large as what was observed; exact for the first 17 pairs."""
    return seen.as_large() / FLIPS


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
    that may drop at least as many at every look drops all that this one drops, whatever the sums. A later look has no
    fewer pairs than an earlier one.
    """
    if may_drop <= 0:
        return test._replace(bound=inf)
    told_apart = len(seen.sizes)
    # The only ones that it may drop, mostly, which spares most of the sorting.
    large = normal_quantile(min(1.0, _MORE * (len(test.dropped) + may_drop) / FLIPS))
    may_drop //= FLIPS // told_apart
    is_left = np.ones(told_apart, dtype=np.bool_)
    is_left[test.dropped[test.dropped < told_apart]] = False
    places = np.flatnonzero(seen.sizes > large * seen.root)
    places = places[is_left[places]]
    if len(places) <= may_drop:
        places = np.flatnonzero(is_left)
    sizes = seen.sizes[places]
    bound = float(np.partition(sizes, -may_drop - 1)[-may_drop - 1]) if len(sizes) > may_drop else -1.0
    newest = places[sizes > bound]
    others = np.arange(0, FLIPS, told_apart)  # each of which turns no sign of these pairs
    dropped = np.concatenate([test.dropped, (newest[:, None] + others).ravel().astype(np.uint16)])
    return Test(dropped, test.rejected or bool(is_left[0] and seen.sizes[0] > bound), bound / seen.root)


def sums(signed: FloatArray, bits: int = BITS) -> Totals:
    """The sum of signed scores (n,) after each of the first flips, shape (2 ** bits,).

    Whole scores make whole sums, which single precision holds exactly, in whatever order they are added: every machine
    finds the same.
    """
    return np.asarray(_sums(signed[None, :], bits, _words)[0])


def _sums(signed: FloatArray, bits: int, words: Callable[[int], IntArray]) -> Totals:
    """The sums of rows of signed scores, (r, n), by the words of their pairs, of which so many bits count.

    Shape (r, 2 ** bits).
    """
    rows, n = signed.shape
    if n <= _FEW:
        left, right = _halves(bits, words)
        turned = left[:, :n] * signed.astype(np.float32)[:, None, :]
        at_once = min(len(left), _SMALL // right.shape[1])
        return np.asarray((turned.reshape(-1, at_once, n) @ right[:n]).reshape(rows, -1))
    at, block = words(n), min(_BLOCK, bits // 2)
    inner, outer = _hadamard(block), _hadamard(bits - 2 * block)
    found = np.empty((rows, len(outer), 1 << block, 1 << block), dtype=np.float32)
    for scores, of_row in zip(signed, found, strict=True):  # a Walsh-Hadamard transform
        by_word = np.bincount(at, weights=scores, minlength=1 << bits).astype(np.float32)
        blocks = inner @ by_word.reshape(of_row.shape) @ inner
        np.matmul(outer, blocks.swapaxes(0, 1), out=of_row.swapaxes(0, 1))
    return found.reshape(rows, -1)


@lru_cache(maxsize=2 * BITS)
def _halves(bits: int, words: Callable[[int], IntArray]) -> tuple[Totals, Totals]:
    """The signs of each flip are products: what its upper half makes of the first pairs, and what its lower half does.

    Shapes (upper halves, pairs) and (pairs, lower halves).
    """
    lower, at = (bits + 1) // 2, words(_FEW) & (1 << bits) - 1
    return _hadamard(bits - lower)[:, at >> lower], _hadamard(lower)[at & (1 << lower) - 1]


@lru_cache(maxsize=BITS)
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


def _folded(pairs: int) -> IntArray:
    """The words of the first pairs in the subgroup, (pairs,)."""
    words = _words(pairs)
    folded = words & (1 << _SUBGROUP) - 1
    for bit, other in enumerate(_OTHERS, start=_SUBGROUP):
        folded = folded ^ (words >> bit & 1) * other
    return np.asarray(folded)


@lru_cache(maxsize=1)
def _all_words(pairs: int) -> IntArray:
    """SplitMix64 (Steele, Lea and Flood 2014): no library may change what it gives."""
    state = np.arange(1, pairs + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    words = ((state ^ (state >> np.uint64(31))) >> np.uint64(64 - BITS)).astype(np.int64)
    words[: BITS + 1] = [0, *(1 << bit for bit in range(BITS))]
    return words
