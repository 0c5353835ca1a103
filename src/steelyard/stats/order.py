"""What the order of a pair's two launches makes of them, taken out of each pair by what the pairs before it say.

The launch that runs second finds caches warm, or a boost that is spent; of two in tandem the one that is let go first
pays for what the other one finds. Which side's launch that is, is a fair coin of each pair, so that this makes neither
side slower, but pairs of one order differ from those of the other, and are the noisier for that.

As nothing is taken off by what a pair's own coin decides, what is left of a pair lies above the true change as often as
below it, whatever the order does, and whether that stays the same or not. A sign-flip test of all pairs at once takes
a little more than that for granted, namely that no pair's size tells of another one's coin. What earlier coins have to
do with what is taken off later is too little to be seen in simulations (docs/statistics.md, "Order").
"""

from __future__ import annotations

import numpy as np

from steelyard.stats import native, rank_sum
from steelyard.stats.arrays import FloatArray, IntArray


def without_order(baseline: FloatArray, candidate: FloatArray, order: IntArray) -> tuple[FloatArray, FloatArray]:
    """Positive values (n,) of both sides of pairs, in the order in which these ran, each less its half of the effect.

    `order`, (n,), says of each pair in which order its launches ran, as the record does of the baseline's launch: 2k or
    2k + 1, whichever side was first, with another k for another way to run pairs. The pairs' levels stay as they are.
    """
    half = native.effects_of_order(np.log(candidate) - np.log(baseline), order) / 2
    return baseline * np.exp(half), candidate * np.exp(-half)


def second_takes_longer(baseline: FloatArray, candidate: FloatArray, order: IntArray, level: float) -> float | None:
    """By what log-ratio the second launch of pairs like the last one takes longer than the first.

    Told from both orders of all of these, by the rank-sum test; None unless that finds a difference at this level.
    """
    alike = order >> 1 == order[-1] >> 1
    d, second_is_candidate = (np.log(candidate) - np.log(baseline))[alike], order[alike] % 2 == 0
    if second_is_candidate.all() or not second_is_candidate.any():
        return None
    between = rank_sum.shift(d[~second_is_candidate], d[second_is_candidate], level)
    return between.centre / 2 if between.p_value <= level else None
