"""Least squares with coefficients that cannot be negative, and how well one quantity follows another."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from steelyard.stats.arrays import BoolArray, FloatArray

# Residuals that differ by less differ by rounding, and the solution with fewer columns is taken.
_ROUNDING = 1e-12


def non_negative(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """The x >= 0 that minimises |a x - b|, exactly; a has shape (rows, columns), b (rows,), x (columns,).

    At the minimum the columns with x > 0 are fitted as if there were no bound (Lawson and Hanson, "Solving Least
    Squares Problems", 1974, chapter 23), and those columns can be chosen independent of each other. So the best of
    the plain fits of all subsets that come out non-negative is the minimum. All are tried, so columns have to be few.
    """
    matrix, target = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    lengths = np.linalg.norm(matrix, axis=0)
    scale = np.where(lengths > 0, lengths, 1.0)  # columns of very different sizes would be taken for dependent ones
    return np.asarray(_best(matrix / scale, target) / scale, dtype=np.float64)


def _best(matrix: FloatArray, target: FloatArray) -> FloatArray:
    subsets = _subsets(matrix.shape[1])
    parts = matrix * subsets[:, None, :]  # (subsets, rows, columns): one call for all, as each costs more than its sums
    # The limit below which `lstsq` takes columns as dependent.
    inverses = np.linalg.pinv(parts, rcond=max(matrix.shape) * float(np.finfo(np.float64).eps))
    fits = np.where(subsets, inverses @ target, 0.0)
    residuals = np.linalg.norm((parts @ fits[:, :, None])[:, :, 0] - target, axis=1)
    best, least = np.zeros(matrix.shape[1]), float(np.linalg.norm(target))
    allowance = _ROUNDING * least
    for index in np.flatnonzero((fits >= 0).all(axis=1)):
        if residuals[index] < least - allowance:
            best, least = fits[index], float(residuals[index])
    return best


@lru_cache(maxsize=8)
def _subsets(columns: int) -> BoolArray:
    """The columns of each non-empty subset, (subsets, columns), the smallest subsets first."""
    chosen = (subset for size in range(1, columns + 1) for subset in combinations(range(columns), size))
    return np.array([np.isin(range(columns), subset) for subset in chosen])


def pearson(x: npt.ArrayLike, y: npt.ArrayLike) -> float | None:
    """Pearson's correlation of two arrays of one length, -1 to 1; None where either does not vary."""
    one, other = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if len(one) < 2:
        return None
    first, second = one - one.mean(), other - other.mean()
    # A constant minus its mean is only rounding error, which correlates with anything.
    if _is_constant(one, first) or _is_constant(other, second):
        return None
    first, second = first / np.abs(first).max(), second / np.abs(second).max()  # no square is too large, or 0
    lengths = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(np.clip(first @ second / lengths, -1.0, 1.0))


def _is_constant(values: FloatArray, centred: FloatArray) -> bool:
    return bool(np.abs(centred).max() <= _ROUNDING * np.abs(values).max())
