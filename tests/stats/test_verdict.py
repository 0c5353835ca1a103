"""The rule of verdicts itself; its uses are tested with pairs, runs and counts."""

from __future__ import annotations

from math import inf, log1p

import pytest

from steelyard.stats.verdict import against_limit, found_nine_times_in_ten, log_margin, verdict_of

MARGIN = 0.005
BOUND = log1p(MARGIN)


@pytest.mark.parametrize(
    ("estimate", "interval", "verdict"),
    [
        (BOUND, (1e-9, 0.01), "slower"),  # exactly the margin is enough
        (-BOUND, (-0.01, -1e-9), "faster"),
        (0.01, (0.0, 0.02), "undecided"),  # an interval that touches 0 does not exclude it
        (-0.01, (-0.02, 0.0), "undecided"),
        (0.004, (0.003, 0.00498), "same"),
        (0.004, (0.003, 0.006), "undecided"),
        (0.0, (-BOUND, 0.001), "undecided"),
        (0.0, (-0.001, BOUND), "undecided"),
        (0.0, (-inf, inf), "undecided"),
    ],
)
def test_an_estimate_and_its_interval_make_a_verdict(
    estimate: float, interval: tuple[float, float], verdict: str
) -> None:
    assert verdict_of(estimate, interval, MARGIN) == verdict


def test_what_is_no_change_among_others_holds_back_a_change_and_not_the_same() -> None:
    assert verdict_of(0.02, (0.01, 0.03), MARGIN, is_change=False) == "undecided"
    assert verdict_of(0.02, (0.01, 0.03), MARGIN, is_change=True) == "slower"
    assert verdict_of(0.001, (-0.002, 0.004), MARGIN, is_change=False) == "same"


@pytest.mark.parametrize(
    ("estimate", "interval", "is_change", "standing"),
    [
        (0.001, (-0.001, BOUND), False, "within"),
        (0.001, (-0.001, 0.006), False, "open"),
        (BOUND, (1e-9, 0.01), True, "above"),
        (BOUND, (1e-9, 0.01), False, "open"),
        (0.004, (0.001, 0.01), True, "open"),
        (-0.03, (-0.05, 0.01), True, "open"),
    ],
)
def test_a_limit_is_held_as_a_margin_on_one_side(
    estimate: float, interval: tuple[float, float], is_change: bool, standing: str
) -> None:
    assert against_limit(estimate, interval, MARGIN, is_change=is_change) == standing


def test_what_is_found_excludes_no_change_and_reaches_the_margin() -> None:
    assert found_nine_times_in_ten(0.01, 3.0, MARGIN) == pytest.approx(0.01 * (3 + 1.2816), rel=1e-4)
    assert found_nine_times_in_ten(0.01, 3.0, 0.5) == pytest.approx(log_margin(0.5) + 0.012816, rel=1e-4)
