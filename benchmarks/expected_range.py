"""How often the range of `steelyard doctor --measure` holds the pairs that weighings need, in noise that changes.

    python benchmarks/expected_range.py [MEASUREMENTS [WEIGHINGS]]

The noise is half, once, twice or four times as large, in phases of various mean lengths, or constant. Each measurement
takes half a minute, with as many pairs of each length as in expected_pairs.py. The table shows how many named half to
twice the pairs that were needed, how many had these in their range (to within a quarter, as looks are that far apart),
how many said that the disturbance came and went, and how wide the range is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from benchmarks.expected_pairs import CHANGE, MOST_PAIRS, PAIRS_OF
from benchmarks.simulation import FloatArray, simulate, table
from benchmarks.words import whole_numbers
from steelyard.design.noise.plan import MEASURED_S
from steelyard.design.noise.spreads import TOLD_MS, Kind
from steelyard.model.noise import Spread
from steelyard.stats.prospects import deviation

SIZE, SIZES = 0.008, (0.5, 1.0, 2.0, 4.0)
SECONDS_PER_PAIR = 0.05
Draw = Callable[[np.random.Generator, int], FloatArray]
NOISES: dict[str, Draw] = {
    "normal": lambda generator, pairs: generator.normal(size=pairs),
    "long tails": lambda generator, pairs: 0.6 * generator.standard_t(2, pairs),
}


def phases(generator: np.random.Generator, mean_s: float) -> Callable[[FloatArray], FloatArray]:
    """How large the noise is at each time, in s."""
    if not mean_s:
        return lambda times: np.full(len(times), SIZE)
    most = round(20 + 3 * MOST_PAIRS * SECONDS_PER_PAIR / mean_s)
    ends, sizes = np.cumsum(generator.exponential(mean_s, most)), generator.choice(SIZES, most + 1)
    return lambda times: np.asarray(SIZE * sizes[np.searchsorted(ends, times)], dtype=np.float64)


def measured(draw: Draw, mean_s: float, generator: np.random.Generator) -> Kind:
    """Return what one measurement finds, with all lengths in the same phases."""
    size_at, spreads = phases(generator, mean_s), []
    for seconds, pairs in PAIRS_OF.items():
        times = np.sort(generator.uniform(0, MEASURED_S, pairs))
        found = draw(generator, pairs) * size_at(times)
        spreads.append(
            Spread(
                work="memory",
                pairing="adjacent",
                cpu=None,
                wanted_ms=1e3 * seconds,
                median_ns=1e9 * seconds,
                seconds_per_pair=2 * seconds,
                differences=found.tolist(),
                deviation=deviation(found),
            )
        )
    return Kind(spreads)


def rows(measurements: int, weighings: int) -> Iterator[list[object]]:
    """Yield one row per noise and length of phases."""
    for name, draw in NOISES.items():
        for mean_s in (0.0, 1.0, 4.0, 10.0, 30.0):

            def noise(
                generator: np.random.Generator, pairs: int, draw: Draw = draw, mean_s: float = mean_s
            ) -> FloatArray:
                sizes = phases(generator, mean_s)(np.arange(pairs, dtype=np.float64) * SECONDS_PER_PAIR)
                logs = draw(generator, 2 * pairs).reshape(pairs, 2) * sizes[:, None] / np.sqrt(2)
                return np.asarray(np.exp(logs), dtype=np.float64)

            needed = simulate(noise, CHANGE, pairs=MOST_PAIRS, weighings=weighings, roughly=True).median_pairs
            generator, near, held, clear, widths = np.random.default_rng(1), [], [], [], []
            for number in range(measurements):
                kind = measured(draw, mean_s, generator)
                (one,) = [one for one in kind.expected(number) if (one.ms, one.change) == (TOLD_MS, CHANGE)]
                near.append(0.5 <= one.pairs / needed <= 2)
                held.append(0.8 * one.low <= needed <= 1.25 * one.high)
                clear.append(kind.swing.is_clear)
                widths.append(one.high / one.low)
            told = [f"{np.mean(near):.0%}", f"{np.mean(held):.0%}", f"{np.mean(clear):.0%}", f"{np.median(widths):.2g}"]
            yield [name, f"{mean_s:g} s" if mean_s else "none", f"{needed:.0f}", *told]


def main(measurements: int, weighings: int) -> None:
    """Print the table."""
    print(table(("noise", "phases", "needed", "within 2", "in range", "said", "width"), rows(measurements, weighings)))


if __name__ == "__main__":
    main(*whole_numbers(__doc__, measurements=100, weighings=40))
