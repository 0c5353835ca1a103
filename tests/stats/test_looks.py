from __future__ import annotations

from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.stats.looks import look_sizes, next_look, plan_looks


@given(st.integers(1, 20_000), st.booleans())
def test_the_looks_share_alpha_and_never_spend_more(pairs: int, ended: bool) -> None:
    looks = plan_looks(pairs, ended=ended)
    shares = [0.0, *(look.share for look in looks)]
    assert [look.share_before for look in looks] == shares[:-1]
    assert all(before < after for before, after in pairwise(shares))
    assert shares[-1] == 1 if ended else shares[-1] < 1


def test_the_first_looks() -> None:
    assert list(islice(look_sizes(), 8)) == [12, 13, 14, 15, 17, 19, 21, 23]
    assert [next_look(pairs) for pairs in (0, 11, 12, 29)] == [12, 12, 13, 31]


@given(st.integers(12, 5_000), st.integers(0, 5_000))
def test_a_look_does_not_change_when_more_pairs_come(pairs: int, more: int) -> None:
    """Else a weighing that goes on would have spent its error on other looks than it thinks."""
    earlier = plan_looks(pairs, ended=False)
    assert plan_looks(pairs + more, ended=False)[: len(earlier)] == earlier
    assert plan_looks(pairs + more, ended=True)[: len(earlier) - 1] == earlier[:-1]


@pytest.mark.parametrize("pairs", [5, 12, 31, 1000])
def test_the_last_look_ends_the_budget_and_may_spend_all_that_is_left(pairs: int) -> None:
    looks = plan_looks(pairs, ended=True)
    assert [look.last for look in looks] == [False] * (len(looks) - 1) + [True]
    assert looks[-1].pairs == pairs
    assert looks[-1].share == 1


def test_pairs_after_the_newest_look_are_not_judged_until_the_next() -> None:
    assert plan_looks(33, ended=False)[-1].pairs == 31
    assert plan_looks(11, ended=False) == []
    assert plan_looks(0, ended=True) == []
