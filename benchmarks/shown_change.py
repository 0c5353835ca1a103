"""How near the change shown with `slower` is to the true one, at whichever look a weighing stopped.

    python benchmarks/shown_change.py [WEIGHINGS]

It covers four kinds of noise, and changes from one that takes a hundred pairs to find to one that every pair shows,
alone and as one of four benchmarks that share alpha. The table shows the mean of the shown changes relative to the true
one, how many of them are above it, and the smallest; before that, the same for the plain estimates.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from benchmarks.simulation import FloatArray, table
from benchmarks.words import whole_numbers
from steelyard.stats import sequential, spending, stopped, weighted
from steelyard.stats.looks import plan_looks
from steelyard.stats.sequential import Hypothesis

Draw = Callable[[np.random.Generator, int], FloatArray]

MOST_PAIRS, MARGIN, ALPHA = 400, 0.005, 0.01
HEADER = (
    "noise",
    "change",
    "sd of a pair",
    "alpha",
    "pairs",
    "plain: mean",
    "above",
    "shown: mean",
    "above",
    "smallest",
)
# (change, standard deviation of a calm pair), as log-ratios.
CHANGES = ((0.01, 0.02), (0.05, 0.03), (0.4, 0.02), (0.3, 0.3))


def _outliers(generator: np.random.Generator, pairs: int) -> FloatArray:
    return np.where(generator.random(pairs) < 0.3, 15.0, 1.0) * generator.standard_normal(pairs)


def _phases(generator: np.random.Generator, pairs: int) -> FloatArray:
    stormy = np.repeat(generator.random(pairs // 20 + 1) < 0.4, 20)[:pairs]
    return np.where(stormy, 12.0, 1.0) * generator.standard_normal(pairs)


NOISES: dict[str, Draw] = {
    "Gaussian": lambda generator, pairs: generator.standard_normal(pairs),
    "Student's t, 2 degrees": lambda generator, pairs: generator.standard_t(2, pairs),
    "three in ten at 15x": _outliers,
    "phases of 20 pairs": _phases,
}


def shown(d: FloatArray, alpha: float) -> tuple[int, float, float] | None:
    """The pairs, the plain and the shown estimate of a weighing of these differences; None if it does not end."""
    for look in plan_looks(len(d), ended=False):
        looks = plan_looks(look.pairs, ended=False)
        seen, levels = d[: look.pairs], np.zeros(look.pairs)
        if not sequential.run_tests(seen, levels, looks, [Hypothesis(0.0, alpha)], keep=True)[0].rejected:
            continue
        found = weighted.rough_estimate(seen, levels, spending.nominal_level(looks, alpha))
        if found.centre >= MARGIN:
            return look.pairs, found.centre, stopped.median_unbiased(seen, levels, looks, alpha, found, MARGIN)
    return None


def row(name: str, change: float, noise: float, alpha: float, weighings: int) -> list[str]:
    """One row of the table."""
    draws = (np.random.default_rng(seed) for seed in range(weighings))
    found = [shown(change + noise * NOISES[name](generator, MOST_PAIRS), alpha) for generator in draws]
    pairs, plain, told = np.array([one for one in found if one is not None]).T
    numbers = [
        *(f"{np.mean(plain) / change:.2f}", f"{np.mean(plain > change):.0%}"),
        *(f"{np.mean(told) / change:.2f}", f"{np.mean(told > change):.0%}", f"{np.min(told) / change:.2f}"),
    ]
    return [name, f"{change:g}", f"{noise:g}", f"{alpha:g}", f"{np.median(pairs):.0f}", *numbers]


if __name__ == "__main__":
    (times,) = whole_numbers(__doc__, weighings=100)
    cells = product(NOISES, CHANGES, (ALPHA, ALPHA / 4))
    print(table(HEADER, (row(name, *change, alpha, times) for name, change, alpha in cells)))
