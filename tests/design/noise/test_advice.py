"""Advice has to rest on more than chance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from steelyard.design.noise.advice import Cost
from steelyard.design.noise.findings import no_gain_reason
from steelyard.stats.prospects import deviation

Draw = Callable[[np.random.Generator, int], np.ndarray[tuple[int], np.dtype[np.float64]]]
MEASUREMENTS = 400

NOISES: dict[str, Draw] = {
    "normal": lambda generator, pairs: generator.normal(size=pairs),
    "long tails": lambda generator, pairs: generator.standard_t(2, pairs),
    "stalls": lambda generator, pairs: generator.normal(size=pairs) * np.where(generator.random(pairs) < 0.1, 10, 1),
}


def share_advised(draw: Draw, pairs: int, usual: int, calmer: float) -> float:
    """Return how often a processor is advised whose pairs differ by `calmer` times what they do elsewhere."""
    generator = np.random.default_rng(1)
    told = []
    for _ in range(MEASUREMENTS):
        part = (deviation(calmer * draw(generator, pairs)) / deviation(draw(generator, usual))) ** 2
        told.append(Cost(part, pairs, usual).is_less)
    return float(np.mean(told))


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("pairs", "usual"), [(8, 19), (20, 60), (40, 120)])
def test_no_processor_is_advised_where_all_are_alike(noise: str, pairs: int, usual: int) -> None:
    """At most one measurement in forty may advise one of two; the numbers are those of busy and of calm machines."""
    assert 2 * share_advised(NOISES[noise], pairs, usual, 1.0) <= 1 / 40


@pytest.mark.parametrize("noise", NOISES)
def test_one_that_is_much_calmer_is_advised(noise: str) -> None:
    assert share_advised(NOISES[noise], 40, 120, 0.4) > 0.8


def test_a_tenth_of_the_time_is_called_chance_where_it_may_be_and_no_small_gain() -> None:
    assert no_gain_reason([Cost(1.1, 3, 9), Cost(0.1, 3, 9)]) == "so few pairs as were measured may show that by chance"
    assert no_gain_reason([Cost(0.9, 40, 120)]) == "that is no clear gain"
