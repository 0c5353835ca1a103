"""Changes averaged over layouts: the interval is for layouts in general. benchmarks/layouts.py has more."""

from __future__ import annotations

from math import inf, log, sqrt

import numpy as np
import pytest
from benchmarks.layouts import EFFECTS, layouts_of_pairs, missed
from benchmarks.simulation import SYNTHETIC
from scipy import stats

from steelyard.stats import signed_rank
from steelyard.stats.layouts import average, look_at_layouts
from steelyard.stats.looks import Budgets, plan_looks, share_spent
from steelyard.stats.paired import chance_of_verdict, judge, layouts_needed

# If ALPHA is kept, more than MOST has a chance of 1 in 1,000.
ALPHA, WEIGHINGS, MOST = 0.05, 250, 0.096


def pairs_of(layouts: int, pairs: int, spread: float, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return differences of pairs, and their layouts."""
    generator = np.random.default_rng(seed)
    drawn = layouts_of_pairs(generator, layouts, pairs)
    return spread * generator.standard_normal(layouts)[drawn] + 0.01 * generator.standard_normal(pairs), drawn


@pytest.mark.parametrize("layouts", [2, 5, 7])
def test_a_few_layouts_have_student_s_interval_of_their_centres(layouts: int) -> None:
    d, drawn = pairs_of(layouts, 40, 0.02)
    found = average(d, drawn, 0.01)
    centres = [signed_rank.estimate(d[drawn == layout], 0.5).centre for layout in range(layouts)]
    assert found.centres == pytest.approx(centres)
    low, high = stats.t.interval(1 - 0.01, layouts - 1, np.mean(centres), stats.sem(centres))
    assert (found.lower, found.upper) == pytest.approx((low, high))
    assert not found.is_free


@pytest.mark.parametrize("sign", [1, -1])
def test_a_few_that_do_not_all_lean_one_way_show_no_change_by_test_or_interval(sign: int) -> None:
    d = sign * np.array([0.03, 0.031, 0.029, 0.0305, -0.0001])
    found = average(d, np.arange(5), 0.05)
    assert found.p_value > 0.05
    assert found.lower <= 0 <= found.upper
    alike = average(np.append(d[:4], sign * 0.028), np.arange(5), 0.05)
    assert alike.p_value < 0.05
    assert alike.lower * alike.upper > 0


def test_from_nine_on_nothing_is_assumed_of_them() -> None:
    d, drawn = pairs_of(9, 40, 0.02)
    found = average(d, drawn, 0.005)
    by_ranks = signed_rank.estimate(found.centres, 0.005)
    assert found.is_free
    assert (found.centre, found.lower, found.upper) == (by_ranks.centre, by_ranks.lower, by_ranks.upper)


def test_the_shares_of_all_looks_that_decide_add_up_to_alpha_whenever_it_ends() -> None:
    for pairs in range(1, 300):
        looks = plan_looks(pairs, ended=True)
        taken = [look_at_layouts(looks[: number + 1]) for number in range(len(looks))]
        assert sum(look.share for look in taken if look.may_decide) == pytest.approx(1.0)
        assert taken[-1].may_decide
    decide = [look.pairs for number, look in enumerate(looks) if look_at_layouts(looks[: number + 1]).may_decide]
    assert decide == [12, 25, 50, 107, 230, 299]


def test_looks_behind_those_at_other_values_leave_to_layouts_what_those_had() -> None:
    looks = plan_looks(60, ended=True)[5:]
    taken = [look_at_layouts(looks[: number + 1]) for number in range(len(looks))]
    assert sum(look.share for look in taken if look.may_decide) == pytest.approx(1 - looks[0].share_before)


def test_a_look_between_has_the_share_of_the_next_that_decides() -> None:
    looks = plan_looks(25, ended=False)
    shares = [look_at_layouts(looks[: number + 1]).share for number in range(len(looks))]
    assert shares[0] == pytest.approx(0.1)
    assert shares[1:] == pytest.approx([share_spent(25) - 0.1] * (len(looks) - 1))


@pytest.mark.parametrize("ended", [0, 5, 12, 16, 40, 299])
def test_a_weighing_that_goes_on_has_the_shares_that_its_budget_s_end_left(ended: int) -> None:
    looks = plan_looks(600, ended=False, budgets=Budgets(0.5, ended, alpha=0.01))
    taken = [look_at_layouts(looks[: number + 1]) for number in range(len(looks))]
    assert all(look.share > 0 for look in taken)
    decide = [(look, share.share) for look, share in zip(looks, taken, strict=True) if share.may_decide]
    assert sum(share for _, share in decide) == pytest.approx(decide[-1][0].share)
    assert sum(share for _, share in decide) < 1
    for before, share, look in zip(taken, taken[1:], looks[1:], strict=False):
        assert before.may_decide or look.last or before.share == pytest.approx(share.share)


def test_a_weighing_of_layouts_that_goes_on_is_judged() -> None:
    d, drawn = pairs_of(5, 50, 0.01)
    ones = np.ones(50)
    judged = judge(
        lambda pairs: (ones[:pairs], np.exp(d[:pairs])),
        50,
        margin=0.005,
        alpha=0.01,
        ended=False,
        layouts=drawn,
        budgets=Budgets(0.5, 16, 0.01),
    )
    assert judged is not None
    assert judged.estimate.lower < judged.estimate.centre < judged.estimate.upper


def test_one_layout_says_nothing_of_any_other() -> None:
    found = average(np.full(12, 0.1), np.ones(12, dtype=np.int64), 0.01)
    assert (found.lower, found.upper, found.p_value) == (-inf, inf, 1.0)


@pytest.mark.parametrize("layouts", [3, 5, 8, 9, 12])
@pytest.mark.parametrize("alpha", [0.01, 0.1])
def test_the_p_value_is_at_most_alpha_where_the_interval_excludes_no_change(layouts: int, alpha: float) -> None:
    for seed in range(40):
        d, drawn = pairs_of(layouts, 30, 0.005, seed)
        found = average(d + 0.01, drawn, alpha)
        assert (found.p_value <= alpha) == (found.lower > 0 or found.upper < 0)


@pytest.mark.parametrize("spread", [0.0, 0.01, 0.03])
@pytest.mark.parametrize("layouts", [5, 10])
def test_the_interval_misses_the_change_as_rarely_as_is_said_whatever_layouts_differ_by(
    layouts: int, spread: float
) -> None:
    share = missed(
        SYNTHETIC["quiet"],
        EFFECTS["normal"],
        layouts=layouts,
        spread=spread,
        alpha=ALPHA,
        pairs=25,
        weighings=WEIGHINGS,
    )
    assert share <= MOST


def test_effects_of_two_modes_are_no_worse_from_where_nothing_is_assumed() -> None:
    share = missed(
        SYNTHETIC["quiet"], EFFECTS["two modes"], layouts=10, spread=0.03, alpha=ALPHA, pairs=25, weighings=WEIGHINGS
    )
    assert share <= MOST


def test_more_pairs_of_the_same_layouts_decide_nothing_and_more_layouts_do() -> None:
    d, drawn = pairs_of(10, 120, 0.01)
    sides = np.exp([-d / 2, d / 2])
    judgement = judge(lambda n: (sides[0, :n], sides[1, :n]), 120, 0.005, 0.01, ended=True, layouts=drawn)
    assert judgement is not None
    assert judgement.averaged is not None
    assert judgement.verdict == "undecided"
    assert judgement.averaged.floor > 0.9
    assert chance_of_verdict(judgement, 0.005, 120_000, 0.01) < 0.1
    needed = layouts_needed(judgement, 0.005, 1000)
    assert needed is not None
    assert 20 < needed < 400
    many = len(judgement.averaged.centres)
    assert layouts_needed(judgement, 0.005, many) is layouts_needed(judgement, 0.005, many - 1) is None


def test_layouts_that_do_not_differ_need_no_others() -> None:
    drawn = layouts_of_pairs(np.random.default_rng(1), 2, 14)
    judgement = judge(lambda n: (np.full(n, 1000.0), np.full(n, 1004.0)), 14, 0.005, 0.01, ended=True, layouts=drawn)
    assert judgement is not None
    assert judgement.verdict == "undecided"
    assert layouts_needed(judgement, 0.005, 1000) is None


@pytest.mark.parametrize(("layouts", "shows"), [(2, False), (3, False), (5, True)])
def test_centres_that_few_values_make_alike_spread_as_what_lies_between_two(layouts: int, shows: bool) -> None:
    drawn = layouts_of_pairs(np.random.default_rng(1), layouts, 24)
    found = average(np.full(24, 0.04), drawn, 0.01, step=0.04)
    half = stats.t.isf(0.005, layouts - 1) * 0.04 / sqrt(12 * layouts)
    assert (found.lower, found.upper) == pytest.approx((0.04 - half, 0.04 + half))
    assert (found.p_value <= 0.01) is shows
    assert average(np.full(24, 0.04), drawn, 0.01).upper == pytest.approx(0.04)


def test_two_layouts_on_a_coarse_clock_show_no_change_by_the_same_tick() -> None:
    drawn = layouts_of_pairs(np.random.default_rng(1), 2, 40)

    def of(layouts: np.ndarray | None) -> str:
        judgement = judge(lambda n: (np.full(n, 12.0), np.full(n, 13.0)), 40, 0.005, 0.01, ended=True, layouts=layouts)
        assert judgement is not None
        return judgement.verdict

    assert (of(None), of(drawn)) == ("slower", "undecided")


def test_an_interval_beyond_all_ratios_is_none() -> None:
    d, drawn = pairs_of(2, 20, 0.05)
    found = average(d, drawn, 1e-6)
    assert (found.lower, found.upper) == (-inf, inf)


def clearly_slower(pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return both sides of pairs of ten layouts, and the layout of each pair."""
    generator = np.random.default_rng(1)
    drawn = layouts_of_pairs(generator, 10, pairs)
    d = log(1.2) + 0.002 * generator.standard_normal(pairs)
    return np.exp([-d / 2, d / 2]), drawn


def test_a_verdict_is_of_the_pairs_and_of_the_layouts_at_once() -> None:
    """A change that the pairs show at once waits until the layouts show it, too, of which it takes at least five."""
    sides, drawn = clearly_slower(60)

    def judged(layouts: np.ndarray | None) -> str:
        found = judge(lambda n: (sides[0, :n], sides[1, :n]), 60, 0.005, 0.01, ended=True, layouts=layouts)
        assert found is not None
        return found.verdict

    assert judged(None) == judged(drawn) == "slower"
    assert judged(np.zeros(60, dtype=np.int64)) == "undecided"


def test_looks_between_those_at_the_layouts_decide_nothing() -> None:
    sides, drawn = clearly_slower(13)

    def judged(*, ended: bool) -> str:
        found = judge(
            lambda n: (sides[0, :n], sides[1, :n]), 13, 0.005, 0.01, ended=ended, newest_only=True, layouts=drawn
        )
        assert found is not None
        return found.verdict

    assert (judged(ended=True), judged(ended=False)) == ("slower", "undecided")
