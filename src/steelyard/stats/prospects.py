"""From the noise of identical programs to the number of pairs that finding a change will take."""

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
from steelyard.stats.signed_rank import estimate
from steelyard.stats.spending import nominal_level

# The noise is that of a signed-rank interval at this level. From 16 pairs of normal noise of 1 %
# (benchmarks/simulation.py), it predicts the pairs needed within a factor of 2 85 times in 100, the scores' own error
# 69 times, the median size 65 times. Standard deviations do 84 times, but 20 where a launch in twenty stalls; there
# ranks do 78 times.
_LEVEL = 0.3
_FEWEST_RANKED = 4
# As the scores have to learn the noise, this many more pairs are needed than by the normal approximation: of simulated
# weighings of 1 % in independent normal noise of 1 and 1.5 %, half had ended after 28 and 55 pairs, not 23 and 50.
_LEARNING_PAIRS = 4
# Beyond so many pairs the levels of the looks hardly change any more.
_FARTHEST_PAIRS = 3000
# The weight of the curve over all lengths, in pairs of one length.
_CURVE_WEIGHT_PAIRS = 8.0
_ROUNDS = 6
# Degrees of freedom of the Student's t, as in the scores of pairs.
_FREEDOM = 3.0
_LEAST = 1e-9


def deviation(d: FloatArray) -> float:
    """How far a pair of identical programs is off, as the test weighs it; d (n,), log-ratios.

    It is the standard deviation of normal noise with an equally wide interval. For too few differences to have one, it
    is the root of their mean square.
    """
    if len(d) < _FEWEST_RANKED:
        return float(np.sqrt(np.mean(d**2)))
    return estimate(d, _LEVEL).standard_error * sqrt(len(d))


def pairs_to_find(deviation: float, change: float, alpha: float) -> int:
    """The number of pairs at the look by which half of the weighings find a change (log-ratio) in such noise."""
    for pairs, quantile in _looks(alpha):
        if quantile * deviation <= change * sqrt(pairs - _LEARNING_PAIRS):
            return pairs
    return ceil((_looks(alpha)[-1][1] * deviation / change) ** 2)


@lru_cache(maxsize=4)
def _looks(alpha: float) -> list[tuple[int, float]]:
    """The pairs of each look, and how many standard errors it requires."""
    looks = plan_looks(_FARTHEST_PAIRS, ended=False)
    return [(look.pairs, normal_quantile(nominal_level(looks[: n + 1], alpha))) for n, look in enumerate(looks)]


class Sample(NamedTuple):
    """Differences of pairs of identical programs of one length: log-ratios, (n,), n > 0."""

    seconds: float
    differences: FloatArray


class Curve(NamedTuple):
    """The variance of a pair as a function of a program's length T: start / T^2 + noise / T + phases, none below 0.

    Start-up varies by as many seconds whatever follows; noise that comes and goes faster than a launch averages out;
    phases that last longer than a pair do not.
    """

    start: float
    noise: float
    phases: float

    def variance(self, seconds: float) -> float:
        """Return the variance for programs of one length."""
        return max(self.start / seconds**2 + self.noise / seconds + self.phases, _LEAST**2)


def curve_through(samples: Sequence[Sample]) -> Curve:
    """Fit a curve by about the greatest likelihood, for differences of Student's t: of its scale, not its variance."""
    lengths = np.array([sample.seconds for sample in samples])
    roots = np.sqrt([len(sample.differences) for sample in samples])
    columns = np.stack([lengths**-2, 1 / lengths, np.ones(len(samples))], axis=1)
    scales = np.array([max(float(np.median(np.abs(sample.differences))), _LEAST) ** 2 for sample in samples])
    solution = np.zeros(3)
    for _ in range(_ROUNDS):
        variances = np.array(
            [_tempered_squares(sample.differences, scale).mean() for sample, scale in zip(samples, scales, strict=True)]
        )
        # The error of a variance is proportional to the variance itself, which the fit has to know first.
        solution = non_negative(columns * (roots / scales)[:, None], variances * roots / scales)
        scales = np.sqrt(scales * np.maximum(columns @ solution, _LEAST**2))  # half a step, as it may oscillate
    start, noise, phases = map(float, solution)
    return Curve(start, noise, phases)


class Deviations:
    """How far a pair of identical programs of any length is off, as the test weighs it, from samples of some lengths.

    Each sample's scale is its own, drawn towards the curve's the fewer pairs it has. Between two samples the scale is
    interpolated, and beyond the outermost ones it follows the curve. How the test weighs a scale is estimated from all
    samples together.
    """

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._curve, ordered = curve_through(samples), sorted(samples, key=lambda sample: sample.seconds)
        scales = [_scale(one.differences, self._curve.variance(one.seconds)) for one in ordered]
        self._lengths, self._scales = [log(one.seconds) for one in ordered], list(map(log, scales))
        units = [one.differences / scale for one, scale in zip(ordered, scales, strict=True)]
        self._deviation_per_scale = deviation(np.concatenate(units))

    def at(self, seconds: float) -> float:
        """Return the deviation for programs of one length."""
        nearest = min(max(log(seconds), self._lengths[0]), self._lengths[-1])
        further = sqrt(self._curve.variance(seconds) / self._curve.variance(exp(nearest)))
        return self._deviation_per_scale * exp(float(np.interp(nearest, self._lengths, self._scales))) * further


def _scale(d: FloatArray, curve_variance: float) -> float:
    """The scale of a Student's t for d, with `_CURVE_WEIGHT_PAIRS` more differences of the curve's scale."""
    variance = curve_variance
    for _ in range(_ROUNDS):
        variance = (float(_tempered_squares(d, variance).sum()) + _CURVE_WEIGHT_PAIRS * curve_variance) / (
            len(d) + _CURVE_WEIGHT_PAIRS
        )
    return sqrt(variance)


def _tempered_squares(d: FloatArray, variance: float) -> FloatArray:
    """The squares of differences, those far out reduced so that the mean is the squared scale of the t."""
    squares = d**2
    return np.asarray(squares * (_FREEDOM + 1) / (_FREEDOM + squares / variance))
