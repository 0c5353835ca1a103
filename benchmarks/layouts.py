"""Simulated weighings of several builds of each side: how often the interval misses the change if layouts differ.

    python benchmarks/layouts.py [--weighings N] [--whole N] [--pairs N]

Each weighing draws the effect of every build of each side anew, and weighs pairs of layouts drawn in turn. The layouts'
own part of the procedure is fast, and the whole procedure misses no more often: a verdict needs the pairs' test as
well, and the interval covers both. The whole procedure, which is slow, and what would be found if layouts were not
distinguished, are simulated less often.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.simulation import SYNTHETIC, FloatArray, Noise, table
from steelyard.stats.layouts import average, look_at_layouts
from steelyard.stats.looks import plan_looks
from steelyard.stats.paired import judge
from steelyard.stats.verdict import CHANGED

IntArray = npt.NDArray[np.int64]
# effects(generator, builds) -> log-effects of builds of standard deviation 1, shape (builds, 2)
Effects = Callable[[np.random.Generator, int], FloatArray]


def normal(generator: np.random.Generator, builds: int) -> FloatArray:
    """Effects of many small causes."""
    return generator.standard_normal((builds, 2))


def two_modes(generator: np.random.Generator, builds: int) -> FloatArray:
    """Effects of one cause: a loop that is aligned or not."""
    return np.where(generator.random((builds, 2)) < 0.5, 2.0, 0.0)


SPREADS = (0.0, 0.002, 0.005, 0.01, 0.03)
EFFECTS: dict[str, Effects] = {"normal": normal, "two modes": two_modes}


@dataclass(frozen=True)
class WholeTally:
    """Shares of weighings by the whole procedure, and without distinguishing the layouts."""

    changed: float
    same: float
    pooled_changed: float


def layouts_of_pairs(generator: np.random.Generator, layouts: int, pairs: int) -> IntArray:
    """Each layout once in every `layouts` pairs, in random order, shape (pairs,)."""
    blocks = [generator.permutation(layouts) for _ in range(-(-pairs // layouts))]
    return np.concatenate(blocks)[:pairs]


def drawn_pairs(
    generator: np.random.Generator, noise: Noise, effects: Effects, *, layouts: int, spread: float, pairs: int
) -> tuple[FloatArray, IntArray]:
    """Values of pairs (pairs, 2) without a change but with effects of builds of such a `spread`, and their layouts."""
    layout = layouts_of_pairs(generator, layouts, pairs)
    return noise(generator, pairs) * np.exp(spread * effects(generator, layouts)[layout]), layout


def missed(
    noise: Noise,
    effects: Effects,
    *,
    layouts: int,
    spread: float,
    alpha: float = 0.01,
    pairs: int = 60,
    weighings: int = 1000,
) -> float:
    """The share of weighings in which the layouts' interval misses the change at any look that may decide."""
    generator, looks, found = np.random.default_rng(1), plan_looks(pairs, ended=True), 0
    taken = [(looks[number].pairs, look_at_layouts(looks[: number + 1])) for number in range(len(looks))]
    levels = [(pairs, look.share * alpha) for pairs, look in taken if look.may_decide]
    for _ in range(weighings):
        sides, layout = drawn_pairs(generator, noise, effects, layouts=layouts, spread=spread, pairs=pairs)
        d = np.log(sides[:, 1] / sides[:, 0])
        ends = (average(d[:so_many], layout[:so_many], level) for so_many, level in levels)
        found += any(not one.lower <= 0 <= one.upper for one in ends)
    return found / weighings


def simulate_whole(
    noise: Noise,
    effects: Effects,
    *,
    layouts: int,
    spread: float,
    change: float,
    pairs: int,
    weighings: int,
) -> WholeTally:
    """Weigh with a true relative `change` at alpha 1 %."""
    generator = np.random.default_rng(1)
    found: list[list[str]] = []
    for _ in range(weighings):
        sides, layout = drawn_pairs(generator, noise, effects, layouts=layouts, spread=spread, pairs=pairs)
        sides = sides * np.array([1.0, 1.0 + change])
        found.append([_verdict(sides, each) for each in (layout, None)])
    return WholeTally(
        changed=float(np.mean([whole in CHANGED for whole, _ in found])),
        same=float(np.mean([whole == "same" for whole, _ in found])),
        pooled_changed=float(np.mean([pooled in CHANGED for _, pooled in found])),
    )


def _verdict(sides: FloatArray, layouts: IntArray | None) -> str:
    one, other = sides.T
    pairs = len(sides)
    judgement = judge(lambda n: (one[:n], other[:n]), pairs, 0.005, 0.01, ended=True, roughly=True, layouts=layouts)
    return judgement.verdict if judgement else "undecided"


def main(weighings: int, whole: int, pairs: int) -> None:
    """Print how often the interval misses, and what the whole procedure finds."""
    rows = []
    for kind, effects in EFFECTS.items():
        for layouts in (5, 10, 20):
            shares = [
                missed(SYNTHETIC["quiet"], effects, layouts=layouts, spread=spread, pairs=pairs, weighings=weighings)
                for spread in SPREADS
            ]
            rows.append([kind, layouts, *(f"{share:.2%}" for share in shares)])
    print(f"## The interval of the layouts misses: {weighings:,} weighings of {pairs} pairs, alpha 1 %\n")
    print(table(("effects", "layouts", *(f"spread {spread:.1%}" for spread in SPREADS)), rows), flush=True)
    rows = []
    for layouts in (5, 10, 20):
        for spread in (0.0, 0.01, 0.03):
            for change in (0.0, 0.05):
                tally = simulate_whole(
                    SYNTHETIC["quiet"],
                    normal,
                    layouts=layouts,
                    spread=spread,
                    change=change,
                    pairs=pairs,
                    weighings=whole,
                )
                shares = [tally.changed, tally.same, tally.pooled_changed]
                rows.append([layouts, f"{spread:.0%}", f"{change:+.0%}", *(f"{share:.0%}" for share in shares)])
    print(f"\n## The whole procedure: {whole} weighings of up to {pairs} pairs, noise of 1 % a launch\n")
    print(table(("layouts", "spread", "true change", "found changed", "same", "changed, not told apart"), rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weighings", type=int, default=4000)
    parser.add_argument("--whole", type=int, default=100)
    parser.add_argument("--pairs", type=int, default=60)
    words = parser.parse_args()
    main(words.weighings, words.whole, words.pairs)
