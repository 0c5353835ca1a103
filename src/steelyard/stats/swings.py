"""Whether noise changed while it was measured, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from steelyard.stats.arrays import FloatArray

_QUARTERS = 4
_FEWEST = 4 * _QUARTERS
# Without a swing, the observed one exceeds those of this many shuffles once in forty times.
_SHUFFLES = 39


class Swing(NamedTuple):
    """The noise of the calmest and of the noisiest quarter, relative to the noise of all."""

    calmest: float = 1.0
    noisiest: float = 1.0

    @property
    def is_clear(self) -> bool:
        """Whether there is a swing."""
        return self.calmest < self.noisiest


def swing(series: Sequence[FloatArray], generator: np.random.Generator) -> Swing:
    """The swing of the noise, from the sizes of differences, 0 or more, measured throughout in one or several series.

    The differences of one series are of one kind of noise, and in order of time; several series took turns. No swing is
    returned where chance would make as large a one more than once in forty times, or for too few differences.
    """
    quarters = np.concatenate(
        [_QUARTERS * (2 * np.arange(len(one)) + 1) // (2 * len(one)) for one in series if len(one)]
    )
    counts = np.bincount(quarters, minlength=_QUARTERS)
    sizes = np.concatenate(series)
    if len(sizes) < _FEWEST or not counts.all() or not sizes.any():
        return Swing()
    shuffled = [np.concatenate([generator.permutation(one) for one in series]) for _ in range(_SHUFFLES)]
    is_in_quarter = quarters[:, None] == np.arange(_QUARTERS)
    noise = np.stack([sizes, *shuffled]) @ is_in_quarter.astype(np.float64) / counts / sizes.mean()
    ranges = np.ptp(np.log1p(noise), axis=1)
    if ranges[0] <= ranges[1:].max():
        return Swing()
    return Swing(float(noise[0].min()), float(noise[0].max()))
