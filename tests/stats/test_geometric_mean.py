from __future__ import annotations

import numpy as np
import pytest

from steelyard.stats.geometric_mean import geometric_mean


def test_half_widths_add_as_squares_beside_what_all_have_in_common() -> None:
    changes = np.log1p([0.01, 0.02, -0.01, 0.0])
    mean, lower, upper = geometric_mean(changes, changes - 0.004, changes + 0.008, independent=True)
    assert mean == pytest.approx(changes.mean())
    assert mean - lower == pytest.approx(0.004 / 2 + 0.2 * 0.004)
    assert upper - mean == pytest.approx(0.008 / 2 + 0.2 * 0.008)


def test_of_shared_starts_the_interval_is_as_wide_as_those_of_the_benchmarks() -> None:
    changes, half_widths = np.zeros(3), np.array([0.001, 0.002, 0.006])
    _, lower, upper = geometric_mean(changes, changes - half_widths, changes + half_widths, independent=False)
    assert (lower, upper) == pytest.approx((-0.003, 0.003))


def test_one_wide_interval_makes_that_of_the_mean_no_wider_than_all_in_common() -> None:
    changes, half_widths = np.zeros(2), np.array([1e-6, 0.01])
    _, _, upper = geometric_mean(changes, changes - half_widths, changes + half_widths, independent=True)
    assert upper == pytest.approx(half_widths.mean())


def test_the_true_mean_is_held_where_all_are_a_little_off_the_same_way() -> None:
    """As estimates at a stop are: off by a fifth of their half-widths at most, which are 2.6 standard errors each."""
    generator = np.random.default_rng(1)
    for many in (2, 20, 100):
        changes = generator.normal(0.1, 0.5 / 2.6, (300, many))
        found = [geometric_mean(row, row - 0.5, row + 0.5, independent=True) for row in changes]
        assert np.mean([lower <= 0 <= upper for _, lower, upper in found]) >= 0.99
