"""What each look of a weighing may spend of alpha."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.stats import joint, spending
from steelyard.stats.looks import plan_looks

ALPHAS = st.floats(1e-6, 0.2)


@given(st.integers(12, 3000), ALPHAS, ALPHAS, st.booleans())
def test_every_look_may_drop_at_least_as_much_for_a_larger_alpha(
    pairs: int, alpha: float, other: float, ended: bool
) -> None:
    looks = plan_looks(pairs, ended=ended)
    less, more = ([spending.droppable_flips(look, one) for look in looks] for one in sorted((alpha, other)))
    assert all(few <= many for few, many in zip(less, more, strict=True))
    assert sum(more) <= max(alpha, other) * joint.FLIPS


@pytest.mark.parametrize("alpha", [0.05, 0.01, 1e-5])
def test_the_nominal_level_is_one_and_a_late_look_s_is_far_below_alpha(alpha: float) -> None:
    levels = [spending.level_at_end(pairs, alpha) for pairs in (8, 30, 300)]
    assert levels[0] == alpha
    assert all(0 < level < alpha for level in levels[1:])


def test_the_level_at_the_end_of_an_endless_budget_is_known_at_once() -> None:
    assert 0 < spending.level_at_end(10**15, 0.01) < spending.level_at_end(1000, 0.01)
