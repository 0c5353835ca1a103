from __future__ import annotations

import numpy as np
import pytest

from steelyard.stats.power_law import fit


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0, -1.0])
def test_an_exact_power_is_found(exponent: float) -> None:
    x = np.array([1.0, 2.0, 8.0, 64.0])
    found = fit(x, 3 * x**exponent)
    assert found is not None
    assert (found.exponent, found.scale) == pytest.approx((exponent, 3.0))
    assert found.misses == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(found.at([5.0]), 3 * 5.0**exponent)


def test_noise_and_one_point_that_is_off_hardly_bend_it() -> None:
    """Of 500 curves of 8 sizes, with 3 % of noise and one size twice as slow, 95 % are within 0.1 of the exponent."""
    random = np.random.default_rng(5)
    x = 2.0 ** np.arange(4, 12)
    off = 0
    for _ in range(500):
        y = x**1.5 * np.exp(0.03 * random.normal(size=len(x)))
        y[random.integers(len(x))] *= 2
        found = fit(x, y)
        assert found is not None
        off += abs(found.exponent - 1.5) > 0.1
    assert off <= 25


def test_what_no_power_can_be_fitted_to_has_none() -> None:
    assert fit([1, 2], [1, 2]) is None
    assert fit([1, 1, 2], [1, 2, 3]) is None
    assert fit([0, 1, 2], [1, 2, 3]) is None
    assert fit([1, 2, 3], [1, 0, 3]) is None
