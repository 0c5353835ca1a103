"""Find the value of a given rank among very many that are never all formed: pairwise sums or differences of samples."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from steelyard.stats.arrays import FloatArray, IntArray


def value_of_rank(
    rank: int,
    bracket: tuple[float, float],
    total: int,
    few: int,
    count: Callable[[float], int],
    between: Callable[[float, float], FloatArray],
) -> float:
    """The rank-th smallest (from 1) of `total` values, which all lie within the bracket, its lower end excluded.

    `count(t)` returns how many values are at most t, and `between(low, high)` those in (low, high]: the bracket is
    narrowed by counting until at most `few` are left in it, and these are sorted.
    """
    low, high = bracket
    below, up_to = 0, total
    while up_to - below > few:
        middle = (low + high) / 2
        if not low < middle < high:
            return high  # thousands of exact ties: the bracket is one value
        at_most = count(middle)
        if at_most >= rank:
            high, up_to = middle, at_most
        else:
            low, below = middle, at_most
    return float(np.sort(between(low, high))[rank - below - 1])


def ranges(start: IntArray, stop: IntArray) -> tuple[IntArray, IntArray]:
    """The numbers from each start, shape (n,), to before its stop, one range after the other, and whose each is."""
    lengths = np.maximum(stop - start, 0)
    which = np.repeat(np.arange(len(start)), lengths)
    ends = np.cumsum(lengths)
    return which, np.arange(len(which)) + np.repeat(start - ends + lengths, lengths)
