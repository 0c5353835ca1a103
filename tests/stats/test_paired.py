from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.stats import repeated
from steelyard.stats.looks import FIRST_LOOK, Look
from steelyard.stats.paired import (
    LEAST_CHANGE,
    Judgement,
    Rules,
    chance_of_verdict,
    is_futile,
    judge,
    judge_look,
    pairs_needed,
    resolution,
)
from steelyard.stats.spending import nominal_level

FloatArray = npt.NDArray[np.float64]
MARGIN = 0.005
RULES = Rules(MARGIN, 0.01)


def pair_values(change: float, noise: float, pairs: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    generator = np.random.default_rng(seed)
    baseline = 12e6 * np.exp(noise * generator.standard_normal(pairs))
    return baseline, 12e6 * (1 + change) * np.exp(noise * generator.standard_normal(pairs))


def weigh(change: float, noise: float, pairs: int, *, ended: bool = True, margin: float = MARGIN) -> Judgement:
    baseline, candidate = pair_values(change, noise, pairs)
    judgement = judge(lambda n: (baseline[:n], candidate[:n]), pairs, margin, 0.01, ended=ended)
    assert judgement is not None
    return judgement


def at_look(d: FloatArray, *, quantisation: float = 0.0) -> Judgement:
    return judge_look(*sides(d), only_look(len(d)), RULES, quantisation=quantisation)


def only_look(pairs: int) -> list[Look]:
    """Return a look that has all of alpha to itself."""
    return [Look(pairs, 0.0, 1.0, last=True)]


def sides(d: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return both sides' values with log-ratios d, all at one level."""
    return np.exp(-d / 2), np.exp(d / 2)


@pytest.mark.parametrize(
    ("change", "noise", "expected"),
    [(0.02, 0.002, "slower"), (-0.02, 0.002, "faster"), (0.001, 0.002, "same"), (0.0, 0.02, "undecided")],
)
def test_the_four_verdicts(change: float, noise: float, expected: str) -> None:
    assert weigh(change, noise, 40).verdict == expected


def test_a_real_change_within_the_margin_is_same() -> None:
    judgement = at_look(np.linspace(0.0018, 0.0022, 40))
    assert judgement.verdict == "same"
    assert judgement.lower > 0


def test_a_verdict_needs_the_estimate_to_reach_the_margin_and_the_interval_to_exclude_none() -> None:
    assert at_look(np.linspace(0.001, 0.0085, 40)).verdict == "undecided"  # excludes 0, centre below the margin
    assert at_look(np.linspace(-0.03, 0.05, 20)).verdict == "undecided"  # centre above the margin, 0 not excluded


def test_it_stops_at_the_first_look_that_decides_and_not_before_it_may() -> None:
    judgement = weigh(0.1, 0.002, 400)
    assert (judgement.look.pairs, judgement.looks) == (12, 1)
    assert not judgement.look.last


def test_a_large_change_that_is_not_yet_sure_enough_of_one_of_many_is_not_estimated_at_each_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    estimated, estimate = list[int](), repeated.estimate

    def counted(d: FloatArray, *others: Any) -> repeated.Repeated:
        estimated.append(len(d))
        return estimate(d, *others)

    monkeypatch.setattr(repeated, "estimate", counted)
    baseline, candidate = pair_values(0.1, 0.002, 24, seed=3)
    judgement = judge(lambda n: (baseline[:n], candidate[:n]), 24, MARGIN, 0.01, ended=True, members=10_000)
    assert judgement is not None
    assert judgement.verdict == "slower"
    assert estimated == [24]


@pytest.mark.parametrize("change", [0.004, 0.05])
def test_judging_only_the_newest_look_is_the_replay_s_last_step(change: float) -> None:
    pairs = 57 if change == 0.004 else FIRST_LOOK
    baseline, candidate = pair_values(change, 0.01, pairs)
    values = lambda n: (baseline[:n], candidate[:n])  # noqa: E731
    replayed = judge(values, pairs, MARGIN, 0.01, ended=False)
    assert replayed is not None
    assert (replayed.verdict == "undecided") == (change == 0.004)
    assert replayed == judge(values, pairs, MARGIN, 0.01, ended=False, newest_only=True)


def test_a_rough_judgement_is_about_the_exact_one() -> None:
    baseline, candidate = pair_values(0.004, 0.01, 57)
    exact, rough = (
        judge(lambda n: (baseline[:n], candidate[:n]), 57, MARGIN, 0.01, ended=False, roughly=roughly)
        for roughly in (False, True)
    )
    assert exact is not None
    assert rough is not None
    assert (rough.verdict, rough.p_value) == (exact.verdict, exact.p_value)
    width = exact.upper - exact.lower
    assert 0 < abs(rough.lower - exact.lower) + abs(rough.upper - exact.upper) < 0.3 * width


@pytest.mark.parametrize("seed", range(4))
def test_a_look_on_the_way_decides_what_the_record_says_in_the_end(seed: int) -> None:
    """After equal launches come others, on which the scores and a rough estimate disagree."""
    generator = np.random.default_rng(seed)
    d = np.concatenate([np.zeros(9), 0.4 + 0.014 * generator.standard_normal(14)])
    baseline = np.exp(np.concatenate([np.zeros(9), 0.01 * generator.standard_normal(14)]))
    asked = (lambda n: (baseline[:n], baseline[:n] * np.exp(d[:n])), 23, MARGIN, 0.01)
    on_the_way = judge(*asked, ended=False, newest_only=True, roughly=True)
    derived = judge(*asked, ended=False)
    assert on_the_way is not None
    assert derived is not None
    assert on_the_way.verdict == derived.verdict
    assert derived.p_value <= 0.01
    assert derived.lower > 0, "what the tests reject is not in the interval"


def test_what_looks_at_other_values_would_have_found_is_no_finding_behind_them() -> None:
    """As when `active` falls back to `wall` after 20 pairs, the first 14 of which are slower by `wall` alone."""
    generator = np.random.default_rng(3)
    first, others = 0.01 * generator.standard_normal((2, 21))
    others[:14] += 0.02
    asked = (lambda n: sides(first[:n] if n <= 20 else others[:n]), 21, MARGIN, 0.01)
    forgetful = judge(*asked, ended=False)
    judged = judge(*asked, ended=False, others=lambda n: 20 * (n > 20))
    assert judged is not None
    assert forgetful is not None
    assert (forgetful.verdict, judged.verdict) == ("slower", "undecided")
    assert judged.looks == forgetful.looks
    assert judged.p_value > 0.01
    assert judged.lower < 0 < judged.upper


def test_no_pairs_no_judgement() -> None:
    baseline, candidate = pair_values(0.1, 0.01, 11)
    assert judge(lambda n: (baseline[:n], candidate[:n]), 11, MARGIN, 0.01, ended=False) is None
    assert judge(lambda n: (baseline[:n], candidate[:n]), 0, MARGIN, 0.01, ended=True) is None


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.floats(-0.03, 0.03))
def test_swapping_the_sides_swaps_slower_and_faster(seed: int, change: float) -> None:
    baseline, candidate = pair_values(change, 0.01, 60, seed)
    mirror = {"slower": "faster", "faster": "slower"}
    there = judge(lambda n: (baseline[:n], candidate[:n]), 60, MARGIN, 0.01, ended=True)
    back = judge(lambda n: (candidate[:n], baseline[:n]), 60, MARGIN, 0.01, ended=True)
    assert there is not None
    assert back is not None
    assert back.verdict == mirror.get(there.verdict, there.verdict)


def test_identical_values_are_the_same_and_need_no_noise() -> None:
    equal = np.full(15, 4096.0)
    judgement = at_look(np.log(equal) - np.log(equal))
    assert judgement.verdict == "same"
    assert judgement.p_value == 1


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.floats(-0.02, 0.02))
def test_a_look_excludes_no_change_only_where_the_adjusted_p_value_is_at_most_alpha(seed: int, change: float) -> None:
    baseline, candidate = pair_values(change, 0.01, 45, seed)
    judgement = judge(lambda n: (baseline[:n], candidate[:n]), 45, MARGIN, 0.01, ended=False)
    assert judgement is not None
    excludes_none = judgement.estimate.lower > 0 or judgement.estimate.upper < 0
    assert not excludes_none or judgement.p_value <= 0.01 * (1 + 1e-9)
    assert judgement.is_change == excludes_none


def judged_of_two_speeds(pairs: int, seed: int) -> Judgement:
    """Return the judgement if half of the candidate's launches are slow."""
    generator = np.random.default_rng(seed)
    baseline, candidate = sides(0.003 * generator.standard_normal(pairs) + 0.1 * (generator.random(pairs) < 0.5))
    judgement = judge(lambda n: (baseline[:n], candidate[:n]), pairs, MARGIN, 0.01, ended=True)
    assert judgement is not None
    return judgement


@pytest.mark.parametrize(("pairs", "seed"), [(8, 7), (8, 38), (9, 13)])
def test_no_change_between_two_that_are_accepted_has_no_p_value_of_alpha(pairs: int, seed: int) -> None:
    """The test rejects "no change", but not the changes on either side of it."""
    judgement = judged_of_two_speeds(pairs, seed)
    assert judgement.lower < 0 < judgement.upper
    assert judgement.p_value > 0.01


@pytest.mark.parametrize(("pairs", "seed"), [(30, 29), (30, 112), (40, 115)])
def test_the_interval_of_the_ranks_holds_no_change_where_the_test_does_not_reject_it(pairs: int, seed: int) -> None:
    judgement = judged_of_two_speeds(pairs, seed)
    assert judgement.p_value > 0.01
    assert judgement.lower <= 0 <= judgement.upper


@pytest.mark.parametrize("margin", [0.002, 0.02])
def test_equal_differences_that_are_too_few_to_show_anything_have_an_interval_that_says_so(margin: float) -> None:
    first = Look(12, 0.0, 0.1, last=False)
    judgement = judge_look(*sides(np.full(12, 0.006)), [first], Rules(margin, 0.001))
    assert judgement.verdict == "undecided"
    assert judgement.p_value > 0.001
    assert judgement.lower <= 0
    assert judgement.upper >= min(margin, 0.006)


class TestCoarseClock:
    def test_what_a_clock_hides_is_not_resolved(self) -> None:
        fine, coarse = at_look(np.zeros(40)), at_look(np.zeros(40), quantisation=0.1)
        resolved = [resolution(one, MARGIN) for one in (fine, coarse)]
        assert resolved[0] is not None
        assert resolved[1] == pytest.approx(resolved[0] + 0.1)

    def test_constants_that_differ_are_changed_by_an_interval_without_no_change(self) -> None:
        judgement = judge(lambda n: (np.full(n, 100.0), np.full(n, 105.0)), 12, MARGIN, 0.01, ended=True)
        assert judgement is not None
        assert (judgement.verdict, judgement.lower) == ("slower", LEAST_CHANGE)
        assert judgement.upper == pytest.approx(np.log(1.05) + 2 * 5 / 102.5)

    def test_quantisation_turns_same_into_undecided(self) -> None:
        d = np.zeros(40)
        assert at_look(d).verdict == "same"
        assert at_look(d, quantisation=0.01).verdict == "undecided"

    def test_quantisation_widens_but_never_over_a_zero_that_the_test_excludes(self) -> None:
        judgement = at_look(np.linspace(0.02, 0.03, 40), quantisation=0.5)
        assert judgement.verdict == "slower"
        assert judgement.lower == LEAST_CHANGE
        assert judgement.upper == judgement.estimate.upper + 0.5


class TestFuture:
    def test_a_hopeless_budget_is_futile_and_a_generous_one_is_not(self) -> None:
        judgement = at_look(np.linspace(-0.2, 0.2, 45))
        assert is_futile(judgement, MARGIN, 100, 0.003)
        assert not is_futile(judgement, MARGIN, 50_000, 0.003)

    def test_nothing_is_futile_before_the_noise_is_known(self) -> None:
        assert not is_futile(weigh(0.0, 0.05, 23, ended=False), MARGIN, 24, 0.003)

    def test_what_was_measured_in_another_way_before_does_not_make_it_futile(self) -> None:
        judgement = at_look(np.linspace(-0.1, 0.1, 90))
        assert is_futile(judgement, MARGIN, 200, 0.003)
        assert not is_futile(replace(judgement, alike=30), MARGIN, 200, 0.003)
        assert is_futile(replace(judgement, alike=30), MARGIN, 110, 0.003)
        assert not is_futile(replace(judgement, alike=29), MARGIN, 110, 0.003)

    def test_predicted_chances_come_true(self) -> None:
        """Of many weighings, the share predicted at the 45th pair reaches a verdict at the 150th."""
        predicted, reached = [], []
        for seed in range(400):
            generator = np.random.default_rng(seed)
            d = generator.normal(generator.normal(0, 0.01), 0.02, 150)
            now = judge_look(*sides(d[:45]), only_look(45), RULES, roughly=True)
            if now.verdict == "undecided":
                predicted.append(chance_of_verdict(now, MARGIN, 150, nominal_level(only_look(150), 0.005)))
                later = judge_look(*sides(d), only_look(150), Rules(MARGIN, 0.005), roughly=True)
                reached.append(later.verdict != "undecided")
        assert np.mean(reached) == pytest.approx(np.mean(predicted), abs=0.06)

    def test_the_pairs_needed_decide_about_as_often_as_they_say(self) -> None:
        judgement = weigh(0.0, 0.02, 45)
        needed = pairs_needed(judgement, MARGIN, 0.003)
        assert needed is not None
        assert needed > 45
        decided = [weigh_seed(0.0, 0.02, needed, seed) != "undecided" for seed in range(10)]
        assert np.mean(decided) > 0.5

    def test_no_number_of_pairs_sees_through_a_clock_coarser_than_the_margin(self) -> None:
        d = np.linspace(-0.015, 0.015, 12)
        assert pairs_needed(at_look(d), MARGIN, 0.01) is not None
        assert pairs_needed(at_look(d, quantisation=0.01), MARGIN, 0.01) is None


def weigh_seed(change: float, noise: float, pairs: int, seed: int) -> str:
    baseline, candidate = pair_values(change, noise, pairs, seed)
    judgement = judge(lambda n: (baseline[:n], candidate[:n]), pairs, MARGIN, 0.01, ended=True, roughly=True)
    assert judgement is not None
    return judgement.verdict


def test_a_change_of_the_resolution_is_found_nine_times_out_of_ten() -> None:
    """Pairs and look are fixed, as the sentence in the report says; about a tenth is missed."""
    noise, rules = 0.01 / np.sqrt(2), Rules(MARGIN, 0.003)
    generator = np.random.default_rng(3)
    smallest = []
    for _ in range(60):
        found = resolution(
            judge_look(*sides(generator.normal(0, noise, 50)), only_look(50), rules, roughly=True), MARGIN
        )
        assert found is not None
        smallest.append(found)
    change = float(np.median(smallest))
    verdicts = [
        judge_look(*sides(generator.normal(change, noise, 50)), only_look(50), rules, roughly=True).verdict
        for _ in range(120)
    ]
    assert verdicts.count("slower") / 120 == pytest.approx(0.9, abs=0.06)


def test_so_is_one_of_several_benchmarks_that_share_alpha() -> None:
    noise, rules = 0.01, Rules(MARGIN, 0.01, members=100)
    generator = np.random.default_rng(4)

    def judged(change: float) -> Judgement:
        return judge_look(*sides(generator.normal(change, noise, 50)), only_look(50), rules, roughly=True)

    smallest = [resolution(judged(0.0), MARGIN) or 0.0 for _ in range(60)]
    verdicts = [judged(float(np.median(smallest))).verdict for _ in range(120)]
    assert verdicts.count("slower") / 120 == pytest.approx(0.9, abs=0.06)


def test_no_resolution_where_so_few_pairs_show_nothing_of_one_of_so_many() -> None:
    d = np.linspace(-0.01, 0.01, 12)
    assert resolution(judge_look(*sides(d), only_look(12), RULES), MARGIN) is not None
    assert resolution(judge_look(*sides(d), only_look(12), Rules(MARGIN, 0.01, members=100)), MARGIN) is None


def test_no_resolution_without_an_interval() -> None:
    judgement = judge_look(*sides(np.array([0.1, 0.2])), only_look(2), RULES)
    assert resolution(judgement, MARGIN) is None


def test_values_that_are_equal_but_for_a_few_have_no_verdict_against_most_pairs() -> None:
    """As with pages, or a clock's ticks: all but two or three of 14 pairs show the same change to the last digit."""
    generator = np.random.default_rng(7)
    found = [equal_but_for_a_few(generator) for _ in range(30)]
    assert all(one.lower <= np.log(1.01) <= one.upper for one in found)
    words = [one.verdict for one in found]
    assert set(words) <= {"slower", "undecided"}
    assert words.count("slower") > 20


def equal_but_for_a_few(generator: np.random.Generator) -> Judgement:
    values = np.full((14, 2), 10_000.0)
    values[generator.integers(0, 14, 3), generator.integers(0, 2, 3)] *= 1 + generator.random(3)
    baseline, candidate = (np.round(values) * [1.0, 1.01]).T
    found = judge(lambda n: (baseline[:n], candidate[:n]), 14, MARGIN, 0.05, ended=True)
    assert found is not None
    return found
