from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.stats import joint, native, repeated, sequential, sign_flip, spending, weighted
from steelyard.stats.looks import RESERVE, Budgets, plan_looks
from steelyard.stats.sequential import Hypothesis

FloatArray = npt.NDArray[np.float64]
ALPHAS = st.floats(1e-6, 0.2)


def values(change: float, noise: float, pairs: int, seed: int) -> tuple[FloatArray, FloatArray]:
    generator = np.random.default_rng(seed)
    storm = np.where(np.arange(pairs) // 20 % 2, 4.0, 1.0)
    return change + noise * storm * generator.standard_normal(pairs), 0.01 * generator.standard_normal(pairs)


def is_rejected(d: FloatArray, levels: FloatArray, pairs: int, change: float, alpha: float, *, ended: bool) -> bool:
    looks = plan_looks(pairs, ended=ended)
    return sequential.run_tests(d, levels, looks, [Hypothesis(change, alpha)], keep=True)[0].rejected


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.floats(0, 0.03), ALPHAS, ALPHAS)
def test_what_a_smaller_alpha_rejects_a_larger_one_rejects(
    seed: int, change: float, alpha: float, other: float
) -> None:
    """Holm's and Benjamini and Hochberg's procedures rely on this."""
    d, levels = values(change, 0.01, 60, seed)
    less, more = (is_rejected(d, levels, 60, 0.0, one, ended=False) for one in sorted((alpha, other)))
    assert more or not less


@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.001, 0.0001, 0.000_01])
def test_a_plain_change_is_found_with_every_share_of_alpha(alpha: float) -> None:
    d, levels = values(0.05, 0.01, 60, 1)
    assert is_rejected(d, levels, 60, 0.0, alpha, ended=False)


@pytest.mark.parametrize("seed", range(4))
def test_the_p_value_is_the_smallest_alpha_that_rejects(seed: int) -> None:
    d, levels = values(0.012, 0.01, 40, seed)
    looks = plan_looks(40, ended=True)
    found = sequential.p_value(d, levels, looks, 0.05, roughly=False)
    rough = sequential.p_value(d, levels, looks, 0.05, roughly=True)
    assert (found <= 0.05) == (rough <= 0.05) == is_rejected(d, levels, 40, 0.0, 0.05, ended=True)
    if found <= 0.05:
        assert is_rejected(d, levels, 40, 0.0, found * 1.0001, ended=True)
        assert not is_rejected(d, levels, 40, 0.0, found * 0.9 - 2 / joint.FLIPS, ended=True)


def test_the_p_value_of_what_is_judged_again_in_a_suite_is_not_searched_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched, are_dropped = list[int](), sequential._are_dropped

    def watch(*words: Any) -> bool:
        searched.append(0)
        return are_dropped(*words)

    monkeypatch.setattr(sequential, "_are_dropped", watch)
    d, levels = values(0.012, 0.01, 40, 9)
    looks = plan_looks(40, ended=True)
    found = sequential.p_value(d, levels, looks, 0.05, roughly=False)
    steps = len(searched)
    assert steps > 1
    assert sequential.p_value(d.copy(), levels.copy(), looks, 0.05, roughly=False) == found
    assert len(searched) == steps


def test_a_look_says_the_same_whether_the_earlier_ones_are_remembered_or_not() -> None:
    d, levels = values(0.012, 0.01, 80, 5)
    asked = [Hypothesis(0.0, 0.01), Hypothesis(0.005, 0.01)]
    step_by_step = [
        sequential.run_tests(d[:pairs], levels[:pairs], plan_looks(pairs, ended=False), asked, keep=True)
        for pairs in range(12, 81)
    ]
    at_once = sequential.run_tests(d, levels, plan_looks(80, ended=False), asked, keep=False)
    assert step_by_step[-1] == at_once
    assert {one[0].rejected for one in step_by_step} == {False, True}


def by_all_flips(d: FloatArray, levels: FloatArray, change: float, alpha: float) -> bool:
    """Return the result of the joint test if every look sees all flips."""
    test = joint.NOT_STARTED
    for look in plan_looks(len(d), ended=True):
        seen, among = d[: look.pairs], levels[: look.pairs]
        both = native.whole_scores(seen, among, np.array([change]))[0][0]
        test = joint.look(test, joint.Flipped(both, 0.9), spending.droppable_flips(look, alpha))
    return test.rejected


@pytest.mark.parametrize(("pairs", "alpha", "reach"), [(30, 0.05, 0.012), (13, 0.2, 0.015)])
def test_a_look_that_asks_few_flips_says_what_all_of_them_say(pairs: int, alpha: float, reach: float) -> None:
    """Tried near the changes at which rejection begins; far from there, no flip's history is needed."""
    says = []
    for seed in range(8):
        d, levels = values(0.0, 0.01, pairs, seed)
        asked = [Hypothesis(float(change), alpha) for change in np.linspace(-reach, reach, 9)]
        found = [
            one.rejected for one in sequential.run_tests(d, levels, plan_looks(pairs, ended=True), asked, keep=False)
        ]
        assert found == [by_all_flips(d, levels, one.change, alpha) for one in asked]
        says += found
    assert 10 < sum(says) < len(says) - 10


def test_other_values_at_an_earlier_look_are_not_taken_for_those_that_are_remembered() -> None:
    d, levels = values(0.05, 0.01, 30, 5)
    assert is_rejected(d, levels, 30, 0.0, 0.01, ended=False)
    d[:20] = np.where(np.arange(20) % 2, 0.01, -0.01)
    fresh = sequential.run_tests(d, levels, plan_looks(30, ended=False), [Hypothesis(0.0, 0.01)], keep=False)[0]
    assert is_rejected(d, levels, 30, 0.0, 0.01, ended=False) == fresh.rejected


def slow_in_some(pairs: int, share: float, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return differences and levels of a candidate that is 20 % slower in a share of its launches only."""
    generator = np.random.default_rng(seed)
    baseline, candidate = 0.003 * generator.standard_normal((2, pairs))
    candidate += np.log(1.2) * (generator.random(pairs) < share)
    return candidate - baseline, (candidate + baseline) / 2


def test_what_a_candidate_has_only_in_some_of_its_launches_is_found() -> None:
    """By the scores alone, which find it in none of ten, it would be taken for a storm."""
    found = [is_rejected(*slow_in_some(60, 0.45, seed), 60, 0.0, 0.01, ended=False) for seed in range(10)]
    assert sum(found) >= 8


def test_what_half_of_the_launches_are_far_from_is_not_the_same() -> None:
    """The calm half says of both ends of a margin of 0.5 % that the change is within."""
    for seed in range(10):
        d, levels = slow_in_some(40, 0.45, seed)
        asked = [Hypothesis(-0.005, 0.01), Hypothesis(0.005, 0.01)]
        less, more = sequential.run_tests(d, levels, plan_looks(40, ended=False), asked, keep=False)
        assert not (less.rejected and more.rejected)


def test_scores_and_ranks_together_reject_no_more_than_alpha() -> None:
    """Over all signs of 10 pairs, in a calm and a stormy half."""
    sizes = np.array([1.0, 1.1, 0.9, 1.2, 0.8, 9.0, 13.0, 8.0, 11.0, 10.0]) / 100
    signs = 1.0 - 2.0 * (np.arange(1 << 10)[:, None] >> np.arange(10) & 1)
    levels = sizes / 2
    rejected = [is_rejected(row * sizes, levels, 10, 0.0, 0.02, ended=True) for row in signs]
    assert 0.01 < np.mean(rejected) <= 0.02


def test_a_budget_of_one_look_has_all_of_alpha_exactly() -> None:
    d, levels = np.linspace(0.01, 0.02, 8), np.zeros(8)
    assert is_rejected(d, levels, 8, 0.0, 2 / 2**8, ended=True)
    assert not is_rejected(d, levels, 8, 0.0, 1.9 / 2**8, ended=True)


def test_a_result_says_on_which_side_of_the_hypothesis_the_values_are() -> None:
    d, levels = np.linspace(0.01, 0.02, 20), np.zeros(20)
    asked = [Hypothesis(change, 0.01) for change in (0.0, 0.03)]
    results = sequential.run_tests(d, levels, plan_looks(20, ended=True), asked, keep=False)
    assert [(result.rejected, result.side) for result in results] == [(True, 1), (True, -1)]


@pytest.mark.parametrize(
    ("pairs", "ended", "begun", "last", "before"),
    [
        (25, False, None, 25, 21),  # every second look has an exact test
        (26, False, None, 25, 21),
        (23, False, None, 21, 17),
        (25, True, None, 25, 21),  # and so has the end of a budget, whichever look it is
        (23, True, None, 23, 21),
        (24, False, 15, 19, 15),  # from an end, a weighing that goes on begins to count anew
        (30, False, 17, 26, 17),
    ],
)
def test_an_exact_test_spends_the_share_of_alpha_that_those_before_it_left(
    pairs: int, ended: bool, begun: int | None, last: int, before: int
) -> None:
    """A sum with all signs alike has the probability 2 / 2 ** n, and the scores three quarters of the share."""
    budgets = Budgets(RESERVE, begun, 0.01) if begun else Budgets()
    looks = plan_looks(pairs, ended=ended, budgets=budgets)
    share = {look.pairs: look.share for look in looks}
    found = sequential.p_value(np.linspace(0.01, 0.02, pairs), np.zeros(pairs), looks, 1e-4, roughly=False)
    assert found == pytest.approx(2 / 2**last / (0.75 * (share[last] - share[before])), rel=1e-3)


def test_an_exact_test_leaves_a_quarter_of_its_share_to_the_ranks() -> None:
    """What only a storm shows has little weight in the scores."""
    pairs = 41
    calm = np.linspace(0.001, 0.0012, 16) * np.tile([1, -1], 8)
    d = np.array([*calm, *np.linspace(0.05, 0.06, pairs - 16)])
    levels = np.where(np.arange(pairs) < 16, 0.001, 1.0)
    looks = plan_looks(pairs, ended=True)
    exact_before = looks[:-1][::2][-1]
    none = np.zeros(1)
    by_scores, by_ranks = (
        float(sign_flip.p_values(signed)[0])
        for signed in (native.signed_scores(d, levels, none), native.signed_ranks(d, none))
    )
    assert by_scores > 4 * by_ranks
    found = sequential.p_value(d, levels, looks, 1e-4, roughly=False)
    assert found == pytest.approx(by_ranks / (0.25 * (1 - exact_before.share)), rel=1e-3)


@pytest.mark.parametrize("pairs", [14, 60, 150])
def test_the_ends_of_the_repeated_interval_are_rejected_and_what_is_well_inside_is_not(pairs: int) -> None:
    d, levels = values(0.01, 0.01, pairs, pairs)
    looks = plan_looks(pairs, ended=True)
    around = weighted.estimate(d, levels, spending.nominal_level(looks, 0.01))
    known = (0.0, -0.005, 0.005)
    lower, upper = repeated.interval(d, levels, looks, 0.01, around, known)
    inside = np.linspace(lower, upper, 7)[1:-1]
    asked = [Hypothesis(float(change), 0.01) for change in (lower, upper, *inside, *known)]
    low, high, *rest = [one.rejected for one in sequential.run_tests(d, levels, looks, asked, keep=False)]
    assert (low or is_next_to(lower, known), high or is_next_to(upper, known)) == (True, True)
    assert not any(rest[:5])
    for change, gone in zip(known, rest[5:], strict=True):
        assert (lower <= change <= upper) == (not gone)


def is_next_to(place: float, known: tuple[float, ...]) -> bool:
    return any(place in (np.nextafter(change, 1), np.nextafter(change, -1)) for change in known)


# --- going on

ENOUGH, ENDS = 0.125, (6, 8, 10)
GOING_ON = Budgets(RESERVE, ENDS[0], ENOUGH)


def all_signs(pairs: int) -> FloatArray:
    """Return pairs in a calm and a stormy half with all signs, without those that are opposite to others."""
    sizes = np.array([1.0, 1.1, 0.9, 1.2, 0.8, 9.0, 13.0, 8.0, 11.0, 10.0])[:pairs] / 100
    return sizes * (1.0 - 2.0 * (np.arange(1 << (pairs - 1))[:, None] >> np.arange(pairs) & 1))


def test_a_weighing_that_goes_on_rejects_no_more_than_alpha_over_all_flips_of_the_coin() -> None:
    looks = plan_looks(ENDS[-1], ended=True, budgets=GOING_ON)
    assert [look.pairs for look in looks] == list(ENDS)
    asked, signed = [Hypothesis(0.0, ENOUGH)], all_signs(ENDS[-1])
    rejected = [sequential.run_tests(d, np.abs(d), looks, asked, keep=False)[0].rejected for d in signed]
    assert 0.0625 < np.mean(rejected) <= ENOUGH
    forgetful = [any(is_rejected(d[:n], np.abs(d[:n]), n, 0.0, ENOUGH, ended=True) for n in ENDS) for d in signed[::16]]
    assert np.mean(forgetful) > 1.3 * ENOUGH  # if each end spends all of alpha


@pytest.mark.parametrize("seed", range(3))
def test_the_p_value_of_a_weighing_that_went_on_goes_with_what_it_rejects(seed: int) -> None:
    d, levels = values(0.012, 0.01, 60, seed)
    for end in (9, 20, 45):
        looks = plan_looks(60, ended=False, budgets=Budgets(RESERVE, end, 0.05))
        is_gone = sequential.run_tests(d, levels, looks, [Hypothesis(0.0, 0.05)], keep=False)[0].rejected
        for roughly in (False, True):
            assert (sequential.p_value(d, levels, looks, 0.05, roughly=roughly) <= 0.05) == is_gone


@settings(max_examples=10)
@given(st.integers(0, 2**32), st.floats(0, 0.03), ALPHAS, ALPHAS, st.sampled_from([8, 10, 12, 30]))
def test_also_when_it_goes_on_a_larger_alpha_rejects_what_a_smaller_one_does(
    seed: int, change: float, alpha: float, other: float, end: int
) -> None:
    d, levels = values(change, 0.01, 50, seed)
    looks = plan_looks(50, ended=False, budgets=Budgets(RESERVE, end, 0.2))
    asked = [Hypothesis(0.0, one) for one in sorted((alpha, other))]
    less, more = sequential.run_tests(d, levels, looks, asked, keep=False)
    assert more.rejected or not less.rejected


def test_what_was_rejected_at_an_end_stays_so() -> None:
    d, levels = values(0.05, 0.01, 40, 3)
    looks = plan_looks(40, ended=False, budgets=Budgets(RESERVE, 9, 0.05))
    first = sequential.run_tests(d[:9], levels[:9], looks[:1], [Hypothesis(0.0, 0.05)], keep=False)[0]
    d[9:] = np.where(np.arange(31) % 2, 0.01, -0.01)
    assert first.rejected
    assert sequential.run_tests(d, levels, looks, [Hypothesis(0.0, 0.05)], keep=False)[0].rejected


def test_looks_behind_those_at_other_values_spend_no_more_than_these_leave() -> None:
    looks = plan_looks(ENDS[-1], ended=True, budgets=GOING_ON)
    asked, left = [Hypothesis(0.0, ENOUGH)], ENOUGH * (1 - looks[0].share)
    behind, all_of_them = (
        [sequential.run_tests(d, np.abs(d), taken, asked, keep=True)[0].rejected for d in all_signs(ENDS[-1])]
        for taken in (looks[1:], looks)
    )
    assert 0 < np.mean(behind) <= left < np.mean(all_of_them)


@pytest.mark.parametrize("pairs", [30, 33])
def test_the_end_of_a_budget_behind_looks_at_other_values_has_what_is_left_alone(pairs: int) -> None:
    """It is an exact test, in which the scores have three quarters."""
    (look,) = plan_looks(pairs, ended=True)[-1:]
    assert look.last
    d, levels = np.linspace(0.01, 0.02, pairs), np.zeros(pairs)
    found = sequential.p_value(d, levels, [look], 1e-4, roughly=False)
    assert found == pytest.approx(2 / 2**pairs / (0.75 * (1 - look.share_before)), rel=1e-3)


def test_where_nothing_is_left_for_going_on_the_p_value_is_one_and_not_an_error() -> None:
    d, levels = values(0.0, 0.01, 40, 4)
    looks = plan_looks(40, ended=False, budgets=Budgets(0.0, 20, 0.05))
    assert spending.nominal_level(looks, 0.05) == 0
    assert sequential.p_value(d, levels, looks, 0.05, roughly=True) == 1
