from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from steelyard.stats import distribution

values = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=200)


@given(values)
def test_every_value_is_counted_once(numbers: list[float]) -> None:
    edges = distribution.edges(np.array(numbers))
    assert (np.diff(edges) > 0).all()
    assert len(edges) <= distribution.MOST_BINS + 1
    assert distribution.counts(numbers, edges).sum() == len(numbers)


def test_the_bins_are_as_freedman_and_diaconis_have_them() -> None:
    sample = np.random.default_rng(1).normal(size=500)
    theirs = np.histogram_bin_edges(sample, "fd")
    assert len(distribution.edges(sample)) == pytest.approx(len(theirs), abs=1)


def test_a_straggler_does_not_squeeze_the_others() -> None:
    sample = [*np.random.default_rng(2).normal(size=200), 1e6]
    edges = distribution.edges(np.array(sample))
    assert edges[-1] < 10
    assert distribution.beyond(sample, edges) >= 1
    assert distribution.counts(sample, edges)[-1] >= 1


def test_two_samples_far_apart_keep_their_shapes() -> None:
    random = np.random.default_rng(6)
    edges = distribution.edges(random.normal(size=100), random.normal(50, size=100))
    assert len(edges) == distribution.MOST_BINS + 1


def test_normal_scores_are_fillibens() -> None:
    theirs = stats.probplot(np.arange(25.0), fit=False)[0]
    np.testing.assert_allclose(distribution.normal_scores(25), theirs, rtol=1e-9)
    assert distribution.normal_scores(1).tolist() == [0.0]


def test_correlation_is_pearsons_and_none_of_what_does_not_vary() -> None:
    one, other = np.random.default_rng(3).normal(size=(2, 40))
    assert distribution.correlation(one, other) == pytest.approx(stats.pearsonr(one, other).statistic)
    assert distribution.correlation([1, 1, 1], [1, 2, 3]) is None
    assert distribution.correlation([1, 2], [1, 2]) is None


def test_a_normal_sample_follows_its_scores_and_a_skewed_one_does_not() -> None:
    random = np.random.default_rng(4)
    normal, skewed = (
        distribution.normality(random.normal(size=200)),
        distribution.normality(random.exponential(size=200)),
    )
    assert normal is not None
    assert skewed is not None
    assert normal > 0.99 > 0.97 > skewed
    assert distribution.normality([2.0, 2.0, 2.0]) is None
