"""If one side is far faster than the other, each has loops of its own, unless something prevents that."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from steelyard.design.judging.judgement import verdicts
from steelyard.design.runner.runner import Runner
from steelyard.design.runner.targets import work_of
from steelyard.design.suite.loops import TARGET_NS, TURN_NS
from steelyard.design.suite.pilot_time import PilotTime
from steelyard.design.suite.planner import Planner
from steelyard.design.suite.selection import Selection
from steelyard.model.derived import Verdict
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.records import Weighing
from tests.design.scripted import PLAIN
from tests.design.scripted_harness import Asked, Body, Suites, header, machine, plan, share_starts, steady, weigh
from tests.design.suite.made import ONE, messages

FAST_NS, SLOW_NS = 46.0, 2e6
GIVEN_UP_NS = 2 * 10**9
CLOCK_NS = 150
"""What reading the clock adds to each sample."""
ORDERS = pytest.mark.parametrize("slow", [0, 1], ids=["slow baseline", "slow candidate"])


def body(each_ns: float, first_ns: float = 0.0) -> Body:
    """Return a body: iterations of `each_ns`, the first in a launch `first_ns` more; reading the clock takes time."""
    plain = steady(each_ns, within=0.001, between=0.001)

    def run(asked: Asked) -> Any:
        lines = plain(asked)
        assert isinstance(lines, list)
        for place, line in enumerate(lines):
            line["ns"] += CLOCK_NS + (round(first_ns) if place == 0 else 0)
            line["cpu_ns"] = line["ns"]
        return lines

    return run


class Impatient(Suites):
    """The machine, which kills a launch that takes longer than it may."""

    def answer(self, number: int, spec: LaunchSpec) -> Any:
        measured = super().answer(number, spec)
        if spec.timeout_ns is not None and measured.wall_ns > spec.timeout_ns:
            return replace(PLAIN, wall_ns=spec.timeout_ns, timed_out=True, exit_code=None, signal=9)
        return measured


def impatient(*each: Body) -> Impatient:
    suites = {name: {"one": one} for name, one in zip(("baseline", "candidate", "newer"), each, strict=False)}
    found = Impatient(script=lambda number, spec: found.answer(number, spec), suites=suites)
    return found


def fast_and_slow(slow: int, slow_ns: float = SLOW_NS) -> Impatient:
    """Return harnesses of which side `slow` is the slow one."""
    return impatient(*(body(slow_ns if side == slow else FAST_NS) for side in (0, 1)))


def loops_of(record: Weighing) -> list[int | None]:
    return [record.benchmarks[0].loops_of(side) for side in (0, 1)]


def only(found: Sequence[Verdict]) -> Verdict:
    (verdict,) = found
    return verdict


@ORDERS
class TestFarApart:
    def test_samples_of_both_are_as_long_as_they_should_be(self, slow: int) -> None:
        record = plan(fast_and_slow(slow), header())
        loops = loops_of(record)
        assert loops[slow] == 1
        assert loops[1 - slow] == pytest.approx(TARGET_NS / FAST_NS, rel=0.5)

    def test_no_launch_of_the_slow_one_is_as_long_as_the_loops_of_the_other_would_take(self, slow: int) -> None:
        suites = fast_and_slow(slow)
        plan(suites, header())
        lasted_s = sum(SLOW_NS * one.loops * one.samples / 1e9 for one in suites.asked if one.program == _name(slow))
        given_up = [spec for spec in suites.specs if spec.timeout_ns == GIVEN_UP_NS]
        assert len(given_up) == 1
        assert lasted_s - slow * TARGET_NS / FAST_NS * SLOW_NS / 1e9 < 10

    def test_times_and_ratio_are_right_in_either_order(self, slow: int) -> None:
        record = weigh(fast_and_slow(slow), pairs=12, max_time_s=None)
        verdict = only(verdicts(record))
        sides = (verdict.baseline, verdict.candidate)
        assert all(side is not None for side in sides)
        medians = [side.median for side in sides if side is not None]
        assert medians[slow] == pytest.approx(SLOW_NS, rel=0.01)
        assert medians[1 - slow] == pytest.approx(FAST_NS, rel=0.01)
        assert verdict.verdict == ("faster", "slower")[slow]
        assert [one.code for one in verdict.findings] == []
        assert {sample[0] for launch in record.launches.samples for sample in launch} == {*loops_of(record)}

    def test_what_is_of_the_whole_launch_takes_the_same_loops(self, slow: int) -> None:
        for asked in ({"metrics": ["active", "max_rss"]}, {"heap": 1}, {"metrics": ["instructions"]}):
            record = plan(fast_and_slow(slow), header(**asked))
            assert record.benchmarks[0].loops == pytest.approx(50, abs=1)  # 0.1 s of the slow one's iterations
            assert record.benchmarks[0].candidate_loops is None

    def test_samples_that_are_too_short_then_are_told(self, slow: int) -> None:
        record = weigh(fast_and_slow(slow), pairs=12, max_time_s=None, metrics=["active", "max_rss"])
        active = verdicts(record)[0]
        (said,) = [one.message for one in active.findings if one.code == "short-samples"]
        assert re.fullmatch(
            f"a sample of {_name(1 - slow)}, (49|50) iterations, takes 2.4.. µs, too short for a clock: its time is an "
            "upper bound, and the change is larger than shown",
            said,
        )

    def test_the_record_keeps_them(self, slow: int) -> None:
        record = plan(fast_and_slow(slow), header())
        again = Weighing.model_validate_json(record.model_dump_json())
        assert again.benchmarks == record.benchmarks
        assert [work_of(again, 0, side=side).loops for side in (0, 1)] == loops_of(record)


def _name(side: int) -> str:
    return ("baseline", "candidate")[side]


@pytest.mark.parametrize("times", [1, 3, 9, 1 / 3, 1 / 9])
def test_others_have_those_of_the_baseline(times: float) -> None:
    suites = machine(baseline=ONE, candidate={"one": steady(1000.0 * times)})
    (benchmark,) = plan(suites, header()).benchmarks
    assert benchmark.candidate_loops is None
    assert "candidate_loops" not in benchmark.model_dump()
    assert [(one.loops, one.samples) for one in suites.asked if one.program == "candidate"] == [(1000, 1)]


@pytest.mark.parametrize("slow_ns", [SLOW_NS, 0.8e6, 0.4e6, 0.15e6, 0.05e6, 1e4])
def test_an_iteration_that_fills_what_the_others_look_up_hides_nothing(slow_ns: float) -> None:
    record = plan(impatient(body(slow_ns), body(FAST_NS, first_ns=slow_ns)), header())
    assert loops_of(record)[1] == pytest.approx(TARGET_NS / FAST_NS, rel=0.5)


def test_a_slow_start_is_no_slow_iteration() -> None:
    """A candidate that has to load much at first was given up in its trial, but has the same loops in the end."""
    record = plan(impatient(body(1000.0), body(1100.0, first_ns=3e9)), header())
    assert loops_of(record)[0] == loops_of(record)[1]
    assert loops_of(record)[0] == pytest.approx(TARGET_NS / 1000, rel=0.5)


@ORDERS
def test_beside_a_long_one_samples_are_long_too(slow: int) -> None:
    record = plan(fast_and_slow(slow, slow_ns=2e8), header())
    assert record.benchmarks[0].samples == 1
    loops = loops_of(record)
    assert loops[slow] == 1
    assert loops[1 - slow] == pytest.approx(0.1e9 / FAST_NS, rel=0.1)


def test_a_long_one_is_tried_beside_others_only_as_long_as_there_is_time() -> None:
    suites = fast_and_slow(0, slow_ns=2e8)
    time = PilotTime(suites.clock, suites.clock() + 1.5)
    record = Planner(header(max_time_s=1.5), {}, Runner(suites), lambda _: None, time).plan(Selection())
    assert isinstance(record, Weighing)
    assert [one.program for one in suites.asked] == ["baseline"]
    assert loops_of(record) == [1, 1]


def test_what_is_one_call_then_is_told() -> None:
    record = weigh(fast_and_slow(0, slow_ns=2e8), pairs=12, max_time_s=None, metrics=["active", "max_rss"])
    (said,) = [one.message for one in verdicts(record)[0].findings if one.code == "short-samples"]
    assert said.startswith("a sample of candidate, the first iteration of a launch, takes 195.5 ns")


def test_of_several_candidates_each_has_its_own() -> None:
    record = plan(
        impatient(body(1000.0), body(3000.0), body(1e6)), header("candidate", "newer"), Selection(control=True)
    )
    own = [(one.name, one.candidate_loops) for one in record.benchmarks]
    assert own == [("candidate, one", None), ("newer, one", 2), (record.benchmarks[2].name, None)]
    assert len({one.loops for one in record.benchmarks}) == 1


@ORDERS
def test_out_of_common_starts_too(slow: int, monkeypatch: pytest.MonkeyPatch) -> None:
    share_starts(monkeypatch)
    suites = fast_and_slow(slow)
    for bodies in suites.suites.values():
        assert isinstance(bodies, dict)
        bodies["other"] = steady()
    record = weigh(suites, pairs=12, max_time_s=None)
    assert record.settings.starts == "shared"
    assert loops_of(record)[slow] == 1
    assert loops_of(record)[1 - slow] == pytest.approx(TURN_NS / FAST_NS, rel=0.5)
    assert record.benchmarks[1].candidate_loops is None
    assert messages(record, "own-starts") == []
    assert not any(spec.timeout_ns == GIVEN_UP_NS for spec in suites.specs[-24:])


def test_what_its_first_call_compiles_makes_no_iteration_long() -> None:
    record = plan(impatient(body(SLOW_NS), body(FAST_NS, first_ns=1e9)), header())
    assert loops_of(record)[1] == pytest.approx(TARGET_NS / FAST_NS, rel=0.5)
    assert (record.benchmarks[0].samples or 0) >= 4


def test_a_candidate_that_never_ends_has_failed() -> None:
    record = plan(impatient(body(1000.0), body(1e15)), header())
    assert record.stop == ["failed"]
    assert messages(record, "failed")[0].startswith("candidate (one) did not end within 30 s and was killed")
