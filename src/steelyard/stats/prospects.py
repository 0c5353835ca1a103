"""From the noise of identical programs to the pairs that a change will take."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import ceil, exp, log, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from steelyard.stats.least_squares import non_negative
from steelyard.stats.looks import plan_looks
from steelyard.stats.quantiles import normal_quantile
from steelyard.stats.sequential import nominal_level
from steelyard.stats.signed_rank import estimate

FloatArray = npt.NDArray[np.float64]

# Of a signed-rank interval at this level: of the noises of benchmarks/simulation.py it foretold best how many pairs a
# weighing took, better than standard deviations, median sizes and the scores' own error (docs/doctor.md).
_LEVEL = 0.3
_FEWEST_RANKED = 4
# Beyond so many pairs the levels of the looks hardly change any more.
_FAR = 3000
# What the curve over all lengths counts beside the pairs of one length.
_CURVE_COUNTS = 8.0
_ROUNDS = 10
_LEAST = 1e-9


def deviation(d: FloatArray) -> float:
    """How far a pair of identical programs is off, as the test weighs it; d (n,), log-ratios.

    It is the standard deviation of a normal noise that would have as wide an interval. Too few for one have the root
    of their mean square.
    """
    if len(d) < _FEWEST_RANKED:
        return float(np.sqrt(np.mean(d**2)))
    return estimate(d, _LEVEL).standard_error * sqrt(len(d))


def pairs_to_find(deviation: float, change: float, alpha: float) -> int:
    """The look (its number of pairs) at which half of the weighings find a change (log-ratio) in such noise."""
    for pairs, quantile in _looks(alpha):
        if quantile * deviation <= change * sqrt(pairs):
            return pairs
    return ceil((_looks(alpha)[-1][1] * deviation / change) ** 2)


@lru_cache(maxsize=4)
def _looks(alpha: float) -> list[tuple[int, float]]:
    """Of each look the pairs, and how many standard errors it asks for."""
    looks = plan_looks(_FAR, ended=False)
    return [(look.pairs, normal_quantile(nominal_level(looks[: n + 1], alpha))) for n, look in enumerate(looks)]


class Point(NamedTuple):
    """Of programs of one length the deviation of a pair, and how many pairs tell it."""

    seconds: float
    deviation: float
    pairs: int


class Curve(NamedTuple):
    """The variance of a pair over the length T of a program: start / T^2 + noise / T + phases, none below 0.

    Start-up varies by so many seconds whatever follows; what comes and goes faster than a launch averages out; phases
    that last longer than a pair do not.
    """

    start: float
    noise: float
    phases: float

    def deviation(self, seconds: float) -> float:
        """That of programs of one length."""
        return sqrt(max(self.start / seconds**2 + self.noise / seconds + self.phases, _LEAST**2))


def curve_through(points: Sequence[Point]) -> Curve:
    """The curve of the greatest likelihood, as if all differences were normal; raises ValueError without points."""
    if not points:
        raise ValueError("no curve goes through no points")
    lengths = np.array([point.seconds for point in points])
    found = np.array([max(point.deviation, _LEAST) ** 2 for point in points])
    columns = np.stack([lengths**-2, 1 / lengths, np.ones(len(points))], axis=1)
    # The error of a variance is as large as the variance itself, which the fit has to know first.
    expected = np.full(len(points), float(np.exp(np.mean(np.log(found)))))
    for _ in range(_ROUNDS):
        weights = np.sqrt([point.pairs for point in points]) / expected
        solution = non_negative(columns * weights[:, None], found * weights)
        expected = np.sqrt(expected * np.maximum(columns @ solution, _LEAST**2))  # by halves, as it may swing
    start, noise, phases = map(float, solution)
    return Curve(start, noise, phases)


class Deviations:
    """Those of pairs of programs of any length, told from some lengths; raises ValueError without points.

    Each point moves towards the curve through all, the more so the fewer its pairs. Between two of them it is
    interpolated, and beyond the last ones only the curve says how it goes on.
    """

    def __init__(self, points: Sequence[Point]) -> None:
        self._curve, ordered = curve_through(points), sorted(points)
        self._lengths = [log(point.seconds) for point in ordered]
        self._moved = [log(self._moved_to_curve(point)) for point in ordered]

    def at(self, seconds: float) -> float:
        """That of programs of one length."""
        nearest = min(max(log(seconds), self._lengths[0]), self._lengths[-1])
        further = self._curve.deviation(seconds) / self._curve.deviation(exp(nearest))
        return exp(float(np.interp(nearest, self._lengths, self._moved))) * further

    def _moved_to_curve(self, point: Point) -> float:
        mine = point.pairs * log(max(point.deviation, _LEAST))
        by_curve = _CURVE_COUNTS * log(self._curve.deviation(point.seconds))
        return exp((mine + by_curve) / (point.pairs + _CURVE_COUNTS))
