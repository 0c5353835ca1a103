"""Whether noise changed while it was measured, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from steelyard.stats.arrays import FloatArray

_QUARTERS = 4
_FEWEST = 4 * _QUARTERS
# What is shuffled so often has as large a swing once in forty times, if there is none.
_SHUFFLES = 39


class Swing(NamedTuple):
    """The noise of the calmest and of the noisiest quarter, as parts of that of all."""

    calmest: float = 1.0
    noisiest: float = 1.0

    @property
    def is_clear(self) -> bool:
        """Whether there is one."""
        return self.calmest < self.noisiest


def swing(series: Sequence[FloatArray], generator: np.random.Generator) -> Swing:
    """The swing of differences that were taken all the time, one or several in turns: their sizes, not below 0.

    Those of each of the series have one noise, and are in the order of time. None is told where chance would bring as
    large a one more than once in forty times, or where there are too few.
    """
    quarters = np.concatenate(
        [_QUARTERS * (2 * np.arange(len(one)) + 1) // (2 * len(one)) for one in series if len(one)]
    )
    counts = np.bincount(quarters, minlength=_QUARTERS)
    sizes = np.concatenate(series)
    if len(sizes) < _FEWEST or not counts.all() or not sizes.any():
        return Swing()

    def of_quarters(sizes: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(quarters, sizes, minlength=_QUARTERS) / counts / sizes.mean())

    found = of_quarters(sizes)
    shuffled = (np.concatenate([generator.permutation(one) for one in series]) for _ in range(_SHUFFLES))
    if np.ptp(np.log1p(found)) <= max(np.ptp(np.log1p(of_quarters(one))) for one in shuffled):
        return Swing()
    return Swing(float(found.min()), float(found.max()))
