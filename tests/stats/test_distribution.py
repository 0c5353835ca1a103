from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from steelyard.stats import distribution


def test_normal_scores_are_fillibens() -> None:
    theirs = stats.probplot(np.arange(25.0), fit=False)[0]
    np.testing.assert_allclose(distribution.normal_scores(25), theirs, rtol=1e-9)
    assert distribution.normal_scores(1).tolist() == [0.0]


def test_correlation_is_pearsons_and_none_of_what_does_not_vary() -> None:
    one, other = np.random.default_rng(3).normal(size=(2, 40))
    assert distribution.correlation(one, other) == pytest.approx(stats.pearsonr(one, other).statistic)
    assert distribution.correlation([1, 1, 1], [1, 2, 3]) is None
    assert distribution.correlation([1, 2], [1, 2]) is None
    assert distribution.correlation([0.1] * 7, range(7)) is None
    for scale in (1e-200, 1e200):
        assert distribution.correlation(scale * one, other) == pytest.approx(stats.pearsonr(one, other).statistic)


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
