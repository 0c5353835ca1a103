"""Verdicts from counts; by simulation, false alarms and coverage if counts do not repeat."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.stats.counts import counts_needed, judge_counts, spread, stability

ALPHA, MARGIN = 0.01, 0.005


def test_equal_counts_make_any_change_real_and_the_interval_a_point() -> None:
    judged = judge_counts([1000.0, 1000.0], [1010.0, 1010.0], MARGIN, ALPHA)
    assert judged is not None
    assert (judged.verdict, judged.stability, judged.floor) == ("slower", "exact", 0)
    assert judged.interval == pytest.approx((0.01, 0.01))
    assert judged.change == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("candidate", "verdict"),
    [(1004.0, "same"), (1005.0, "slower"), (1000.0, "same"), (990.0, "faster"), (996.0, "same")],
)
def test_the_margin_gates_exact_counts(candidate: float, verdict: str) -> None:
    judged = judge_counts([1000.0] * 2, [candidate] * 2, MARGIN, ALPHA)
    assert judged is not None
    assert judged.verdict == verdict


def test_swapping_the_sides_mirrors_the_verdict() -> None:
    for change in (0.001, 0.004, 0.0049, 0.005, 0.0051, 0.02):
        up = judge_counts([1e6] * 2, [1e6 * (1 + change)] * 2, MARGIN, ALPHA)
        down = judge_counts([1e6 * (1 + change)] * 2, [1e6] * 2, MARGIN, ALPHA)
        assert up is not None
        assert down is not None
        assert {up.verdict: down.verdict} in ({"same": "same"}, {"slower": "faster"})


@pytest.mark.parametrize("tenths", [1, 2, 7, 9, 11, 29, 50, 125])
def test_a_change_is_the_number_next_to_it_so_that_a_limit_of_that_size_is_not_exceeded(tenths: int) -> None:
    judged = judge_counts([1e5] * 2, [1e5 + 100 * tenths] * 2, MARGIN, ALPHA)
    assert judged is not None
    assert (judged.change, judged.interval) == (tenths / 1000, (tenths / 1000, tenths / 1000))


@pytest.mark.parametrize(("one", "other"), [(1000.0, 1005.0), (200.0, 201.0), (2e6, 2.01e6)])
def test_a_change_of_just_the_margin_is_one_in_both_directions(one: float, other: float) -> None:
    up, down = judge_counts([one] * 2, [other] * 2, MARGIN, ALPHA), judge_counts([other] * 2, [one] * 2, MARGIN, ALPHA)
    assert up is not None
    assert down is not None
    assert (up.verdict, down.verdict) == ("slower", "faster")


def test_one_count_a_side_says_nothing() -> None:
    assert judge_counts([1.0], [2.0], MARGIN, ALPHA) is None


def test_counts_that_differ_decide_nothing_until_there_are_enough() -> None:
    few = judge_counts([1000.0, 1001.0], [2000.0, 2002.0], MARGIN, ALPHA)
    enough = judge_counts([1000.0, 1001.0] * 3, [2000.0, 2002.0] * 3, MARGIN, ALPHA)
    assert few is not None
    assert enough is not None
    assert (few.verdict, enough.verdict) == ("undecided", "slower")


@pytest.mark.parametrize(("alpha", "counts"), [(0.2, 3), (0.05, 4), (0.01, 5), (1e-4, 9), (1e-5, 11)])
def test_the_counts_needed_are_the_fewest_that_keep_alpha(alpha: float, counts: int) -> None:
    assert counts_needed(alpha) == counts


def test_stability_is_that_of_the_worse_side() -> None:
    assert stability([5.0, 5.0], [7.0, 7.0]) == "exact"
    assert stability([5e6, 5e6 + 10], [7.0, 7.0]) == "stable"
    assert stability([5.0, 5.0], [7.0, 8.0]) == "noisy"
    assert (spread([]), spread([0.0, 1.0])) == (0.0, 2.0)


def test_counts_that_are_mostly_none_vary_by_a_number() -> None:
    assert spread([0.0, 0.0, 0.0, 0.0, 3.0]) == 5.0
    assert stability([0.0, 0.0, 3.0], [0.0, 0.0, 0.0]) == "noisy"


@pytest.mark.parametrize("shape", ["normal", "lognormal", "two modes", "rounded"])
def test_alike_sides_that_do_not_repeat_alarm_at_most_at_alpha(shape: str) -> None:
    generator = np.random.default_rng(7)
    counts, tries = counts_needed(ALPHA), 20_000
    noise = generator.standard_normal((tries, 2, counts))
    if shape == "lognormal":
        noise = np.exp(1.5 * noise)
    elif shape == "two modes":
        noise = np.where(noise > 0, 5.0, -5.0) + 0.1 * generator.standard_normal((tries, 2, counts))
    elif shape == "rounded":
        noise = np.round(noise)
    alarms = 0
    for baseline, candidate in (1000 + 10 * noise).tolist():
        judged = judge_counts(baseline, candidate, 1e-5, ALPHA)
        alarms += judged is not None and judged.verdict in ("slower", "faster")
    assert alarms <= 1.15 * ALPHA * tries


def test_the_interval_covers_the_true_change_at_least_as_often_as_it_claims() -> None:
    generator = np.random.default_rng(11)
    counts, tries, missed = counts_needed(ALPHA), 20_000, 0
    for _ in range(tries):
        baseline, candidate = np.exp(0.01 * generator.standard_normal((2, counts)))
        judged = judge_counts(list(1e6 * baseline), list(1.03e6 * candidate), MARGIN, ALPHA)
        assert judged is not None
        missed += not judged.interval[0] <= 0.03 <= judged.interval[1]
    assert missed <= 1.15 * ALPHA * tries
