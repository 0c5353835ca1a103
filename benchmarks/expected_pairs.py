"""How near `steelyard doctor --measure` is to the pairs that weighings need, in simulated noise.

    python benchmarks/expected_pairs.py [MEASUREMENTS [WEIGHINGS]]

For each noise it simulates MEASUREMENTS, whose launches have the same noise at all lengths, with as many pairs of each
as a busy machine leaves time for; and WEIGHINGS of a change of 1 %, where the pairs needed are those after which half
had ended.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from math import log1p
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from benchmarks.simulation import SYNTHETIC, FloatArray, Noise, simulate, table
from benchmarks.words import whole_numbers
from steelyard.stats.prospects import Deviations, Sample, pairs_to_find

CHANGE, ALPHA = 0.01, 0.01
# Each noise as it is, and half as large again (in logarithms).
SIZES = (1.0, 1.5)
PAIRS_OF = {0.001: 79, 0.003: 42, 0.01: 27, 0.03: 12, 0.1: 5, 0.3: 1, 1.0: 1}
TOLD = (0.01, 0.03, 0.1)
MOST_PAIRS = 400


def sized(noise: Noise, size: float) -> Noise:
    """The same noise, `size` times as large."""
    return lambda generator, pairs: noise(generator, pairs) ** size


def told(noise: Noise, generator: np.random.Generator) -> list[int]:
    """The pairs that one measurement predicts for each length in TOLD."""

    def differences(pairs: int) -> FloatArray:
        # A single pair of noise that comes in phases is drawn together with its neighbours.
        logs = np.log(noise(generator, max(pairs, 2))[:pairs])
        return np.asarray(logs[:, 1] - logs[:, 0])

    found = Deviations([Sample(seconds, differences(pairs)) for seconds, pairs in PAIRS_OF.items()])
    return [pairs_to_find(found.at(seconds), log1p(CHANGE), ALPHA) for seconds in TOLD]


def rows(measurements: int, weighings: int) -> Iterator[list[object]]:
    """Yield one row per noise."""
    for name, plain in SYNTHETIC.items():
        for size in SIZES:
            noise, generator = sized(plain, size), np.random.default_rng(1)
            tally = simulate(noise, CHANGE, pairs=MOST_PAIRS, weighings=weighings, roughly=True)
            factors = np.array([told(noise, generator) for _ in range(measurements)]) / tally.median_pairs
            within = ((factors >= 0.5) & (factors <= 2)).mean(axis=0)
            cells = [f"{np.median(factor):.2f}, {share:.0%}" for factor, share in zip(factors.T, within, strict=True)]
            yield [name, size, f"{tally.median_pairs:.0f}", *cells]


def main(measurements: int, weighings: int) -> None:
    """Print for each length the median factor, and how many measurements were within a factor of 2."""
    heads = ("noise", "size", "needed", *(f"{1e3 * seconds:.0f} ms" for seconds in TOLD))
    print(table(heads, rows(measurements, weighings)))


if __name__ == "__main__":
    main(*whole_numbers(__doc__, measurements=200, weighings=40))
