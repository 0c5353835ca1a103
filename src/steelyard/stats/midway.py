"""Whether the change is another one from some pair on: something of one side, or of the machine, changed meanwhile.

The coin makes a pair's difference lie above the change as often as below it, whatever the noise. So the earlier pairs
and the later ones have intervals of their own, by signed ranks, which hold the same change if there is but one. Where
to cut is told by the ranks of all. As it is chosen by these, the ranks of both parts have to differ by far more than
chance would have it anywhere, too: alone that would trust in noise that is as large before as after.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.stats import rank_sum
from steelyard.stats.arrays import FloatArray
from steelyard.stats.signed_rank import Estimate, estimate, fewest_differences

LEVEL = 0.002
# Of weighings with one change, in many kinds of noise, one in thousands is said to have two (docs/statistics.md).
_CHANCE = 1e-4


@dataclass(frozen=True)
class Parts:
    """The change (log-ratio) in the pairs before one, and in those from it on."""

    earlier: Estimate
    later: Estimate


def parts_of(d: FloatArray, by: float) -> Parts | None:
    """The two parts of differences d (n,) in order of time whose changes are surely not one, and `by` or more apart."""
    least = fewest_differences(LEVEL)
    if len(d) < 2 * least:
        return None
    cut = _cut(d, least)
    earlier, later = estimate(d[:cut], LEVEL), estimate(d[cut:], LEVEL)
    apart = earlier.upper < later.lower or later.upper < earlier.lower
    if not apart or abs(earlier.centre - later.centre) < by or rank_sum.p_value(d[:cut], d[cut:]) > _CHANCE:
        return None
    return Parts(earlier, later)


def _cut(d: FloatArray, least: int) -> int:
    """After how many differences, with at least so many on either side, the ranks before and after differ most."""
    n, ordered = len(d), np.sort(d)
    # Equal ones have one rank: that of their order in time would be a trend.
    ranks = (np.searchsorted(ordered, d, "left") + np.searchsorted(ordered, d, "right") - 1) / 2
    before = np.arange(least, n - least + 1)
    sums = np.cumsum(ranks - (n - 1) / 2)[before - 1]
    return int(before[np.argmax(np.abs(sums) / np.sqrt(before * (n - before)))])
