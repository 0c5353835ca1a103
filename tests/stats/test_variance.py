"""Variance components: unbiased, and equal layouts differ no more than by chance."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.stats.variance import components, layouts_p_value, variance_between


def drawn(
    generator: np.random.Generator, sizes: list[list[int]], layout: float, launch: float, sample: float
) -> list[list[np.ndarray]]:
    """Return values by layout and launch, sizes[layout][launch] samples each, with these standard deviations."""
    return [
        [
            of_layout + launch * generator.standard_normal() + sample * generator.standard_normal(samples)
            for samples in launches
        ]
        for launches, of_layout in zip(sizes, layout * generator.standard_normal(len(sizes)), strict=True)
    ]


@pytest.mark.parametrize("sizes", [[[4] * 6] * 5, [[2, 5, 3], [4], [3] * 7, [6, 2]]], ids=["balanced", "uneven"])
def test_each_level_has_its_own_variance_on_average(sizes: list[list[int]]) -> None:
    generator = np.random.default_rng(1)
    found = np.array([components(drawn(generator, sizes, 3.0, 2.0, 1.0)) for _ in range(1000)])
    assert found.mean(axis=0) == pytest.approx([9.0, 4.0, 1.0], rel=0.12)


def test_a_level_without_variance_has_next_to_none() -> None:
    generator = np.random.default_rng(2)
    found = [components(drawn(generator, [[3] * 20] * 10, 0.0, 2.0, 1.0)) for _ in range(200)]
    assert np.mean([one.shares()[0] for one in found]) < 0.03


def test_single_values_leave_nothing_to_the_levels_below() -> None:
    values = [[np.array([1.0])], [np.array([3.0])]]
    assert components(values) == (2.0, 0.0, 0.0)
    assert components([[np.array([1.0, 3.0])]]) == (0.0, 0.0, 2.0)
    assert components([[np.array([1.0])]]).shares() == (0.0, 0.0, 0.0)


def test_the_variance_of_means_is_theirs_and_the_noise_within() -> None:
    own, added = variance_between([np.array([0.0, 2.0]), np.array([10.0, 12.0])])
    assert [own, added] == pytest.approx([49.0, 1.0])


def test_equal_layouts_are_called_unlike_as_rarely_as_is_said() -> None:
    generator = np.random.default_rng(3)
    layouts = np.tile(np.arange(5), 8)
    found = np.array([layouts_p_value(generator.standard_t(2, 40), layouts) for _ in range(100)])
    assert (found <= 0.1).mean() == pytest.approx(0.1, abs=0.07)


def test_unlike_layouts_are_called_so() -> None:
    generator = np.random.default_rng(4)
    layouts = np.tile(np.arange(5), 8)
    values = 3.0 * layouts + generator.standard_normal(40)
    assert layouts_p_value(values, layouts) == 1 / 2000
    assert layouts_p_value(values[:5], layouts[:5]) == 1.0  # one value per layout: nothing to compare it with
    assert layouts_p_value(values, np.ones(40, dtype=np.int64)) == 1.0


def test_many_values_are_dealt_less_often_and_no_differently() -> None:
    generator = np.random.default_rng(5)
    layouts = np.tile(np.arange(2), 30_000)
    values = generator.standard_normal(60_000)
    assert layouts_p_value(values + 0.1 * layouts, layouts) == 1 / 167
    assert layouts_p_value(values, layouts) > 0.01
