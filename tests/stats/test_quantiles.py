from __future__ import annotations

import math

import pytest
from scipy import stats

from steelyard.stats.quantiles import normal_quantile, student_quantile


@pytest.mark.parametrize("freedom", [*range(1, 13), 30])
@pytest.mark.parametrize("level", [0.2, 0.01, 1e-5])
def test_student_s_quantile_is_scipy_s(freedom: int, level: float) -> None:
    assert student_quantile(freedom, level) == pytest.approx(stats.t.ppf(1 - level / 2, freedom), rel=1e-6)
    assert student_quantile(freedom, 0.0) == math.inf


@pytest.mark.parametrize("level", [0.2, 0.01, 1e-5])
def test_the_normal_quantile_is_scipy_s(level: float) -> None:
    assert normal_quantile(level) == pytest.approx(stats.norm.ppf(1 - level / 2))
