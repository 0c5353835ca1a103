"""Describe a sample: centre, spread and interval of the median."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from steelyard.stats.arrays import FloatArray, PlaceArray
from steelyard.stats.quantiles import NORMAL

# How far the quartiles of a normal distribution are apart, in standard deviations.
_QUARTILES_APART = 1.349


@dataclass(frozen=True)
class Centre:
    """Median and relative spread (interquartile range / 1.349 / median: a robust standard deviation)."""

    median: float
    spread: float


def centre(values: npt.ArrayLike) -> Centre:
    """Median and relative spread of values, shape (n,), n >= 1; the spread of values around 0 is 0."""
    sample = np.asarray(values, dtype=np.float64)
    medians, spreads = centres(sample, np.array([len(sample)]))
    return Centre(float(medians[0]), float(spreads[0]))


def centres(values: FloatArray, lengths: PlaceArray) -> tuple[FloatArray, FloatArray]:
    """Median and relative spread of each of many samples, as `centre` has it of one; shape (samples,) each.

    `values` has the samples one after the other, with their `lengths`, 1 or more. Samples of the same length are sorted
    together: numpy.percentile would take a quarter of a millisecond for each.
    """
    medians, spreads = np.empty(len(lengths)), np.empty(len(lengths))
    starts = np.cumsum(lengths) - lengths
    for length in set(lengths.tolist()):  # numpy.unique would import masked arrays
        indices = np.flatnonzero(lengths == length)
        is_all = len(indices) == len(lengths)
        table = values.reshape(-1, length) if is_all else values[starts[indices, None] + np.arange(length)]
        ordered = np.sort(table, axis=1)
        low, medians[indices], high = (_quantile(ordered, share) for share in (0.25, 0.5, 0.75))
        spreads[indices] = (high - low) / _QUARTILES_APART
    with np.errstate(over="ignore"):
        return medians, np.divide(spreads, medians, out=np.zeros_like(spreads), where=medians != 0)


def quartile_deviation(values: FloatArray) -> float:
    """The standard deviation of a normal distribution with the same interquartile range as values (n,), n >= 1."""
    low, high = np.percentile(values, [25, 75])
    return float(high - low) / _QUARTILES_APART


def median_distance(values: FloatArray) -> float:
    """The median distance between any two of the values, shape (n,), n >= 2, but not thousands."""
    one, other = np.triu_indices(len(values), 1)
    return float(np.median(np.abs(values[one] - values[other])))


def _quantile(ordered: FloatArray, share: float) -> FloatArray:
    """The quantile of each row of sorted values, interpolated exactly as numpy.percentile does, to the last bit."""
    position = share * (ordered.shape[1] - 1)
    below = int(position)
    fraction = position - below
    low, high = ordered[:, below], ordered[:, min(below + 1, ordered.shape[1] - 1)]
    return np.asarray(low + (high - low) * fraction if fraction < 0.5 else high - (high - low) * (1 - fraction))


def row_medians(table: FloatArray) -> FloatArray:
    """The median of each row, shape (rows, n) to (rows,), n >= 1; numpy's takes ten times as long for few values."""
    ordered = np.sort(table, axis=1)
    middle = table.shape[1] // 2
    return np.asarray((ordered[:, middle] + ordered[:, ~middle]) / 2)


def median_interval(values: npt.ArrayLike, level: float) -> tuple[float, float] | None:
    """Distribution-free 1 - level interval of the median by order statistics; None if n is too small for the level.

    Inverts the sign test (Hollander, Wolfe and Chicken, 3.6). Values from one noisy machine are not independent: see
    `level`.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    below = _binomial_half_quantile(n, level / 2)
    if below < 0:
        return None
    return float(ordered[below]), float(ordered[n - 1 - below])


def _binomial_half_quantile(n: int, tail: float) -> int:
    """The largest k with P(Binomial(n, 1/2) <= k) <= tail; -1 if there is none."""
    if n > 1000:  # 0.5**n underflows near here, where the normal approximation is exact to a rank
        return int(n / 2 + NORMAL.inv_cdf(tail) * n**0.5 / 2 - 1)
    mass, total = 0.5**n, 0.0
    for k in range(n + 1):
        total += mass
        if total > tail:
            return k - 1
        mass *= (n - k) / (k + 1)
    return n
