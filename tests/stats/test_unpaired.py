"""Two unpaired runs; benchmarks/diff_unpaired.py prints the whole table of the claims that are tested here."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from benchmarks.diff_unpaired import SESSIONS, simulate_unpaired

from steelyard.stats.unpaired import (
    FEWEST_LAUNCHES,
    FEWEST_SECONDS,
    FLOOR,
    SHORT_FLOOR,
    SHORT_SECONDS,
    RunValues,
    UnpairedJudgement,
    between_block_spread,
    judge_unpaired,
    resolution,
)
from steelyard.stats.verdict import CHANGED

ALPHA = 0.01


def calm(
    level: float = 0.0, launches: int = 1000, *, noise: float = 0.002, seconds: float = 30, seed: int = 1
) -> RunValues:
    return RunValues(level + noise * np.random.default_rng(seed).standard_normal(launches), seconds)


def judge(one: RunValues, other: RunValues, margin: float = 0.005, alpha: float = ALPHA) -> UnpairedJudgement:
    return judge_unpaired(one, other, margin, alpha)


@pytest.mark.parametrize("name", SESSIONS)
def test_false_alarms_and_coverage(name: str) -> None:
    tally = simulate_unpaired(SESSIONS[name], 300, tries=100)
    assert tally.share(*CHANGED) <= ALPHA
    assert tally.coverage >= 1 - ALPHA


@pytest.mark.parametrize("name", ["ambient, bursts, active", "bursts, bursts, cpu", "a step of 1.0%"])
def test_the_bars_can_fail_by_mann_whitney_alone(name: str) -> None:
    assert simulate_unpaired(SESSIONS[name], 400, tries=20).plain > 0.5


@pytest.mark.parametrize(
    ("name", "launches", "change", "found"),
    [
        ("ambient, ambient, active", 1000, 0.2, 0.98),
        ("ambient, bursts, cpu", 400, 0.2, 0.98),
        ("a step of 0.5%", 1000, 0.1, 1),
    ],
)
def test_large_changes_are_found(name: str, launches: int, change: float, found: float) -> None:
    assert simulate_unpaired(SESSIONS[name], launches, change, tries=50).share("slower") >= found


def test_a_calm_run_is_no_reason_to_believe_a_small_change() -> None:
    assert judge(calm(), calm(0.03, seed=2)).verdict == "undecided"
    assert judge(calm(), calm(0.05, seed=2)).verdict == "slower"
    assert judge(calm(0.05), calm(seed=2)).verdict == "faster"


def test_short_runs_are_believed_less() -> None:
    short, long = calm(0.05, seconds=SHORT_SECONDS - 1, seed=2), calm(0.05, seconds=SHORT_SECONDS, seed=2)
    assert (judge(calm(), short).verdict, judge(calm(), long).verdict) == ("undecided", "slower")
    assert (judge(short, calm()).floor, judge(calm(), long).floor) == (SHORT_FLOOR, FLOOR)


def test_the_larger_between_block_spread_of_the_two_widens_the_interval() -> None:
    drifting = RunValues(calm(seed=2).logs + np.linspace(0, 0.2, 1000), 30)
    alone = judge(calm(), calm(seed=2)).allowance
    assert judge(calm(), drifting).allowance == pytest.approx(judge(drifting, calm()).allowance)
    assert judge(calm(), drifting).allowance > 5 * alone
    assert judge(calm(), drifting).block_spreads[1] == pytest.approx(0.2 / np.sqrt(12), rel=0.15)


@pytest.mark.parametrize(("launches", "blocks"), [(16, 8), (50, 10), (1000, 12)])
@pytest.mark.parametrize("drift", [0.0, 0.2])
def test_the_allowance_is_student_s_for_the_blocks_of_the_shorter_run(launches: int, blocks: int, drift: float) -> None:
    short = RunValues(np.linspace(0, drift, launches), 30)
    length = launches // blocks
    medians = [np.median(short.logs[block * length : (block + 1) * length]) for block in range(blocks)]
    by_student = np.sqrt(2) * scipy.stats.t.isf(ALPHA / 2, blocks - 1) * np.std(medians, ddof=1)
    by_floor = np.sqrt(2) * scipy.stats.norm.isf(ALPHA / 2) * FLOOR
    for judged in (judge(short, calm()), judge(calm(), short)):
        assert judged.allowance == pytest.approx(by_student if drift else by_floor, rel=1e-4)


def test_a_smaller_alpha_widens_more() -> None:
    assert judge(calm(), calm(seed=2), alpha=0.001).allowance > 1.2 * judge(calm(), calm(seed=2)).allowance


def test_too_few_launches_to_see_the_level_move_decide_nothing() -> None:
    few, enough = calm(1.0, FEWEST_LAUNCHES - 1), calm(1.0, FEWEST_LAUNCHES)
    assert (judge(calm(), few).verdict, judge(few, calm()).verdict) == ("undecided", "undecided")
    assert judge(calm(), few).lower == -np.inf
    assert judge(calm(), enough).verdict == "slower"


def test_too_short_a_time_decides_nothing_however_many_launches() -> None:
    assert judge(calm(), calm(1.0, seconds=FEWEST_SECONDS / 2)).verdict == "undecided"
    assert judge(calm(seconds=FEWEST_SECONDS / 2), calm(1.0)).verdict == "undecided"
    assert judge(calm(), calm(1.0, seconds=FEWEST_SECONDS)).verdict == "slower"


def test_same_needs_the_whole_interval_within_the_margin() -> None:
    assert judge(calm(), calm(seed=2), margin=0.1).verdict == "same"
    assert judge(calm(), calm(0.09, seed=2), margin=0.1).verdict == "undecided"


def test_what_a_clock_hides_is_in_the_interval() -> None:
    fine, coarse = (judge_unpaired(calm(), calm(seed=2), 0.1, ALPHA, quantisation=hidden) for hidden in (0.0, 0.2))
    assert (fine.verdict, coarse.verdict) == ("same", "undecided")
    assert (coarse.lower, coarse.upper) == pytest.approx((fine.lower - 0.2, fine.upper + 0.2))
    assert judge_unpaired(calm(), calm(0.1, seed=2), 0.005, ALPHA, quantisation=0.2).verdict == "undecided"


def test_the_resolution_is_found_nine_times_out_of_ten_whichever_bound_is_the_wider() -> None:
    judged = judge(calm(), calm(seed=2))
    usual = np.sqrt(2) * FLOOR
    assert resolution(judged, 0.005) == pytest.approx((judged.upper - judged.lower) / 2 + 1.2816 * usual, rel=1e-4)
    assert resolution(judged, 0.2) == pytest.approx(np.log1p(0.2) + 1.2816 * usual, rel=1e-4)
    drifting = RunValues(calm(seed=2).logs + np.linspace(0, 0.2, 1000), 30)
    for judged in (judge(calm(), drifting), judge(drifting, calm())):
        error = np.sqrt(2) * max(judged.block_spreads)
        assert resolution(judged, 0.005) == pytest.approx((judged.upper - judged.lower) / 2 + 1.2816 * error, rel=1e-4)


def test_what_waiting_explains_is_no_change_of_the_program() -> None:
    one = calm()
    kept_waiting = RunValues(one.logs + 0.5, 30, unwaited=one.logs)
    patient = RunValues(one.logs, 30, unwaited=one.logs)
    judged = judge(patient, kept_waiting)
    assert (judged.verdict, judged.waiting) == ("undecided", True)
    assert judged.lower < 0 < 0.5 < judged.upper
    really = RunValues(one.logs + 0.5, 30, unwaited=one.logs + 0.4)
    assert (judge(patient, really).verdict, judge(patient, really).waiting) == ("slower", False)


def test_with_waits_and_without_them_the_interval_is_what_either_allows() -> None:
    one = calm()
    patient = RunValues(one.logs, 30, unwaited=one.logs)
    for waited, unwaited in ((0.5, 0.4), (0.4, 0.5)):
        judged = judge(patient, RunValues(one.logs + waited, 30, unwaited=one.logs + unwaited))
        with_waits, without = (judge(one, RunValues(one.logs + change, 30)) for change in (waited, unwaited))
        assert judged.lower == min(with_waits.lower, without.lower)
        assert judged.upper == max(with_waits.upper, without.upper)


def test_waits_explain_no_change_where_none_was_seen() -> None:
    one = calm()
    patient = RunValues(one.logs, 30, unwaited=one.logs)
    assert not judge(patient, patient).waiting
    assert not judge(one, one).waiting


def test_waits_that_only_one_of_the_runs_has_noted_explain_nothing() -> None:
    one, slower = calm(), calm(0.5, seed=2)
    noted = RunValues(one.logs, 30, unwaited=one.logs), RunValues(slower.logs, 30, unwaited=one.logs)
    for runs in ((noted[0], slower), (one, noted[1])):
        assert judge(*runs) == judge(one, slower)


def test_the_between_block_spread_is_the_spread_of_block_medians() -> None:
    assert between_block_spread(np.array([0.0, 0, 9, 1, 1, 1, 2, 2, -9]), 3) == pytest.approx(1.0)
