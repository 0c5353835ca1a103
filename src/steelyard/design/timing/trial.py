"""Tells which way of running pairs comes to a verdict in less time, from a few pairs tried the other way in between.

Tried pairs are not judged. Among the judged ones, the first few pairs of a noisier way would cost far more than their
time, and nobody knows yet which way that is; set apart, they cost a known part of the time, whatever they show.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, sqrt
from typing import NamedTuple

import numpy as np

from steelyard.stats.summary import median_distance

# How many pairs are judged for each one that is tried. A twelfth, which takes some 5 % longer beside its like, is less
# than the tenth that a weighing may lose by it (benchmarks/pairing_choice.py). Weighings that begin in tandem need far
# fewer pairs already, and can afford to know sooner.
FOR_EACH_TRIED, FOR_EACH_ALONE = 12, 7
# Weighings that end with fewer pairs have nothing to gain.
FIRST_AFTER, FIRST_ALONE_AFTER = 20, 14
# Two pairs of the noisier way lie close together too often to be believed; ways that eight leave open are about equal.
FEWEST_TRIED, MOST_TRIED = 3, 8
# So many pairs are judged when FEWEST_TRIED have been tried.
ENOUGH_TO_CHOOSE = FOR_EACH_TRIED * FEWEST_TRIED
# The logarithm of a variance of n normal values has a standard deviation of about sqrt(2 / (n - 1)); this is 1.7 times
# that, times sqrt(n - 1).
UNCERTAINTY = 2.4
# Below this part of the time, the other way is worth a change.
CLEARLY_LESS = 0.8
# After this many pairs of a way that a few pairs chose, it is checked whether the choice still holds.
LOOKS_BACK = (6, 8, 12, 24, 48)


class MeasuredPair(NamedTuple):
    """A pair that ran: the size of its log-ratio, without the sign, and how long it took."""

    size: float
    seconds: float


@dataclass
class Trial:
    """The pairs of one benchmark by their way, in the order in which they ran."""

    begins_beside: bool
    """Whether judged pairs begin in tandem, so that tried ones run one after the other."""
    judged: list[MeasuredPair] = field(default_factory=list)
    """Pairs of the way that it began with."""
    other: list[MeasuredPair] = field(default_factory=list)

    @property
    def is_due(self) -> bool:
        """Whether the next pair is one to be tried."""
        first, each = (FIRST_ALONE_AFTER, FOR_EACH_ALONE) if self.begins_beside else (FIRST_AFTER, FOR_EACH_TRIED)
        return len(self.judged) >= max(first, each * (len(self.other) + 1))

    def is_better(self, *, chosen: bool) -> bool | None:
        """Whether to go on in the other way, or for good as it began; None if the newest pair changes nothing.

        Once the other way is `chosen`: False if it is no longer the better one, else None.
        """
        tried = len(self.other)
        if chosen:
            return False if tried in LOOKS_BACK and self.relative_cost() > 1 else None
        if tried < FEWEST_TRIED:
            return None
        relative_cost, uncertain = self.relative_cost(), exp(UNCERTAINTY / sqrt(tried - 1))
        if relative_cost * uncertain < CLEARLY_LESS:
            return True
        return False if tried >= MOST_TRIED or relative_cost > CLEARLY_LESS * uncertain else None

    def relative_cost(self) -> float:
        """Return how long a verdict takes in the other way, relative to the way of the beginning."""
        return _cost(self.other) / _cost(self.judged)


def _cost(pairs: list[MeasuredPair]) -> float:
    """Return the cost of a verdict: pairs needed, by the square of their spread, times the median time of one."""
    # A change of every pair moves all sizes, and drops out of the distances between them.
    spread = max(median_distance(np.array([pair.size for pair in pairs])), 1e-9)
    return spread**2 * float(np.median([pair.seconds for pair in pairs]))
