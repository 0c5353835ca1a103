from __future__ import annotations

import numpy as np
from scipy import stats

from steelyard.stats import distribution


def test_normal_scores_are_fillibens() -> None:
    theirs = stats.probplot(np.arange(25.0), fit=False)[0]
    np.testing.assert_allclose(distribution.normal_scores(25), theirs, rtol=1e-9)
    assert distribution.normal_scores(1).tolist() == [0.0]


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
