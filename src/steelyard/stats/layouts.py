"""The change averaged over layouts, where each side was built several times: the layout is the outer unit.

A build is slower or faster than another of the same sources by where its code happens to lie. All pairs of one layout
share that, so that more of them make an interval of *these builds* narrower, and not of the change. What counts is how
much the layouts' centres differ: they are as many independent values as there are layouts, however many pairs each has
(Kalibera and Jones 2013; Mytkowicz and others 2009).

Each side's effect of a layout is one draw from the same distribution where nothing changed, so that their difference is
symmetric about 0, and so is the centre of a layout's pairs. From 9 layouts or so on the signed-rank test of the centres
needs nothing else. Fewer can never reach the level without an assumption (the signs of n layouts have p = 2^(1-n) at
best): there the interval is Student's, which takes the effects of layouts to be about normal. Where launches have few
different values, so have the centres, and are often all alike: then their spread is what lies between two values.

Looks at the same layouts say much the same again, but how much depends on how far layouts differ, which nobody knows.
So there are fewer of them, each at twice the pairs of the one before, and their levels add up: that assumes nothing.
The pairs' own test has to reject as well.
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
from steelyard.stats.variance import between

GROWTH: Final = 2
"""A look at the layouts has so many times the pairs of the one before."""
PAIRS_EACH: Final = 2
"""From so many pairs of each layout on their noise is known apart from that of the layouts."""
# Of a log-ratio: what may be as far as that says nothing, and as a ratio it could soon not be written.
_FARTHEST = 50.0


@dataclass(frozen=True)
class Averaged:
    """What the layouts say of the change, a log-ratio; infinite ends where there are fewer than two of them."""

    centres: tuple[float, ...]
    """Of the pairs of each layout that was measured, in the order of the layouts."""
    variance: float
    """Of one layout's centre, with what rounding hides of it; 0 of a single one."""
    centre: float
    lower: float
    upper: float
    p_value: float
    level: float
    """Of the interval."""
    is_free: bool
    """Whether no distribution was assumed of the layouts' effects."""
    floor: float
    """Which part of the standard error no number of pairs removes, as a share from 0 to 1."""


class LayoutLook(NamedTuple):
    """What one of the pairs' looks is for the layouts."""

    share: float
    """Of alpha."""
    may_decide: bool


def look_at_layouts(looks: Sequence[Look]) -> LayoutLook:
    """Of the last of these looks: one that decides has a share of alpha; one between has that of the next to do so."""
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

    `step` is the log-ratio between two of the few different values that the launches have (see `stats.clock`).
    """
    order = np.argsort(layouts, kind="stable")
    groups = np.split(d[order], np.unique(layouts[order], return_index=True)[1][1:])
    centres = np.array([signed_rank.estimate(group, level).centre for group in groups])
    known = tuple(map(float, centres))
    if len(centres) < 2:
        return Averaged(known, 0.0, float(centres[0]), -inf, inf, 1.0, level, False, 0.0)
    by_ranks = signed_rank.estimate(centres, level)
    is_free = by_ranks.upper < inf
    variance = float(np.var(centres, ddof=1)) + step**2 / 12  # that of what any value between two is rounded to
    half = student_quantile(len(centres) - 1, level) * sqrt(variance / len(centres))
    half = half if half < _FARTHEST else inf
    mean = float(centres.mean())
    centre, lower, upper = (
        (by_ranks.centre, by_ranks.lower, by_ranks.upper) if is_free else (mean, mean - half, mean + half)
    )
    p_value = _p_value(centres, variance)
    if p_value > level:  # as Student's interval may not know: of so few, centres on both sides of 0 never show a change
        lower, upper = min(lower, 0.0), max(upper, 0.0)
    return Averaged(known, variance, centre, lower, upper, p_value, level, is_free, _floor(groups))


def layouts_needed(chance: Callable[[float, float], float], averaged: Averaged, often: float, most: int) -> int | None:
    """How many layouts, each with as many pairs as those at hand, would decide so `often`; None if `most` would not.

    `chance(half_width, deviation)` is that of a verdict from an interval of that half-width, whose estimate will be so
    far from the one at hand (a standard deviation).
    """
    have = len(averaged.centres)
    if not 2 <= have < most:
        return None
    variance = averaged.variance
    if not variance > 0:
        return None  # more of what does not differ tell nothing
    for layouts in np.unique(np.geomspace(have + 1, most, 40).astype(int)):
        deviation = sqrt(variance / have - variance / layouts)
        half = student_quantile(int(layouts) - 1, averaged.level) * sqrt(variance / layouts)
        if chance(half, deviation) >= often:
            return int(layouts)
    return None


def _p_value(centres: FloatArray, variance: float) -> float:
    """Of the signed ranks; what these can never reach is Student's, of centres of that variance."""
    by_ranks, least = signed_rank.p_value(centres), 2.0 ** (1 - len(centres))
    if by_ranks > least:
        return by_ranks
    t = abs(float(centres.mean())) * sqrt(len(centres) / variance) if variance > 0 else inf
    return min(by_ranks, student_tails(len(centres) - 1, t))


def _floor(groups: list[FloatArray]) -> float:
    if sum(map(len, groups)) < PAIRS_EACH * len(groups):
        return 0.0  # nothing tells the layouts' share from the pairs'
    of_layouts, of_pairs = between(groups)
    whole = of_layouts + of_pairs
    return sqrt(of_layouts / whole) if whole > 0 else 0.0
