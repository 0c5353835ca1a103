"""Which part of the variance each level of an experiment has: layouts, launches within them, samples within these.

These are the unbiased estimates of Kalibera and Jones ("Rigorous benchmarking in reasonable time", ISMM 2013): the
variance between the means of one level contains that of the levels below, divided by their repetitions; without it, it
is the level's own. As the means are not weighted, it is unbiased even where some have more repetitions than others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from steelyard.stats.arrays import FloatArray, IntArray

# Fewer where so many values would take seconds, and as many at once as memory easily holds.
_RELABELLINGS, _FEWEST_RELABELLINGS = 1999, 99
_VALUES_DEALT, _VALUES_AT_ONCE = 10_000_000, 1_000_000


class Components(NamedTuple):
    """Variances, each of one unit of its level beyond what the levels below explain; 0 where that would be negative."""

    layout: float
    launch: float
    sample: float

    def shares(self) -> tuple[float, float, float]:
        """Each as a share of their sum."""
        whole = sum(self) or 1.0
        return self.layout / whole, self.launch / whole, self.sample / whole


def components(layouts: Sequence[Sequence[FloatArray]]) -> Components:
    """Split the variance of values: layouts of launches of samples, (r,) each, of any lengths."""
    launches = [launch for layout in layouts for launch in layout]
    sample, within = _pooled(launches)
    means = np.split(_means(launches), np.cumsum([len(layout) for layout in layouts])[:-1])
    launch_and_sample, _ = _pooled(means)
    launch = max(0.0, launch_and_sample - within)
    return Components(variance_between(means)[0], launch, sample)


def variance_between(groups: Sequence[FloatArray]) -> tuple[float, float]:
    """The variance of the groups' true means, and what noise within groups adds to it: their sum is observed."""
    if len(groups) < 2:
        return 0.0, 0.0
    _, added = _pooled(groups)
    observed = float(np.var(_means(groups), ddof=1))
    return max(0.0, observed - added), min(observed, added)


def _pooled(groups: Sequence[FloatArray]) -> tuple[float, float]:
    """The variance within groups, and the mean variance that it gives their means; 0 if no group has two values."""
    sizes = np.array([len(group) for group in groups])
    freedom = int((sizes - 1).sum())
    if not freedom:
        return 0.0, 0.0
    deviations = np.concatenate(groups) - np.repeat(_means(groups), sizes)
    variance = float((deviations**2).sum()) / freedom
    return variance, variance * float((1 / sizes).mean())


def _means(groups: Sequence[FloatArray]) -> FloatArray:
    """The mean of each group, which has at least one value."""
    sizes = np.array([len(group) for group in groups])
    return np.asarray(np.add.reduceat(np.concatenate(groups), np.cumsum(sizes) - sizes) / sizes)


def layouts_p_value(values: FloatArray, layouts: IntArray) -> float:
    """How often equal layouts would differ as much, found by dealing the layouts (n,) of the values (n,) at random.

    Identical copies of one build are equal layouts. The same input always gives the same result.
    """
    numbers, sizes = np.unique(layouts, return_counts=True)
    if len(numbers) < 2 or len(values) == len(numbers):
        return 1.0
    ordered = values[np.argsort(layouts, kind="stable")]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    generator, observed = np.random.default_rng(1), _squares_between(ordered[None], starts, sizes)[0]
    relabellings = min(_RELABELLINGS, max(_FEWEST_RELABELLINGS, _VALUES_DEALT // len(ordered)))
    at_once = max(1, _VALUES_AT_ONCE // len(ordered))
    as_large = 0
    for remaining in range(relabellings, 0, -at_once):
        relabelled = generator.permuted(np.broadcast_to(ordered, (min(remaining, at_once), len(ordered))), axis=1)
        as_large += int((_squares_between(relabelled, starts, sizes) >= observed * (1 - 1e-12)).sum())
    return (1 + as_large) / (1 + relabellings)


def _squares_between(rows: FloatArray, starts: IntArray, sizes: IntArray) -> FloatArray:
    """The weighted sum of squares of the groups' means, (rows,): the F ratio depends on nothing else that varies."""
    sums = np.add.reduceat(rows - rows.mean(axis=1, keepdims=True), starts, axis=1)
    return np.asarray((sums**2 / sizes).sum(axis=1))
