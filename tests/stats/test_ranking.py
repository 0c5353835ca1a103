from __future__ import annotations

import numpy as np
import pytest

from steelyard.stats.quantiles import NORMAL
from steelyard.stats.ranking import Rank, Standing, fastest_first, ranks

BASELINE = Standing(0.0, (0.0, 0.0), is_baseline=True)


def standing(estimate: float, half: float, word: str = "undecided") -> Standing:
    return Standing(estimate, (estimate - half, estimate + half), word)


def test_what_is_told_apart_has_a_place_of_its_own() -> None:
    found = [BASELINE, standing(-0.1, 0.01, "faster"), standing(0.2, 0.01, "slower")]
    assert ranks(found, 0.005) == [Rank(2, 2), Rank(1, 1), Rank(3, 3)]
    assert fastest_first(found, ranks(found, 0.005)) == [1, 0, 2]


def test_what_is_not_told_apart_shares_its_places_even_if_it_is_told_from_a_third() -> None:
    found = [standing(0.00, 0.02), standing(0.03, 0.02), standing(0.06, 0.02)]
    assert ranks(found, 0.005) == [Rank(1, 2), Rank(1, 3), Rank(2, 3)]


def test_of_the_baseline_only_the_verdict_tells() -> None:
    found = [BASELINE, standing(-0.1, 0.01, "undecided"), standing(0.1, 0.01, "same")]
    assert ranks(found, 0.005) == [Rank(1, 3), Rank(1, 2), Rank(2, 3)]


def test_a_difference_below_the_margin_is_a_tie() -> None:
    assert ranks([standing(0.0, 0.0001), standing(0.003, 0.0001)], 0.005) == [Rank(1, 2), Rank(1, 2)]
    assert ranks([standing(0.0, 0.0001), standing(0.006, 0.0001)], 0.005) == [Rank(1, 1), Rank(2, 2)]


def test_without_an_interval_nothing_is_told() -> None:
    found = [Standing(0.0, None), standing(5.0, 0.1)]
    assert ranks(found, 0.005) == [Rank(1, 2), Rank(1, 2)]


@pytest.mark.parametrize("errors", [(1.0, 1.0), (1.0, 0.2), (1.0, 0.01)])
def test_of_two_equal_ones_a_wrong_order_is_rarer_than_alpha(errors: tuple[float, float]) -> None:
    assert _wrong(errors, tries=20_000) <= 0.0115  # 0.01 and two standard errors


@pytest.mark.parametrize("many", [3, 5, 8])
def test_among_up_to_eight_equal_ones_any_wrong_order_is(many: int) -> None:
    assert _wrong((1.0,) * many, tries=20_000) <= 0.0115


def _wrong(errors: tuple[float, ...], tries: int, alpha: float = 0.01) -> float:
    """Return how often any two of several equal candidates are told apart; `errors` are their standard errors."""
    scale = np.array(errors)
    centres = np.random.default_rng(17).normal(size=(tries, len(errors))) * scale
    half = NORMAL.inv_cdf(1 - alpha / 2) * scale
    return float(((centres + half).min(axis=1) < (centres - half).max(axis=1)).mean())
