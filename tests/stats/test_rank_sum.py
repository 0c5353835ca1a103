from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from steelyard.stats import rank_sum
from steelyard.stats.rank_sum import EXACT_UP_TO, critical_count, lower_tail, null_cdf, p_value, shift, superiority

values = st.lists(st.floats(-3, 3).map(lambda value: round(value, 2)), min_size=1, max_size=30)


def test_the_null_distribution_is_that_of_all_arrangements() -> None:
    counts = [sum(ranks) - 6 for ranks in combinations(range(1, 8), 3)]
    expected = [np.mean([count <= u for count in counts]) for u in range(13)]
    assert null_cdf(3, 4) == pytest.approx(expected)


@pytest.mark.parametrize(("n", "m"), [(5, 9), (20, 12), (40, 40), (7, 60), (41, 60), (300, 200)])
@pytest.mark.parametrize("moved", [0.0, 0.4, -1.0])
def test_the_p_value_is_scipy_s(n: int, m: int, moved: float) -> None:
    generator = np.random.default_rng(n)
    x, y = generator.standard_normal(n), generator.standard_normal(m) + moved
    method = "exact" if max(n, m) <= EXACT_UP_TO else "asymptotic"
    assert shift(x, y, 0.01).p_value == pytest.approx(stats.mannwhitneyu(y, x, method=method).pvalue, rel=1e-9)


@given(values, values)
def test_centre_and_ends_are_order_statistics_of_all_differences(x: list[float], y: list[float]) -> None:
    found = shift(x, y, 0.05)
    differences = np.sort(np.subtract.outer(y, x).ravel())
    outside = critical_count(len(x), len(y), 0.05)
    assert found.centre == pytest.approx(float(np.median(differences)), abs=1e-12)
    if outside >= 0:
        ends = differences[outside], differences[len(differences) - 1 - outside]
        assert (found.lower, found.upper) == pytest.approx(ends, abs=1e-12)
    else:
        assert (found.lower, found.upper) == (-np.inf, np.inf)


def test_many_launches_are_counted_not_formed() -> None:
    generator = np.random.default_rng(3)
    x, y = generator.standard_normal(500), np.round(generator.standard_normal(700), 1)
    found, differences = shift(x, y, 0.01), np.sort(np.subtract.outer(y, x).ravel())
    outside = critical_count(500, 700, 0.01)
    assert found.centre == pytest.approx(float(np.median(differences)), abs=1e-12)
    assert found.lower == pytest.approx(differences[outside], abs=1e-12)


@given(values, values)
def test_swapping_the_sides_mirrors_everything(x: list[float], y: list[float]) -> None:
    one, other = shift(x, y, 0.05), shift(y, x, 0.05)
    assert (one.lower, one.centre, one.upper) == pytest.approx((-other.upper, -other.centre, -other.lower), abs=1e-12)
    assert one.p_value == pytest.approx(other.p_value)
    assert p_value(x, y) == one.p_value


def test_counting_finds_the_differences_that_forming_all_does(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(5)
    for n, m, decimals in ((40, 40, 9), (7, 60, 1), (3, 2, 9), (30, 30, 0)):
        x, y = generator.normal(0, 1, n).round(decimals), generator.normal(0.2, 1, m).round(decimals)
        formed = shift(x, y, 0.01)
        monkeypatch.setattr(rank_sum, "_FORM_ALL_UP_TO", 0)
        assert shift(x, y, 0.01) == formed
        monkeypatch.undo()


def test_ties_show_nothing() -> None:
    same = shift([1.0] * 300, [1.0] * 200, 0.01)
    assert same.p_value == 1
    assert (same.lower, same.centre, same.upper) == pytest.approx((0, 0, 0), abs=1e-12)


def test_too_few_launches_have_no_interval() -> None:
    assert critical_count(3, 4, 0.01) == -1
    assert shift([0, 0, 0], [9, 9, 9, 9], 0.01).lower == -np.inf


@pytest.mark.parametrize(("n", "m"), [(4, 4), (10, 10), (20, 12), (40, 40), (7, 60), (60, 7), (41, 60), (300, 200)])
@pytest.mark.parametrize("level", [0.05, 0.01, 1e-4])
def test_the_critical_count_is_the_largest_that_keeps_the_level(n: int, m: int, level: float) -> None:
    u = critical_count(n, m, level)
    assert 2 * lower_tail(n, m, u) <= level < 2 * lower_tail(n, m, u + 1)


@pytest.mark.parametrize(("n", "m"), [(4, 5), (7, 60)])
def test_the_lower_tail_is_0_below_all_counts_and_1_at_the_largest(n: int, m: int) -> None:
    assert (lower_tail(n, m, -1), lower_tail(n, m, n * m)) == (0, 1)
    assert 0 < lower_tail(n, m, 0) < lower_tail(n, m, n * m - 1) < 1


def test_the_approximation_takes_over_on_the_safe_side() -> None:
    exact = null_cdf(EXACT_UP_TO + 5, EXACT_UP_TO + 5)
    u = critical_count(EXACT_UP_TO + 5, EXACT_UP_TO + 5, 0.01)
    assert exact[u] <= lower_tail(EXACT_UP_TO + 5, EXACT_UP_TO + 5, u) <= 1.06 * exact[u]


def test_superiority_is_the_share_of_comparisons_that_y_wins() -> None:
    assert superiority([1.0, 2.0], [3.0, 4.0]) == 1
    assert superiority([3.0, 4.0], [1.0, 2.0]) == 0
    assert superiority([1.0, 2.0, 3.0], [2.0]) == 0.5
    assert superiority([1.0, 1.0, 5.0, 5.0], [1.0, 6.0]) == (2 * 0.5 + 4) / 8
