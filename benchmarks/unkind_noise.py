"""Noises made to deceive a test of pairs: heavy, sudden, periodic, tied, or of one launch of each pair alone.

Each is the same for both sides: the columns are the first and second launch of a pair, and a coin deals them later.
None of them was used to choose anything in `steelyard.stats`.
"""

from __future__ import annotations

import numpy as np

from benchmarks.simulation import FloatArray, Noise


def clustered(generator: np.random.Generator, pairs: int) -> FloatArray:
    """The size of the noise follows its own past (GARCH): large noise is followed by large noise."""
    variance, logs = 1e-4, np.empty(2 * pairs)
    for launch in range(2 * pairs):
        logs[launch] = np.sqrt(variance) * generator.standard_normal()
        variance = 1e-6 + 0.25 * logs[launch] ** 2 + 0.74 * variance
    return np.exp(logs).reshape(-1, 2)


def steps(generator: np.random.Generator, pairs: int) -> FloatArray:
    """Levels 20 % apart that hold for stretches without a mean length, within pairs and across them."""
    levels: list[float] = []
    while len(levels) < 2 * pairs:
        levels += [0.2 * generator.standard_normal()] * (1 + int(min(3 * generator.pareto(0.9), 2 * pairs)))
    logs: FloatArray = np.array(levels[: 2 * pairs]) + 0.003 * generator.standard_normal(2 * pairs)
    return np.exp(logs).reshape(-1, 2)


def beating(generator: np.random.Generator, pairs: int) -> FloatArray:
    """A neighbour that costs 10 % in nearly every second launch: in step with the pairs, for a while."""
    turns = (0.5 + 0.01 * generator.standard_normal()) * np.arange(2 * pairs) + generator.random()
    beside: FloatArray = 0.1 * (np.sin(2 * np.pi * turns) > 0.3)
    return np.exp(beside.reshape(-1, 2) + 0.004 * generator.standard_normal((pairs, 2)))


def cauchy(generator: np.random.Generator, pairs: int) -> FloatArray:
    """Neither variance nor mean."""
    return np.exp(np.clip(0.003 * generator.standard_cauchy((pairs, 2)), -3, 3))


def three_values(generator: np.random.Generator, pairs: int) -> FloatArray:
    """A third of all pairs are tied."""
    return np.asarray(1 + 0.01 * generator.integers(0, 3, (pairs, 2)))


def mostly_equal(generator: np.random.Generator, pairs: int) -> FloatArray:
    """One launch in ten is up to twice as long, all others are equal to the last digit."""
    late = generator.random((pairs, 2)) < 0.1
    return 1 + late * generator.exponential(0.2, (pairs, 2))


def first_is_noisy(generator: np.random.Generator, pairs: int) -> FloatArray:
    """The first launch of each pair varies ten times as much."""
    return np.exp(generator.standard_normal((pairs, 2)) * [0.03, 0.003])


def first_is_late(generator: np.random.Generator, pairs: int) -> FloatArray:
    """The first launch of each pair has delays, the second next to none."""
    return np.exp(generator.exponential(1.0, (pairs, 2)) * [0.05, 0.004])


def warming(generator: np.random.Generator, pairs: int) -> FloatArray:
    """The machine becomes 30 % slower, in jumps of any size."""
    rising = 1 + 0.3 * np.sort(generator.random(2 * pairs))
    return rising.reshape(-1, 2) * np.exp(0.002 * generator.standard_normal((pairs, 2)))


def steep(generator: np.random.Generator, pairs: int) -> FloatArray:
    """The machine becomes twenty times as slow, by the same share at each launch."""
    return np.exp(np.linspace(0, 3, 2 * pairs).reshape(-1, 2) + 0.002 * generator.standard_normal((pairs, 2)))


def storm_and_calm(generator: np.random.Generator, pairs: int) -> FloatArray:
    """A hundred times as noisy until some pair, and calm afterwards."""
    sizes = np.where(np.arange(pairs) < generator.integers(1, pairs), 0.2, 0.002)
    return np.exp(sizes[:, None] * generator.standard_normal((pairs, 2)))


def every_seventh(generator: np.random.Generator, pairs: int) -> FloatArray:
    """In every seventh pair, from a random one on, the first launch takes half as long again."""
    values = np.exp(0.002 * generator.standard_normal((pairs, 2)))
    values[0] *= np.exp(generator.standard_normal(2))
    values[::7, 0] *= 1.5
    return values


def echoing(generator: np.random.Generator, pairs: int) -> FloatArray:
    """A stall in one launch also affects the next one, whether or not it is of the same pair."""
    stalls = (generator.random(2 * pairs) < 0.08) * generator.exponential(0.5, 2 * pairs)
    felt = stalls + 0.6 * np.concatenate([[0.0], stalls[:-1]])
    return np.exp(felt.reshape(-1, 2) + 0.002 * generator.standard_normal((pairs, 2)))


UNKIND: dict[str, Noise] = {
    noise.__name__.replace("_", " "): noise
    for noise in (
        clustered,
        steps,
        beating,
        cauchy,
        three_values,
        mostly_equal,
        first_is_noisy,
        first_is_late,
        warming,
        steep,
        storm_and_calm,
        every_seventh,
        echoing,
    )
}
