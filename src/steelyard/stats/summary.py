"""One sample described: centre, spread, interval of the median, and where the values crowd."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

# A crowd must hold this share of the values, and the dip beside it must fall this far below the lower of its two
# neighbours, before it is called a mode: a normal sample of 50 or more values shows a second mode in under 1 % of the
# cases, one with the tails of Student's t with 2 degrees of freedom in under 3 % (tests/stats/test_summary.py).
_SMALLEST_CROWD = 0.1
_DEEPEST_SADDLE = 0.5
_GRID = 256
_FEWEST_FOR_MODES = 50


@dataclass(frozen=True)
class Centre:
    """Median and relative spread (interquartile range / 1.349 / median: a robust standard deviation)."""

    median: float
    spread: float


def centre(values: npt.ArrayLike) -> Centre:
    """Median and relative spread of values, shape (n,), n >= 1; the spread of values around 0 is 0."""
    quartiles = np.percentile(np.asarray(values, dtype=np.float64), [25, 50, 75])
    median = float(quartiles[1])
    width = float(quartiles[2] - quartiles[0]) / 1.349
    return Centre(median, width / median if median else 0.0)


def median_interval(values: npt.ArrayLike, level: float) -> tuple[float, float] | None:
    """Distribution-free 1 - level interval of the median by order statistics; None if n is too small for the level.

    Inversion of the sign test (Hollander, Wolfe and Chicken, 3.6). Values of one noisy machine are not independent:
    it describes these launches and is no basis for a verdict.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    below = _binomial_half_quantile(n, level / 2)
    if below < 0:
        return None
    return float(ordered[below]), float(ordered[n - 1 - below])


def modes(values: npt.ArrayLike) -> list[float]:
    """Where the values crowd, lowest first; a single crowd (or too few values to tell) gives one.

    Peaks of a Gaussian kernel density of the values within 6 robust deviations of the median, with Silverman's
    bandwidth (*Density Estimation*, eq. 3.31); a peak counts if its crowd is large and the saddle beside it deep.
    """
    sample = np.asarray(values, dtype=np.float64)
    median = float(np.median(sample))
    quartiles = np.percentile(sample, [25, 75])
    scale = float(quartiles[1] - quartiles[0]) / 1.349
    if len(sample) < _FEWEST_FOR_MODES or scale <= 0:
        return [median]
    near = sample[np.abs(sample - median) <= 6 * scale]
    bandwidth = 0.9 * min(float(near.std()), scale) * len(near) ** -0.2
    grid = np.linspace(near.min() - 3 * bandwidth, near.max() + 3 * bandwidth, _GRID)
    density = np.exp(-0.5 * ((grid[:, None] - near) / bandwidth) ** 2).sum(axis=1)
    return _separate_crowds(grid, density, near) or [median]


def _separate_crowds(grid: FloatArray, density: FloatArray, sample: FloatArray) -> list[float]:
    peaks = list(np.flatnonzero((density[1:-1] > density[:-2]) & (density[1:-1] >= density[2:])) + 1)
    while len(peaks) > 1:
        saddles = [left + int(density[left:right].argmin()) for left, right in pairwise(peaks)]
        heights = density[peaks]
        depth = [density[s] / min(heights[i], heights[i + 1]) for i, s in enumerate(saddles)]
        edges = [-np.inf, *grid[saddles], np.inf]
        crowds = np.histogram(sample, edges)[0] / len(sample)
        if max(depth) > _DEEPEST_SADDLE:
            shallow = int(np.argmax(depth))
            peaks.pop(shallow if heights[shallow] < heights[shallow + 1] else shallow + 1)
        elif crowds.min() < _SMALLEST_CROWD:
            peaks.pop(int(crowds.argmin()))
        else:
            break
    return [float(grid[peak]) for peak in peaks]


def _binomial_half_quantile(n: int, tail: float) -> int:
    """The largest k with P(Binomial(n, 1/2) <= k) <= tail; -1 if there is none."""
    if n > 1000:  # 0.5**n underflows near here, where the normal approximation is exact to a rank
        return int(n / 2 + NormalDist().inv_cdf(tail) * n**0.5 / 2 - 1)
    mass, total = 0.5**n, 0.0
    for k in range(n + 1):
        total += mass
        if total > tail:
            return k - 1
        mass *= (n - k) / (k + 1)
    return n
