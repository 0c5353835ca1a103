"""Remove the effect of the order of a pair's two launches, as estimated from the pairs before it.

The launch that runs second finds warm caches, or a boost that is spent; of two in tandem the one that is let go first
pays for what the other one then finds. A fair coin decides for each pair which side's launch that is, so this makes
neither side slower, but pairs of one order differ from those of the other, which adds noise.

As nothing that is removed depends on a pair's own coin, what is left of a pair lies above the true change as often as
below it, whatever the effect of the order is, and whether or not that stays the same. A sign-flip test of all pairs at
once assumes a little more, namely that no pair's size depends on another pair's coin. How earlier coins affect what is
removed later is too little to show in simulations (docs/statistics.md, "Order").
"""

from __future__ import annotations

import numpy as np

from steelyard.stats import native, rank_sum
from steelyard.stats.arrays import FloatArray, IntArray


def without_order(baseline: FloatArray, candidate: FloatArray, order: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return both sides' values without the effect of the order, half of which is taken out of each.

    The values are positive, (n,) each, in the order in which the pairs ran. `order`, (n,), is the order of each pair's
    launches as the record has it for the baseline's launch: 2k or 2k + 1, by which side was first, with another k for
    another way to run pairs. The pairs' levels stay as they are.
    """
    half = native.effects_of_order(np.log(candidate) - np.log(baseline), order) / 2
    return baseline * np.exp(half), candidate * np.exp(-half)


def second_takes_longer(baseline: FloatArray, candidate: FloatArray, order: IntArray, level: float) -> float | None:
    """Return the log-ratio by which the second launch takes longer than the first, in pairs run like the last one.

    It comes from the rank-sum test of the two orders of these pairs; None unless it finds a difference at this level.
    """
    is_same_pairing = order >> 1 == order[-1] >> 1
    d, second_is_candidate = (np.log(candidate) - np.log(baseline))[is_same_pairing], order[is_same_pairing] % 2 == 0
    if second_is_candidate.all() or not second_is_candidate.any():
        return None
    between = rank_sum.shift(d[~second_is_candidate], d[second_is_candidate], level)
    return between.centre / 2 if between.p_value <= level else None
