"""The change averaged over layouts, where each side was built several times: the layout is the outer unit.

Where its code happens to lie makes one build slower or faster than another of the same sources. All pairs of one layout
share that effect, so more pairs narrow the interval of *these builds*, but not that of the change. What counts is how
much the centres of the layouts differ: there are as many independent values as layouts, however many pairs each has
(Kalibera and Jones 2013; Mytkowicz and others 2009).

If nothing changed, each side's effect of a layout is drawn from the same distribution, so the difference of the two is
symmetric about 0, and so is the centre of a layout's pairs. From about 9 layouts on, the signed-rank test of the
centres needs nothing else. Fewer can never reach the level without an assumption (the signs of n layouts have
p = 2^(1-n) at best); then the interval is Student's, which assumes about normal effects of layouts. Where launches have
few different values, so have the centres, and often all are equal: then their spread is the step between two values.

Looks at the same layouts largely repeat each other, but how much depends on how far the layouts differ, which is
unknown. So there are fewer such looks, each at twice the pairs of the one before, and their levels add up, which
assumes nothing. The pairs' own test has to reject as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import Final, NamedTuple

import numpy as np

from steelyard.stats import signed_rank
from steelyard.stats.arrays import FloatArray, IntArray
from steelyard.stats.looks import Look, share_of_next
from steelyard.stats.quantiles import student_quantile, student_tails
from steelyard.stats.variance import variance_between

GROWTH: Final = 2
"""A look at the layouts has this many times the pairs of the one before."""
PAIRS_EACH: Final = 2
"""With this many pairs of each layout, the pairs' noise can be told from that of the layouts."""
# A half-width, as a log-ratio: one this large says nothing, and much larger ones overflow as ratios.
_FARTHEST = 50.0


@dataclass(frozen=True)
class Averaged:
    """What the layouts say about the change, a log-ratio; infinite ends where there are fewer than two layouts."""

    centres: tuple[float, ...]
    """The centre of the pairs of each measured layout, in the order of the layouts."""
    variance: float
    """The variance of one layout's centre, with what rounding hides of it; 0 for a single layout."""
    centre: float
    lower: float
    upper: float
    p_value: float
    level: float
    """The level of the interval."""
    is_free: bool
    """Whether no distribution of the layouts' effects was assumed."""
    floor: float
    """The part of the standard error that no number of pairs removes, as a share from 0 to 1."""


class LayoutLook(NamedTuple):
    """What a look at the pairs means for the layouts."""

    share: float
    """The share of alpha."""
    may_decide: bool


def look_at_layouts(looks: Sequence[Look]) -> LayoutLook:
    """Return what the last look is for the layouts: if it may not decide, it has the share of the next that may."""
    before, taken, share, may_decide = looks[0].share_before, 0, 0.0, False
    for look in looks:
        may_decide = look.last or look.pairs >= GROWTH * taken
        if may_decide:
            before, taken, share = look.share, look.pairs, look.share - before
    if not may_decide:
        share = share_of_next(looks, GROWTH * taken) - before
    return LayoutLook(share, may_decide)


def average(d: FloatArray, layouts: IntArray, level: float, step: float = 0.0) -> Averaged:
    """Average differences d (n,) over their layouts (n,), with an interval at 1 - level.

    `step` is the log-ratio between neighbouring values, if the launches have few different ones (see `stats.clock`).
    """
    order = np.argsort(layouts, kind="stable")
    groups = np.split(d[order], np.unique(layouts[order], return_index=True)[1][1:])
    centres = np.array([signed_rank.estimate(group, level).centre for group in groups])
    layout_centres = tuple(map(float, centres))
    if len(centres) < 2:
        return Averaged(layout_centres, 0.0, float(centres[0]), -inf, inf, 1.0, level, False, 0.0)
    by_ranks = signed_rank.estimate(centres, level)
    is_free = by_ranks.upper < inf
    variance = float(np.var(centres, ddof=1)) + step**2 / 12  # plus that of rounding by up to half a step
    half_width = student_quantile(len(centres) - 1, level) * sqrt(variance / len(centres))
    half_width = half_width if half_width < _FARTHEST else inf
    mean = float(centres.mean())
    centre, lower, upper = (
        (by_ranks.centre, by_ranks.lower, by_ranks.upper) if is_free else (mean, mean - half_width, mean + half_width)
    )
    p_value = _p_value(centres, variance)
    if p_value > level:  # Student's interval may exclude 0, but few centres on both sides of 0 never show a change
        lower, upper = min(lower, 0.0), max(upper, 0.0)
    return Averaged(layout_centres, variance, centre, lower, upper, p_value, level, is_free, _floor(groups))


def layouts_needed(chance: Callable[[float, float], float], averaged: Averaged, often: float, most: int) -> int | None:
    """How many layouts, each with as many pairs as those at hand, would decide so `often`; None if `most` would not.

    `chance(half_width, deviation)` is the chance of a verdict from an interval of that half-width, whose estimate will
    differ from the one at hand with that standard deviation.
    """
    measured = len(averaged.centres)
    if not 2 <= measured < most:
        return None
    variance = averaged.variance
    if not variance > 0:
        return None  # where layouts do not differ, more of them add nothing
    for layouts in np.unique(np.geomspace(measured + 1, most, 40).astype(int)):
        deviation = sqrt(variance / measured - variance / layouts)
        half_width = student_quantile(int(layouts) - 1, averaged.level) * sqrt(variance / layouts)
        if chance(half_width, deviation) >= often:
            return int(layouts)
    return None


def _p_value(centres: FloatArray, variance: float) -> float:
    """The p-value by signed ranks, or Student's with that variance where it is smaller than ranks can ever reach."""
    by_ranks, least = signed_rank.p_value(centres), 2.0 ** (1 - len(centres))
    if by_ranks > least:
        return by_ranks
    t = abs(float(centres.mean())) * sqrt(len(centres) / variance) if variance > 0 else inf
    return min(by_ranks, student_tails(len(centres) - 1, t))


def _floor(groups: list[FloatArray]) -> float:
    if sum(map(len, groups)) < PAIRS_EACH * len(groups):
        return 0.0  # the layouts' share cannot be told from that of the pairs
    of_layouts, of_pairs = variance_between(groups)
    whole = of_layouts + of_pairs
    return sqrt(of_layouts / whole) if whole > 0 else 0.0
