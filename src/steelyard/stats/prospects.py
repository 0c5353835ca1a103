"""From the noise of identical programs to the pairs that a change will take."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import ceil, exp, log, sqrt
from typing import NamedTuple

import numpy as np

from steelyard.stats.arrays import FloatArray
from steelyard.stats.least_squares import non_negative
from steelyard.stats.looks import plan_looks
from steelyard.stats.quantiles import normal_quantile
from steelyard.stats.sequential import nominal_level
from steelyard.stats.signed_rank import estimate

# Of a signed-rank interval at this level. Told from 16 pairs of normal noise of 1 % (benchmarks/simulation.py), the
# pairs that follow were within a factor of 2 of those needed 85 times in 100, by the scores' own error 69 times, by the
# median size 65 times. Standard deviations have 84, but 20 where a launch in twenty stalls, and ranks 78.
_LEVEL = 0.3
_FEWEST_RANKED = 4
# So many pairs more than the normal approximation has are taken by what the scores learn of the noise: of simulated
# weighings of 1 % in independent normal noise of 1 and 1.5 % half had ended after 28 and 55, not after 23 and 50.
_LEARNT_FROM = 4
# Beyond so many pairs the levels of the looks hardly change any more.
_FAR = 3000
# What the curve over all lengths counts beside the pairs of one length.
_CURVE_COUNTS = 8.0
_ROUNDS = 6
# Degrees of freedom of the Student's t, as of the scores of pairs.
_TAIL = 3.0
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
        if quantile * deviation <= change * sqrt(pairs - _LEARNT_FROM):
            return pairs
    return ceil((_looks(alpha)[-1][1] * deviation / change) ** 2)


@lru_cache(maxsize=4)
def _looks(alpha: float) -> list[tuple[int, float]]:
    """Of each look the pairs, and how many standard errors it asks for."""
    looks = plan_looks(_FAR, ended=False)
    return [(look.pairs, normal_quantile(nominal_level(looks[: n + 1], alpha))) for n, look in enumerate(looks)]


class Sample(NamedTuple):
    """Of pairs of identical programs of one length the differences: log-ratios, (n,), n > 0."""

    seconds: float
    differences: FloatArray


class Curve(NamedTuple):
    """The variance of a pair over the length T of a program: start / T^2 + noise / T + phases, none below 0.

    Start-up varies by so many seconds whatever follows; what comes and goes faster than a launch averages out; phases
    that last longer than a pair do not.
    """

    start: float
    noise: float
    phases: float

    def variance(self, seconds: float) -> float:
        """That of programs of one length."""
        return max(self.start / seconds**2 + self.noise / seconds + self.phases, _LEAST**2)


def curve_through(samples: Sequence[Sample]) -> Curve:
    """The curve of about the greatest likelihood, for differences of Student's t; of the t's scale, not its variance.

    Raises ValueError without samples.
    """
    if not samples:
        raise ValueError("no curve goes through no samples")
    lengths = np.array([sample.seconds for sample in samples])
    roots = np.sqrt([len(sample.differences) for sample in samples])
    columns = np.stack([lengths**-2, 1 / lengths, np.ones(len(samples))], axis=1)
    scales = np.array([max(float(np.median(np.abs(one.differences))), _LEAST) ** 2 for one in samples])
    solution = np.zeros(3)
    for _ in range(_ROUNDS):
        found = np.array([_calmed(one.differences, at).mean() for one, at in zip(samples, scales, strict=True)])
        # The error of a variance is as large as the variance itself, which the fit has to know first.
        solution = non_negative(columns * (roots / scales)[:, None], found * roots / scales)
        scales = np.sqrt(scales * np.maximum(columns @ solution, _LEAST**2))  # by halves, as it may swing
    start, noise, phases = map(float, solution)
    return Curve(start, noise, phases)


class Deviations:
    """What a pair of identical programs of any length is off by, as the test weighs it: told from samples of some.

    The scale of each sample is its own as far as it has pairs, and the curve's as far as it has few; between two of
    them it is interpolated, and beyond the last ones only the curve says how it goes on. What the test makes of a scale
    is told from all samples together. Raises ValueError without samples.
    """

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._curve, ordered = curve_through(samples), sorted(samples, key=lambda sample: sample.seconds)
        scales = [_scale(one.differences, self._curve.variance(one.seconds)) for one in ordered]
        self._lengths, self._scales = [log(one.seconds) for one in ordered], list(map(log, scales))
        units = [one.differences / scale for one, scale in zip(ordered, scales, strict=True)]
        self._of_scale = deviation(np.concatenate(units))

    def at(self, seconds: float) -> float:
        """That of programs of one length."""
        nearest = min(max(log(seconds), self._lengths[0]), self._lengths[-1])
        further = sqrt(self._curve.variance(seconds) / self._curve.variance(exp(nearest)))
        return self._of_scale * exp(float(np.interp(nearest, self._lengths, self._scales))) * further


def _scale(d: FloatArray, by_curve: float) -> float:
    """That of a Student's t, as if besides d so many differences were known that have the curve's."""
    found = by_curve
    for _ in range(_ROUNDS):
        found = (float(_calmed(d, found).sum()) + _CURVE_COUNTS * by_curve) / (len(d) + _CURVE_COUNTS)
    return sqrt(found)


def _calmed(d: FloatArray, variance: float) -> FloatArray:
    """The squares of differences, of which those that are far out count less: their mean is the t's squared scale."""
    squares = d**2
    return np.asarray(squares * (_TAIL + 1) / (_TAIL + squares / variance))
