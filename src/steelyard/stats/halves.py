"""Whether the pairs say the same in calm and in storm.

The scores (`stats.native`) trust calm pairs, so a change that shows only in storms hardly shows in the estimate. So the
calmer and the stormier half of the pairs are each examined by themselves. Which half a pair is in depends on its size
and level, not on its sign, so if the change is the same in both, both halves are centred at it. Sizes are measured from
the change that the scores find, which is mostly that of the calm half: the change by ranks would be far from both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.stats import native
from steelyard.stats.arrays import FloatArray
from steelyard.stats.signed_rank import Estimate, estimate, fewest_differences

# Each half has an interval at this level. The halves disagree if these do not overlap, which is rarer still.
LEVEL = 0.01
# There is calm and storm only if the stormier half is this many times as noisy.
STORMIER = 1.5


@dataclass(frozen=True)
class Halves:
    """The change (log-ratio) in the calmer half of the pairs, and in the stormier one."""

    calm: Estimate
    storm: Estimate


def halves_of(d: FloatArray, levels: FloatArray, scored: float) -> Halves | None:
    """The halves of differences d (n,) at levels (n,); None for too few, or without storms.

    `scored` is the change that their scores find.
    """
    half = len(d) // 2
    if half < fewest_differences(LEVEL):
        return None
    scale = native.scales(d, levels, scored)
    order = np.argsort(scale, kind="stable")
    near, far = order[:half], order[-half:]
    if np.median(scale[far]) < STORMIER * np.median(scale[near]):
        return None
    # Where the scores find the change of the storms, the calm pairs are the far ones: their own spread tells.
    calm, storm = sorted((d[near], d[far]), key=_width_of_most)
    return Halves(estimate(calm, LEVEL), estimate(storm, LEVEL))


def _width_of_most(d: FloatArray) -> float:
    """The width of the narrowest interval with half of d: pairs of the other kind among them do not widen it."""
    ordered, half = np.sort(d), len(d) // 2
    return float((ordered[half:] - ordered[: len(d) - half]).min())
