from __future__ import annotations

import pytest

from steelyard.design.calibration.fit import correlation, fit_error, fit_of, fit_patterns
from steelyard.model.calibration import Point
from steelyard.model.counting import Weights
from steelyard.model.errors import MeasurementError
from tests.calibrations import point

L1_NS, LL_NS, RAM_NS = 0.2, 1.0, 8.0
PATTERNS = ("linear", "random", "chase")
# (L1, LL, RAM) hits per iteration: the larger the array, the further out.
HITS = ((20.0, 0.0, 0.0), (16.0, 4.0, 0.0), (16.0, 1.0, 3.0))


def points() -> list[Point]:
    """Return the points of a machine that takes the time of its hits and nothing else."""
    return [
        point(pattern, l1 * L1_NS + ll * LL_NS + ram * RAM_NS, l1=l1, ll=ll, ram=ram)
        for pattern in PATTERNS
        for l1, ll, ram in HITS
    ]


def test_the_fit_finds_what_the_hits_take() -> None:
    fit = fit_of(points())
    assert (fit.l1_ns, fit.ll_ns, fit.ram_ns) == pytest.approx((L1_NS, LL_NS, RAM_NS), rel=1e-3)
    assert fit.weights is not None
    assert fit.weights.name == "calibrated"
    assert (fit.weights.l1, fit.weights.ll, fit.weights.ram) == pytest.approx((1, 5, 40), rel=1e-3)
    assert fit.predicted_ns(points()[0]) == pytest.approx(points()[0].ns, rel=1e-3)


def test_the_error_is_relative() -> None:
    assert fit_error(points()) == pytest.approx(0, abs=1e-9)
    # Two points with the same hits, one of which takes twice as long: the best weight predicts 2.4 ns.
    pair = [point("chase", ns, l1=10.0) for ns in (2.0, 4.0)]
    assert fit_error(pair) == pytest.approx((0.5 * (0.2**2 + 0.4**2)) ** 0.5)


def test_every_pattern_has_its_own_weights_and_correlations() -> None:
    slow = [one.model_copy(update={"ns": one.ns * 3}) if one.pattern == "chase" else one for one in points()]
    fit, patterns = fit_patterns(slow)
    assert [one.pattern for one in patterns] == list(PATTERNS)
    by_name = {one.pattern: one for one in patterns}
    assert by_name["chase"].fit.predicted_ns(slow[-1]) == pytest.approx(slow[-1].ns, rel=1e-3)
    assert fit.predicted_ns(slow[-1]) < 0.9 * slow[-1].ns
    for one in patterns:
        assert one.by_default == pytest.approx(1, abs=1e-2)
        assert one.by_own == pytest.approx(1, abs=1e-6)


def test_times_that_do_not_vary_have_no_correlation() -> None:
    assert correlation([one.model_copy(update={"ns": 4.0}) for one in points()], Weights()) is None


def test_where_the_first_level_would_take_nothing_there_are_no_weights() -> None:
    odd = [point("chase", 100 * ram, l1=0.0, ram=ram) for ram in (1.0, 3.0)]
    assert fit_of(odd).weights is None
    with pytest.raises(MeasurementError, match="no weights fit"):
        fit_patterns(odd)
