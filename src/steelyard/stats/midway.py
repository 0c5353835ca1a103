"""Whether the change is a different one from some pair on, because one side or the machine changed meanwhile.

The coin makes a pair's difference lie above the change as often as below it, whatever the noise. So the earlier and the
later pairs each have an interval by signed ranks, and both hold the same change if there is only one. The ranks of all
pairs decide where to cut. As they choose the cut, the ranks of the two parts also have to differ by far more than they
would by chance at any cut. That test alone would not do: it relies on the noise being as large before as after.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.stats import rank_sum
from steelyard.stats.arrays import FloatArray
from steelyard.stats.signed_rank import Estimate, estimate, fewest_differences

LEVEL = 0.002
# Of weighings with one change, in many kinds of noise, one in thousands is said to have two (docs/statistics.md).
_CUT_LEVEL = 1e-4


@dataclass(frozen=True)
class Parts:
    """The change (log-ratio) in the pairs before the cut, and in those after it."""

    earlier: Estimate
    later: Estimate


def parts_of(d: FloatArray, by: float) -> Parts | None:
    """Return two parts of differences d (n,), in order of time, with clearly different changes, `by` or more apart.

    None if there are none.
    """
    least = fewest_differences(LEVEL)
    if len(d) < 2 * least:
        return None
    cut = _cut(d, least)
    earlier, later = estimate(d[:cut], LEVEL), estimate(d[cut:], LEVEL)
    if not earlier.is_apart_from(later, by) or rank_sum.p_value(d[:cut], d[cut:]) > _CUT_LEVEL:
        return None
    return Parts(earlier, later)


def _cut(d: FloatArray, least: int) -> int:
    """After how many differences, with at least so many on either side, the ranks before and after differ most."""
    n, ordered = len(d), np.sort(d)
    # Equal differences share a rank: ranking them by time would look like a trend.
    ranks = (np.searchsorted(ordered, d, "left") + np.searchsorted(ordered, d, "right") - 1) / 2
    cuts = np.arange(least, n - least + 1)
    sums = np.cumsum(ranks - (n - 1) / 2)[cuts - 1]
    return int(cuts[np.argmax(np.abs(sums) / np.sqrt(cuts * (n - cuts)))])
