"""How a quantity grows with a parameter: the power of the parameter that it follows."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

import numpy as np
import numpy.typing as npt

from steelyard.stats.arrays import FloatArray

FEWEST = 3
"""The fewest different parameters for a fit: a power law fits anything with fewer."""


@dataclass(frozen=True)
class PowerLaw:
    """y = scale * x ** exponent; `misses` is the largest factor by which a value is off it, less 1."""

    exponent: float
    scale: float
    misses: float

    def at(self, x: npt.ArrayLike) -> FloatArray:
        """Return its values at parameters x."""
        return np.asarray(self.scale * np.asarray(x, dtype=np.float64) ** self.exponent)


def fit(x: npt.ArrayLike, y: npt.ArrayLike) -> PowerLaw | None:
    """The power law through positive values y at parameters x > 0, shape (n,) each; None where nothing can be fitted.

    The exponent is the median of the slopes between all points, in logs (Theil 1950, Sen 1968): one parameter at which
    a cache overflows does not bend it. It needs three different parameters.
    """
    parameters, values = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if len(np.unique(parameters)) < FEWEST or (parameters <= 0).any() or (values <= 0).any():
        return None
    log_x, log_y = np.log(parameters), np.log(values)
    first, second = np.triu_indices(len(parameters), k=1)
    is_distinct = log_x[second] != log_x[first]
    first, second = first[is_distinct], second[is_distinct]
    exponent = float(np.median((log_y[second] - log_y[first]) / (log_x[second] - log_x[first])))
    residuals = log_y - exponent * log_x
    intercept = float(np.median(residuals))
    return PowerLaw(exponent, exp(intercept), exp(float(np.abs(residuals - intercept).max())) - 1)
