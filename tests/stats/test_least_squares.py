from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.stats.least_squares import non_negative, pearson

FloatArray = npt.NDArray[np.float64]


def residual(a: FloatArray, b: FloatArray, x: FloatArray) -> float:
    return float(np.linalg.norm(a @ x - b))


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 4))
@settings(deadline=None, max_examples=150)
def test_it_agrees_with_scipy(seed: int, rows: int, columns: int) -> None:
    generator = np.random.default_rng(seed)
    a, b = generator.normal(size=(rows, columns)), generator.normal(size=rows)
    x = non_negative(a, b)
    oracle, least = scipy.optimize.nnls(a, b)
    assert (x >= 0).all()
    assert residual(a, b, x) == pytest.approx(least, abs=1e-9)
    if rows >= columns:
        assert x == pytest.approx(oracle, abs=1e-6)


def test_it_finds_weights_back() -> None:
    generator = np.random.default_rng(1)
    hits = generator.uniform(0, 1, (30, 3)) * [20, 4, 1]
    assert non_negative(hits, hits @ [0.2, 1.1, 40.0]) == pytest.approx([0.2, 1.1, 40.0])


def test_what_would_be_negative_becomes_zero() -> None:
    a = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    x = non_negative(a, [3.0, 2.0, 1.0])
    assert x == pytest.approx([2.0, 0.0])


def test_nothing_but_zero_fits_where_all_point_away() -> None:
    assert non_negative([[1.0, 2.0], [3.0, 1.0]], [-1.0, -2.0]) == pytest.approx([0, 0])


def test_columns_of_zeros_and_equal_columns() -> None:
    a = np.array([[1.0, 0.0, 1.0], [2.0, 0.0, 2.0], [3.0, 0.0, 3.0]])
    x = non_negative(a, [2.0, 4.0, 6.0])
    assert x[1] == 0
    assert a @ x == pytest.approx([2.0, 4.0, 6.0])


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_columns_of_very_different_sizes(scale: float) -> None:
    a = np.array([[1.0, 3.0], [1.0, 5.0], [1.0, 9.0]]) * [1.0, scale]
    assert non_negative(a, a @ [2.0, 4.0 / scale]) == pytest.approx([2.0, 4.0 / scale])


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=3, max_size=30))
@settings(deadline=None, max_examples=150)
def test_pearson_agrees_with_scipy(pairs: list[tuple[float, float]]) -> None:
    x, y = (np.round(column, 3) for column in np.array(pairs).T)
    if np.ptp(x) < 1 or np.ptp(y) < 1:
        return
    assert pearson(x, y) == pytest.approx(scipy.stats.pearsonr(x, y).statistic, abs=1e-6)


@pytest.mark.parametrize(
    ("x", "y"), [([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]), ([1.0, 2.0], [0.1, 0.1]), ([0.1] * 7, list(range(7))), ([1], [2])]
)
def test_what_does_not_vary_correlates_with_nothing(x: list[float], y: list[float]) -> None:
    assert pearson(x, y) is None


def test_pearson_stays_within_its_bounds() -> None:
    x = np.array([0.1, 0.2, 0.3, 0.7])
    assert pearson(x, 3 * x) == pytest.approx(1)
    assert (pearson(x, -x) or 0.0) >= -1
    for scale in (1e-200, 1e200):
        assert pearson(scale * x, x) == pytest.approx(1)
