from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats
from hypothesis import example, given, settings
from hypothesis import strategies as st

from steelyard.stats import signed_rank
from steelyard.stats.signed_rank import (
    critical_count,
    estimate,
    fewest_differences,
    lower_tail,
    null_cdf,
    p_value,
    walsh_averages,
)

FloatArray = npt.NDArray[np.float64]
differences = st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=1, max_size=40)


def all_walsh(d: FloatArray) -> FloatArray:
    rows, columns = np.triu_indices(len(d))
    ordered = np.sort(d)
    return np.sort((ordered[rows] + ordered[columns]) / 2)


@pytest.mark.parametrize("n", [1, 2, 7, 15, 40, 200])
def test_p_value_agrees_with_scipy_on_untied_differences(n: int) -> None:
    generator = np.random.default_rng(n)
    for shift in (0.0, 0.3, -0.8):
        d = generator.normal(shift, 1.0, n)
        assert p_value(d) == pytest.approx(scipy.stats.wilcoxon(d, method="exact").pvalue, rel=1e-9)


def test_null_distribution_of_three_differences_by_hand() -> None:
    # The sign patterns of the ranks 1, 2, 3 give the sums 0, 1, 2, 3, 3, 4, 5, 6.
    assert null_cdf(3).tolist() == pytest.approx(np.array([1, 2, 3, 5, 6, 7, 8]) / 8)


@pytest.mark.parametrize("level", [0.05, 0.01, 0.001, 0.0001])
@pytest.mark.parametrize("n", [12, 29, 111, 271, 423, 2000])
def test_the_critical_count_never_exceeds_the_level_and_one_more_would(n: int, level: float) -> None:
    count = critical_count(n, level)
    assert 2 * lower_tail(n, count) <= level
    assert 2 * lower_tail(n, count + 1) > level


@pytest.mark.parametrize("level", [0.01, 0.001, 0.0001])
def test_normal_approximation_errs_on_the_safe_side_and_by_little(level: float) -> None:
    n = signed_rank.EXACT_UP_TO
    exact = 2 * lower_tail(n, critical_count(n, level))
    mean, deviation = n * (n + 1) / 4, np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    approximate = 2 * scipy.stats.norm.cdf((critical_count(n, level) + 0.5 - mean) / deviation)
    assert exact <= approximate <= 1.1 * exact


def test_fewest_differences_is_where_one_sign_alone_reaches_the_level() -> None:
    assert [fewest_differences(level) for level in (0.5, 0.05, 0.01, 0.001)] == [2, 6, 8, 11]


@given(differences, st.sampled_from([0.2, 0.05, 0.01]))
def test_interval_and_p_value_are_the_same_statement(values: list[float], level: float) -> None:
    d = np.array(values)
    found = estimate(d, level)
    excludes_zero = found.lower > 0 or found.upper < 0
    assert excludes_zero == (critical_count(len(d), level) >= 0 and p_value(d) <= level)


@given(differences)
def test_estimate_is_the_median_of_the_walsh_averages_and_lies_in_the_interval(values: list[float]) -> None:
    d = np.array(values)
    found = estimate(d, 0.05)
    assert found.centre == pytest.approx(float(np.median(all_walsh(d))), abs=1e-15)
    assert found.lower <= found.centre <= found.upper


@given(differences)
@example([1.0, 1.0, -1.0])
def test_swapping_the_sides_mirrors_everything(values: list[float]) -> None:
    d = np.array(values)
    there, back = estimate(d, 0.05), estimate(-d, 0.05)
    assert (back.centre, back.lower, back.upper) == (-there.centre, -there.upper, -there.lower)
    assert p_value(d) == p_value(-d)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.booleans(), st.floats(0, 1))
def test_counting_finds_the_same_walsh_average_as_forming_all(seed: int, tied: bool, place: float) -> None:
    d = np.random.default_rng(seed).standard_t(2, 600)
    d = np.sort(np.round(d) if tied else d)
    everything = all_walsh(d)
    rank = 1 + int(place * (len(everything) - 1))
    assert walsh_averages(d, [rank])[0] == pytest.approx(everything[rank - 1], abs=1e-12)


def test_identical_differences_give_an_interval_of_one_point() -> None:
    for n in (20, 2000):
        found = estimate(np.full(n, 0.25), 0.01)
        assert (found.centre, found.lower, found.upper) == (0.25, 0.25, 0.25)


def test_too_few_differences_exclude_nothing() -> None:
    found = estimate([1.0, 1.1, 1.2], 0.01)
    assert (found.lower, found.upper) == (-np.inf, np.inf)


@pytest.mark.parametrize("n", [10, 30])
def test_coverage_on_tied_and_skew_free_noise(n: int) -> None:
    generator = np.random.default_rng(5)
    level, tries = 0.05, 2000
    for draws in (np.round(generator.normal(0, 1.5, (tries, n))), generator.standard_cauchy((tries, n))):
        covered = sum(found.lower <= 0 <= found.upper for found in (estimate(d, level) for d in draws))
        assert covered / tries >= 1 - level - 3 * np.sqrt(level * (1 - level) / tries)
