"""Which way of running pairs takes less time to a verdict, told from a few of the other way that are tried in between.

What is tried is not judged. Among the judged pairs the first few of a noisier way cost far more than their time, and
nobody knows yet which way that is; so set apart, they cost a known part of the time, whatever they come to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, sqrt
from typing import NamedTuple

import numpy as np

from steelyard.stats.summary import median_distance

# Pairs that are judged for each one that is tried. A twelfth, which takes some 5 % longer beside its like, is less than
# the tenth that a weighing may lose by it (benchmarks/pairing_choice.py). Those that begin in tandem need far fewer
# pairs already, and can afford to know sooner.
FOR_EACH_TRIED, FOR_EACH_ALONE = 12, 7
# What ends with fewer pairs has nothing to gain.
FIRST_AFTER, FIRST_ALONE_AFTER = 20, 14
# Two pairs of the noisier way lie next to each other too often to be believed; what eight leave open is about the same.
FEWEST_TRIED, MOST_TRIED = 3, 8
# Judged pairs beside which that many are tried.
ENOUGH_TO_CHOOSE = FOR_EACH_TRIED * FEWEST_TRIED
# The logarithm of a variance of n normal values has a standard deviation of about sqrt(2 / (n - 1)): 1.7 times that.
UNCERTAINTY = 2.4
# What the other way may take of this one's time to be worth a change.
CLEARLY_LESS = 0.8
# Having so many pairs of the way that was chosen by a few, one sees whether that still holds.
LOOKS_BACK = (6, 8, 12, 24, 48)


class Ran(NamedTuple):
    """A pair that was run: the size of its log-ratio, without the sign, and what it took."""

    size: float
    seconds: float


@dataclass
class Trial:
    """The pairs of one benchmark by their way, in the order in which they ran."""

    begins_beside: bool
    """Whether those that are judged begin in tandem, so that what is tried runs one after the other."""
    judged: list[Ran] = field(default_factory=list)
    """Of the way that it began with."""
    other: list[Ran] = field(default_factory=list)

    @property
    def is_due(self) -> bool:
        """Whether the next pair is one to be tried."""
        first, each = (FIRST_ALONE_AFTER, FOR_EACH_ALONE) if self.begins_beside else (FIRST_AFTER, FOR_EACH_TRIED)
        return len(self.judged) >= max(first, each * (len(self.other) + 1))

    def is_better(self, *, chosen: bool) -> bool | None:
        """Whether to go on in the other way, or as it began for good; None if the newest pair changes nothing.

        Once the other way is `chosen`, only whether it still is the better one.
        """
        tried = len(self.other)
        if chosen:
            return False if tried in LOOKS_BACK and self.part() > 1 else None
        if tried < FEWEST_TRIED:
            return None
        part, uncertain = self.part(), exp(UNCERTAINTY / sqrt(tried - 1))
        if part * uncertain < CLEARLY_LESS:
            return True
        return False if tried >= MOST_TRIED or part > CLEARLY_LESS * uncertain else None

    def part(self) -> float:
        """What a verdict takes in the other way of the time that it takes in that of the beginning."""
        return _cost(self.other) / _cost(self.judged)


def _cost(pairs: list[Ran]) -> float:
    """As many pairs are needed as the square of their spread says; one that hung for once says nothing."""
    # A change of every pair moves all sizes, and drops out of the distances between them.
    spread = max(median_distance(np.array([pair.size for pair in pairs])), 1e-9)
    return spread**2 * float(np.median([pair.seconds for pair in pairs]))
