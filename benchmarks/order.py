"""Pairs whose order makes a difference: what is gained by removing it, and whether the error stays as claimed.

    python benchmarks/order.py [--weighings N] [--alarms [--unkind]] [--minutes M] [--seed S]

In simulated noise and in the recorded traces, the second launch takes longer by an effect that is the same in all
pairs, or drifts, or comes and goes. The table shows the pairs to a verdict, median and mean, and how many of the
weighings were undecided at 252 pairs, with the order's effect and without it (`stats.order`). The traces keep their own
effect of order, together with their recorded order. --alarms shows the share of weighings without a change in which any
look rejects that, at 16 and at 90 pairs, for all noises together, and for single noises that reject more often than
chance explains; with --unkind for noises that were made to deceive. As removing the effect does not alter a change of
all pairs, an interval holds the truth as often as "no change" is not rejected where nothing changed.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import numpy.typing as npt

from benchmarks.simulation import (
    SYNTHETIC,
    TRACE_METRICS,
    TRACE_NAMES,
    FloatArray,
    Noise,
    table,
    trace,
    trace_order,
    weigh_once,
)
from benchmarks.unkind_noise import UNKIND
from steelyard.stats.looks import plan_looks
from steelyard.stats.order import without_order
from steelyard.stats.paired import Judgement
from steelyard.stats.sequential import Hypothesis, run_tests

IntArray = npt.NDArray[np.int64]
# effect(generator, pairs) -> by what log-ratio the second launch of each pair takes longer
Effect = Callable[[np.random.Generator, int], FloatArray]
PAIRS = 252
ALPHAS = (0.01, 0.05, 0.2)
_FEW_AND_MANY = (16, 90)
# More standard errors than this above the allowed share are not explained by chance among some dozens of noises.
_NO_CHANCE = 3.5


def none(_: np.random.Generator, pairs: int) -> FloatArray:
    """No effect of the order."""
    return np.zeros(pairs)


def half_percent(_: np.random.Generator, pairs: int) -> FloatArray:
    """An effect of half a percent in all pairs."""
    return np.full(pairs, 0.005)


def two_percent(_: np.random.Generator, pairs: int) -> FloatArray:
    """An effect of two percent in all pairs, larger than most noise."""
    return np.full(pairs, 0.02)


def drifting(generator: np.random.Generator, pairs: int) -> FloatArray:
    """An effect that drifts from 2 % to nothing, or from nothing to 2 %."""
    ramp = np.linspace(0.02, 0.0, pairs)
    return ramp if generator.random() < 0.5 else ramp[::-1].copy()


def in_phases(generator: np.random.Generator, pairs: int) -> FloatArray:
    """An effect of 2 % in some stretches of 15 pairs, and of -1 % in the others."""
    return np.repeat(generator.choice([0.02, -0.01], pairs // 15 + 1), 15)[:pairs]


EFFECTS: dict[str, Effect] = {
    "none": none,
    "0.5 %": half_percent,
    "2 %": two_percent,
    "2 % to 0, or back": drifting,
    "2 or -1 %, in phases": in_phases,
}


def phases(generator: np.random.Generator, pairs: int) -> FloatArray:
    """Noise with stretches of 15 pairs that are ten times as noisy as the others."""
    sizes = np.repeat(generator.choice([0.05, 0.005], pairs // 15 + 1, p=[0.4, 0.6]), 15)[:pairs]
    return np.exp(sizes[:, None] * generator.standard_normal((pairs, 2)))


def two_sizes(generator: np.random.Generator, pairs: int) -> FloatArray:
    """Launches of one of two sizes, 20 % apart, and next to nothing else: medians of few of them lie far apart."""
    return np.exp(0.2 * (generator.random((pairs, 2)) < 0.5) + 0.001 * generator.standard_normal((pairs, 2)))


def recorded(name: str, metric: str) -> Noise:
    """A stretch of a trace from a random start: the columns are the first and the second launch of each pair."""
    labelled, is_swapped = trace(name, metric), trace_order(name)[:, None] == 1
    values = np.where(is_swapped, labelled[:, ::-1], labelled)

    def noise(generator: np.random.Generator, pairs: int) -> FloatArray:
        start = generator.integers(0, len(values) - pairs + 1)
        return values[start : start + pairs]

    return noise


NOISES: dict[str, Noise] = {
    **SYNTHETIC,
    "phases": phases,
    "two sizes": two_sizes,
    **{f"{name}, {metric}": recorded(name, metric) for name in TRACE_NAMES for metric in TRACE_METRICS},
}


def dealt(
    generator: np.random.Generator, noise: Noise, effect: Effect, pairs: int, change: float
) -> tuple[FloatArray, IntArray]:
    """Values of both sides, (pairs, 2), from launches that a fair coin deals to them, and the order of each pair."""
    launches = noise(generator, pairs)
    launches = launches * np.exp(np.outer(effect(generator, pairs), [0, 1]))
    order = generator.integers(0, 2, pairs)
    sides = np.where(order[:, None] == 1, launches[:, ::-1], launches)
    return sides * np.array([1.0, 1.0 + change]), order


def judged(sides: FloatArray, order: IntArray | None) -> Judgement:
    """Judge one weighing, without the order's effect if the order is given."""
    if order is not None:
        sides = np.stack(without_order(sides[:, 0], sides[:, 1], order), axis=1)
    return weigh_once(sides, margin=0.005, alpha=0.01, roughly=True)


def gains(weighings: int, seed: int) -> Iterator[list[str]]:
    """Yield a row for each noise, effect and change."""
    for label, noise in NOISES.items():
        for of_order, effect in EFFECTS.items():
            for change in (0.0, 0.01):
                generator = np.random.default_rng(seed)
                drawn = [dealt(generator, noise, effect, PAIRS, change) for _ in range(weighings)]
                as_is = told([judged(sides, None) for sides, _ in drawn])
                yield [label, of_order, f"{change:+.0%}", as_is, told([judged(*one) for one in drawn])]


def told(judgements: list[Judgement]) -> str:
    """The pairs to the end, median and mean, and how many weighings were undecided there."""
    pairs = [one.look.pairs for one in judgements]
    undecided = sum(one.verdict == "undecided" for one in judgements)
    return f"{np.median(pairs):.0f}; {np.mean(pairs):.0f}; {undecided / len(pairs):.0%}"


def alarms(noises: Mapping[str, Noise], minutes: float, seed: int) -> None:
    """Weigh all these noises and effects in turn while there is time, and print the rejections."""
    generator, end = np.random.default_rng(seed), time.monotonic() + 60 * minutes
    rejected: defaultdict[tuple[str, str, int], FloatArray] = defaultdict(lambda: np.zeros(len(ALPHAS) + 1))
    while time.monotonic() < end:
        for label, noise in noises.items():
            for of_order, effect in EFFECTS.items():
                for pairs in _FEW_AND_MANY:
                    of_each = is_rejected(*dealt(generator, noise, effect, pairs, 0.0), ALPHAS)
                    rejected[label, of_order, pairs] += [*of_each, 1]
    header = ("pairs", "effect of the order", "weighings", *(f"alpha {alpha:g}" for alpha in ALPHAS))
    print(
        table(header, [_of_all(rejected, noises, of_order, pairs) for pairs in _FEW_AND_MANY for of_order in EFFECTS])
    )
    for place, found in rejected.items():
        for alpha, many in zip(ALPHAS, found[:-1], strict=True):
            if many / found[-1] > alpha + _NO_CHANCE * math.sqrt(alpha * (1 - alpha) / found[-1]):
                print(f"more than chance: {place}, alpha {alpha:g}: {many:.0f} of {found[-1]:.0f}")


def _of_all(
    rejected: Mapping[tuple[str, str, int], FloatArray], noises: Iterable[str], of_order: str, pairs: int
) -> list[str]:
    """A row of all noises together."""
    total = np.sum([rejected[label, of_order, pairs] for label in noises], axis=0)
    return [str(pairs), of_order, f"{total[-1]:.0f}", *(f"{share:.2%}" for share in total[:-1] / total[-1])]


def is_rejected(sides: FloatArray, order: IntArray, alphas: Sequence[float]) -> list[bool]:
    """Whether any look rejects "no change" at each alpha, without the order's effect."""
    baseline, candidate = map(np.log, without_order(sides[:, 0], sides[:, 1], order))
    asked = [Hypothesis(0.0, alpha) for alpha in alphas]
    looks = plan_looks(len(sides), ended=True)
    results = run_tests(candidate - baseline, (baseline + candidate) / 2, looks, asked, keep=False)
    return [result.rejected for result in results]


def main(asked: argparse.Namespace) -> None:
    """Print one of the tables."""
    header = ("noise", "effect of the order", "change", "as it is", "without the effect")
    if asked.alarms:
        alarms(UNKIND if asked.unkind else NOISES, asked.minutes, asked.seed)
    else:
        print(table(header, gains(asked.weighings, asked.seed)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Pairs whose order makes a difference, with that taken out and as is.")
    parser.add_argument("--weighings", type=int, default=40, help="of each kind")
    parser.add_argument("--alarms", action="store_true", help="the share of weighings that reject no change")
    parser.add_argument("--unkind", action="store_true", help="for --alarms: by noises that were made to deceive")
    parser.add_argument("--minutes", type=float, default=10, help="for --alarms")
    parser.add_argument("--seed", type=int, default=5)
    main(parser.parse_args())
