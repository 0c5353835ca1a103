"""What is said to decide an undecided weighing does decide it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benchmarks.hints_on_traces import CHANGES, Followed, follow, noises
from benchmarks.simulation import weigh_once

from steelyard.design.judging.judgement import verdicts
from steelyard.design.judging.outlook import Needed, needed_to_decide
from steelyard.model.derived import Verdict
from steelyard.model.launches import Launches
from steelyard.model.records import Part
from steelyard.model.settings import Settings
from steelyard.stats.looks import Budgets
from steelyard.stats.paired import judge
from tests.design.scripted import noisy, weigh


def weighed(seconds_a_launch: float, max_time_s: float, noise: float = 0.01, **settings: Any) -> Verdict:
    script = noisy(0.0, noise, wall_ns=seconds_a_launch * 1e9)
    return verdicts(weigh(script, max_time_s=max_time_s, **settings)[0])[0]


# The other noises of hints_on_traces.py would take as long and say the same.
@pytest.mark.parametrize("name", ["bursts, wall", "heavy"])
def test_a_hint_leads_to_a_verdict_and_half_of_it_in_half_of_all_cases(name: str) -> None:
    generator, noise, found = np.random.default_rng(4), noises()[name], Followed()
    for pairs, times in ((5, 3), (12, 6), (30, 6)):
        for change in CHANGES:
            for _ in range(times):
                found += follow(noise, change, pairs, generator)
    assert found.pairs > 20
    assert found.pairs_decided / found.pairs >= 0.8
    assert found.margins_decided / found.margins >= 0.7
    assert found.even > 20
    assert 0.35 <= found.even_decided / found.even <= 0.85


def test_following_a_hint_of_one_of_many_benchmarks_leads_to_a_verdict() -> None:
    generator, noise, found = np.random.default_rng(4), noises()["ambient, active"], Followed()
    for _ in range(10):
        found += follow(noise, 0.1, 9, generator, members=14)
    assert found.pairs == 10
    assert found.pairs_decided / found.pairs >= 0.8


def test_what_pairs_did_not_decide_so_many_are_not_said_to() -> None:
    for verdict in verdicts(weigh(noisy(0.1, wall_ns=1e9), 14, max_time_s=14 * 2 * 10)[0]):
        assert verdict.verdict == "undecided"
        assert verdict.pairs_needed in (12, 13)
        assert verdict.pairs < 10


def test_the_bar_is_not_met_by_as_many_pairs_again() -> None:
    generator, noise = np.random.default_rng(4), noises()["quiet"]
    again = [weigh_once(noise(generator, 12), margin=0.005, alpha=0.01, roughly=True).verdict for _ in range(50)]
    assert sum(verdict != "undecided" for verdict in again) < 25


def test_the_time_needed_is_that_which_passed_and_that_of_the_pairs_that_lack() -> None:
    verdict = weighed(1.0, 30.0)
    assert verdict.pairs == 14
    assert verdict.pairs_needed is not None
    # 14 pairs and the warm-up took 30 s.
    assert verdict.seconds_needed == pytest.approx(30 + 2 * (verdict.pairs_needed - 14), rel=0.02)


def test_following_a_hint_tries_a_suite_once_more() -> None:
    record = weigh(noisy(0.0, wall_ns=1e9), max_time_s=30.0)[0]
    plain, suite = (verdicts(one)[0] for one in (record, record.model_copy(update={"preparing_s": 7.0})))
    assert plain.seconds_needed is not None
    assert suite.seconds_needed == pytest.approx(plain.seconds_needed + 7)


def test_benchmarks_that_were_not_reached_will_have_their_turns() -> None:
    reached, all_of = (verdicts(weigh(noisy(0.0, wall_ns=1e9), count, max_time_s=6.0)[0]) for count in (2, 4))
    assert [verdict.change is None for verdict in all_of] == [False, False, True, True]
    assert reached[0].seconds_needed is not None
    assert all_of[0].seconds_needed is not None
    assert all_of[0].seconds_needed > 1.8 * reached[0].seconds_needed


def test_a_control_has_its_turns_as_well() -> None:
    record = weigh(noisy(0.0, wall_ns=1e9), 2, max_time_s=30.0)[0]
    control = record.benchmarks[1].model_copy(update={"candidate": 0, "control": True})
    verdict = verdicts(record.model_copy(update={"benchmarks": [record.benchmarks[0], control]}))[0]
    assert (verdict.verdict, verdict.control) == ("undecided", False)
    assert verdict.seconds_needed == pytest.approx(30 + 4 * ((verdict.pairs_needed or 0) - verdict.pairs), rel=0.1)


def test_of_merged_weighings_a_benchmark_waits_for_those_of_its_part_alone() -> None:
    record = weigh(noisy(0.0, wall_ns=1e9), 2, max_time_s=30.0)[0]
    launches = [[*record.launches.benchmark].count(number) for number in (0, 1)]
    parts = [
        Part(created="", tool="", machine=record.machine, seed=0, seconds=float(took_s), benchmarks=[number])
        for number, took_s in enumerate(launches)
    ]
    for whole, alone in zip(verdicts(record), verdicts(record.model_copy(update={"parts": parts})), strict=True):
        assert whole.seconds_needed is not None
        assert alone.seconds_needed == pytest.approx(whole.seconds_needed / 2, rel=0.05)


def test_what_a_benchmark_lacks_is_told_without_a_search_of_the_launches_of_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record = weigh(noisy(0.0, wall_ns=1e9), 5, max_time_s=150.0)[0]
    searched: list[int] = []
    of = Launches.of

    def spied(launches: Launches, benchmark: int, *roles: str) -> Any:
        searched.append(len(launches))
        return of(launches, benchmark, *roles)

    monkeypatch.setattr(Launches, "of", spied)
    assert all(verdict.seconds_needed for verdict in verdicts(record))
    assert max(searched) <= len(record.launches) // 5


def test_a_warm_up_takes_its_time_of_a_budget() -> None:
    many, few = weighed(1.0, 40.0, warm_up=9), weighed(1.0, 40.0, warm_up=1)
    assert many.seconds_needed is not None
    assert many.seconds_needed == pytest.approx(40 + 2 * ((many.pairs_needed or 0) - many.pairs), rel=0.03)
    assert few.pairs == many.pairs + 8


def test_so_does_what_the_budget_left_of_it() -> None:
    verdict = weighed(1.0, 10.0, warm_up=9)
    assert (verdict.pairs, verdict.pairs_needed) == (0, 12)
    assert verdict.seconds_needed == pytest.approx(2 * (9 + 12), rel=0.01)


def test_so_few_pairs_that_they_tell_of_no_noise_need_a_dozen() -> None:
    for budget_s, pairs in ((5.0, 1), (9.0, 3)):
        verdict = weighed(1.0, budget_s)
        assert (verdict.pairs, verdict.pairs_needed, verdict.interval) == (pairs, 12, None)
        assert verdict.change is not None
    verdict = weighed(1.0, 11.0)
    assert verdict.pairs == 4
    assert verdict.pairs_needed is not None
    assert verdict.pairs_needed > 100


def test_an_undecided_weighing_names_the_margin_that_its_noise_allows() -> None:
    verdict = weighed(1.0, 30.0, noise=0.3)
    assert verdict.margin_needed is not None
    assert 0.2 < verdict.margin_needed < 2
    assert weighed(0.001, 5.0, noise=0.0001).margin_needed is None


def lacking(change: float, *, sign: int = 1, members: float = 1, reserve: float = 0.0) -> Needed:
    """Return what is still needed after 14 pairs with about this change, which leave the verdict open."""
    noise = 0.01 * np.random.default_rng(1).standard_normal(14)
    half = sign * (change + noise - np.median(noise)) / 2
    sides = np.exp(-half), np.exp(half)
    judgement = judge(lambda pairs: (sides[0][:pairs], sides[1][:pairs]), 14, 0.005, 0.01, ended=True)
    assert judgement is not None
    assert judgement.verdict == "undecided"
    settings = Settings(margin=0.005, alpha=0.01, reserve=reserve)
    return needed_to_decide(judgement, settings, Budgets(reserve, None, 0.01), members)


@pytest.mark.parametrize("members", [1, 8])
def test_what_is_faster_lacks_as_many_pairs_as_what_is_as_much_slower(members: float) -> None:
    slower, faster = (lacking(0.005, sign=sign, members=members).pairs for sign in (1, -1))
    assert slower is not None
    assert faster == slower


def test_a_change_among_many_lacks_more_pairs_and_what_is_within_the_margin_does_not() -> None:
    alone, among = (lacking(0.005, members=members) for members in (1, 8))
    assert alone.pairs is not None
    assert alone.even is not None
    assert among.pairs is not None
    assert among.pairs > 1.3 * alone.pairs
    assert 14 < alone.even < alone.pairs
    assert lacking(0.001, members=8) == lacking(0.001)


def test_a_budget_that_keeps_some_of_alpha_lacks_more_pairs() -> None:
    whole, keeping = (lacking(0.005, reserve=reserve).pairs for reserve in (0.0, 0.5))
    assert whole is not None
    assert keeping is not None
    assert whole < keeping < 1.5 * whole
