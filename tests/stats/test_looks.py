from __future__ import annotations

from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.stats.looks import RESERVE, Budgets, look_sizes, next_look, plan_looks


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
    """Else a weighing that goes on would have spent its error on looks other than those it counts."""
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


ALPHAS = st.sampled_from([0.2, 0.05, 0.01, 0.001])


@given(st.integers(1, 400), st.integers(0, 4_000), ALPHAS)
def test_a_weighing_that_goes_on_never_spends_more_than_alpha(end: int, more: int, alpha: float) -> None:
    looks = plan_looks(end + more, ended=True, budgets=Budgets(RESERVE, end, alpha))
    shares = [0.0, *(look.share for look in looks)]
    assert [look.share_before for look in looks] == shares[:-1]
    assert all(before < after for before, after in pairwise(shares))
    assert shares[-1] < 1
    assert [look.pairs for look in looks if look.last] == ([end] if 2.0 ** (1 - end) <= alpha else [])


def test_twice_the_pairs_of_a_budget_spend_half_of_what_its_end_has_left() -> None:
    looks = plan_looks(1_000, ended=False, budgets=Budgets(RESERVE, 40, 0.01))
    left = {look.pairs: (1 - look.share) * look.pairs for look in looks if look.pairs >= 40}
    assert len(left) > 10
    assert [*left.values()] == pytest.approx([left[40]] * len(left))


@given(st.integers(1, 400), st.integers(0, 2_000), st.integers(0, 2_000), ALPHAS)
def test_no_look_of_one_that_goes_on_depends_on_how_far_it_goes(end: int, more: int, most: int, alpha: float) -> None:
    """Nor does its end: whoever chooses these has seen which side is slower, and could choose the looks by that."""
    budgets = Budgets(RESERVE, end, alpha)
    far = plan_looks(end + more + most, ended=True, budgets=budgets)
    for ended in (False, True):
        near = plan_looks(end + more, ended=ended, budgets=budgets)
        assert far[: len(near)] == near
    assert next_look(end + more, budgets) == plan_looks(100_000, ended=False, budgets=budgets)[len(near)].pairs


@given(st.integers(8, 5_000))
def test_the_first_budget_s_look_is_the_same_whether_others_follow_or_not(end: int) -> None:
    by_itself = plan_looks(end, ended=True, budgets=Budgets(RESERVE, None, 0.01))
    assert plan_looks(end, ended=False, budgets=Budgets(RESERVE, end, 0.01)) == by_itself


@pytest.mark.parametrize(("pairs", "share"), [(8, 0.78125), (9, 0.55), (12, 0.55), (45, 0.7676), (252, 0.9018)])
def test_the_end_of_a_budget_keeps_half_of_what_is_left_but_what_few_pairs_need(pairs: int, share: float) -> None:
    assert plan_looks(pairs, ended=True, budgets=Budgets(RESERVE, None, 0.01))[-1].share == pytest.approx(share, 1e-4)


@pytest.mark.parametrize(
    ("budgets", "pairs", "may"),
    [
        (Budgets(0.0, None, 0.01), 45, False),  # as before there was a reserve
        (Budgets(0.0, None, 0.01), 7, True),  # too few to spend anything
        (Budgets(RESERVE, None, 0.01), 8, True),
        (Budgets(RESERVE, None, 2**-7), 8, False),  # it takes all of alpha to show anything
        (Budgets(RESERVE, 16, 0.01), 90, True),
        (Budgets(0.0, 0, 0.01), 90, True),  # stopped before an end
    ],
)
def test_whether_anything_is_left_to_go_on_with(budgets: Budgets, pairs: int, may: bool) -> None:
    assert budgets.may_go_on_after(pairs) == may
