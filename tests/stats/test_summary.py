from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.stats.summary import centre, centres, median_distance, median_interval


def test_centre_of_normal_values_is_their_median_and_deviation() -> None:
    described = centre(np.random.default_rng(1).normal(100, 2, 20_000))
    assert described.median == pytest.approx(100, abs=0.1)
    assert described.spread == pytest.approx(0.02, rel=0.05)


def test_one_stall_moves_neither() -> None:
    values = np.append(np.random.default_rng(1).normal(100, 2, 99), 1e6)
    assert centre(values).median == pytest.approx(100, abs=1)
    assert centre(values).spread == pytest.approx(0.02, rel=0.3)


def test_values_of_zero_have_no_spread() -> None:
    assert centre(np.zeros(5)).spread == 0


@given(st.lists(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=9), min_size=1, max_size=9))
def test_many_samples_are_described_as_each_alone_by_numpy_to_the_last_bit(samples: list[list[float]]) -> None:
    medians, spreads = centres(np.concatenate(samples), np.array([len(sample) for sample in samples]))
    quartiles = [np.percentile(sample, [25, 50, 75]).tolist() for sample in samples]
    assert medians.tolist() == [median for _, median, _ in quartiles]
    with np.errstate(over="ignore"):
        expected = [np.float64(high - low) / 1.349 / median if median else 0.0 for low, median, high in quartiles]
    assert spreads.tolist() == expected
    alone = [centre(sample) for sample in samples]
    assert [(one.median, one.spread) for one in alone] == list(zip(medians, spreads, strict=True))


@pytest.mark.parametrize("n", [20, 100, 1500])
def test_the_interval_covers_the_median_as_often_as_it_says(n: int) -> None:
    generator = np.random.default_rng(2)
    level, tries = 0.05, 1500
    covered = 0
    for _ in range(tries):
        found = median_interval(generator.exponential(1.0, n), level)
        assert found is not None
        covered += found[0] <= np.log(2) <= found[1]
    assert covered / tries >= 1 - level - 3 * np.sqrt(level * (1 - level) / tries)


def test_no_interval_from_too_few_values() -> None:
    assert median_interval([1.0, 2.0, 3.0], 0.01) is None
    assert median_interval(range(8), 0.01) == (0.0, 7.0)


def test_the_median_distance_is_that_of_any_two() -> None:
    values = np.array([0.0, 1.0, 3.0, 7.0])
    assert median_distance(values) == np.median([1, 3, 7, 2, 6, 4])
    assert median_distance(values + 5) == median_distance(values)
