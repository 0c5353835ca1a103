from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.stats.looks import look_sizes, next_look, plan_looks


@given(st.integers(1, 20_000), st.sampled_from([0.1, 0.05, 0.01, 0.001]), st.booleans())
def test_what_the_looks_spend_never_exceeds_alpha(pairs: int, alpha: float, ended: bool) -> None:
    spent = sum(look.level for look in plan_looks(pairs, alpha, ended=ended))
    assert spent == pytest.approx(alpha) if ended else spent <= alpha * (1 + 1e-12)


@given(st.integers(1, 5_000), st.floats(1e-7, 0.2), st.floats(1e-7, 0.2), st.booleans())
def test_the_level_of_every_look_grows_with_alpha(pairs: int, alpha: float, other: float, ended: bool) -> None:
    """Else a benchmark with a smaller share of alpha could be found changed, and with a larger one not."""
    smaller, larger = (plan_looks(pairs, one, ended=ended) for one in sorted((alpha, other)))
    assert all(less.level <= more.level for less, more in zip(smaller, larger, strict=True))


def test_the_first_looks() -> None:
    assert list(islice(look_sizes(), 8)) == [12, 15, 18, 23, 29, 36, 45, 57]
    assert [next_look(pairs) for pairs in (0, 11, 12, 29)] == [12, 12, 15, 36]


@given(st.integers(12, 5_000), st.integers(0, 5_000))
def test_a_look_does_not_change_when_more_pairs_come(pairs: int, more: int) -> None:
    """Else a weighing that goes on would have spent its error on other looks than it thinks."""
    earlier = plan_looks(pairs, 0.01, ended=False)
    assert plan_looks(pairs + more, 0.01, ended=False)[: len(earlier)] == earlier
    assert plan_looks(pairs + more, 0.01, ended=True)[: len(earlier) - 1] == earlier[:-1]


@pytest.mark.parametrize("pairs", [5, 12, 31, 1000])
def test_the_last_look_ends_the_budget_and_may_spend_all_that_is_left(pairs: int) -> None:
    looks = plan_looks(pairs, 0.01, ended=True)
    assert [look.last for look in looks] == [False] * (len(looks) - 1) + [True]
    assert looks[-1].pairs == pairs
    assert sum(look.level for look in looks) == pytest.approx(0.01)


def test_pairs_after_the_newest_look_are_not_judged_until_the_next() -> None:
    assert plan_looks(35, 0.01, ended=False)[-1].pairs == 29
    assert plan_looks(11, 0.01, ended=False) == []
    assert plan_looks(0, 0.01, ended=True) == []
