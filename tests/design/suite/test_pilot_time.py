"""Listing and trying the benchmarks of a suite within the time that the user gave for everything."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from steelyard.design.counting.plan import missing_counts
from steelyard.design.runner.runner import Runner
from steelyard.design.runner.targets import targets_of
from steelyard.design.suite.loops import LEAST_SAMPLES, answer_all, ask_for_loops
from steelyard.design.suite.pilot_time import PilotTime
from steelyard.design.suite.planner import Planner
from steelyard.design.suite.selection import Selection
from steelyard.design.timing.alone import RunMeasurement
from steelyard.design.timing.experiment import Experiment
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.records import Run, Weighing
from steelyard.model.rows import ROLES, USED, Sample
from tests.design import scripted_harness
from tests.design.scripted import recorder, without_files
from tests.design.scripted_harness import Suites, fails, header, machine, run_header, steady
from tests.design.suite.made import both, messages, names

BUDGET_S = 5.0


def planned(suites: Suites, **settings: object) -> Weighing:
    record = header(max_time_s=BUDGET_S, **settings)
    time = PilotTime(suites.clock, suites.clock() + BUDGET_S)
    found = Planner(record, {}, Runner(suites), lambda _: None, time).plan(Selection())
    assert isinstance(found, Weighing)
    return found


@pytest.mark.parametrize(("budget_s", "limit_s"), [(1.0, 10.0), (30.0, 60.0), (None, None)])
def test_a_benchmark_that_never_ends_is_no_reason_never_to_end(budget_s: float | None, limit_s: float | None) -> None:
    time = PilotTime(lambda: 0.0, budget_s)
    time.begin(1, 0.0)
    spec = LaunchSpec(b"/x", (b"/x",), ())
    assert time.with_limit(spec).timeout_ns == (None if limit_s is None else limit_s * 1e9)
    assert time.with_limit(replace(spec, timeout_ns=5)).timeout_ns == 5


def weighed(suites: Suites) -> tuple[Weighing, float]:
    """Return a whole weighing, and the seconds that it took with everything before it."""
    begun = suites.clock()
    record = planned(suites)
    launches = recorder(suites, targets=without_files(targets_of(record, {})))
    spent_s = suites.clock() - begun
    ended = Experiment(record, launches, suites.clock, lambda _: None, spent_s=spent_s, stopped=record.stop).run()
    return ended, suites.clock() - begun


@pytest.mark.parametrize("count", [1, 3, 10, 40])
@pytest.mark.parametrize("start_s", [0.01, 0.1, 0.3, 1.0])
def test_the_whole_keeps_to_it(monkeypatch: pytest.MonkeyPatch, count: int, start_s: float) -> None:
    monkeypatch.setattr(scripted_harness, "START_NS", round(start_s * 1e9))
    suites = both(**{f"b{number}": steady() for number in range(count)})
    record, seconds = weighed(suites)
    # If a launch takes a second, the list and the trial of one benchmark leave little time for a pair of it.
    assert seconds < BUDGET_S * 1.1 if start_s < 1 else seconds < BUDGET_S * 1.7
    pairs = Counter((row.benchmark, row.pair) for row in record.launches.rows())
    assert [*pairs.values()].count(2) > 0
    told = ", ".join(messages(record, "not-measured"))
    measured = {record.benchmarks[row.benchmark].name for row in record.launches.rows()}
    assert measured
    assert all(name in measured or name in told or "more" in told for name in suites.suites["baseline"])


def test_with_time_enough_nothing_is_rougher() -> None:
    with_time, without = (both(a=steady(), b=steady(50.0)) for _ in range(2))
    planner = Planner(header(), {}, Runner(without), lambda _: None)
    assert planned(with_time).benchmarks == planner.plan(Selection()).benchmarks


def test_in_a_hurry_loops_are_still_long_enough_and_samples_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripted_harness, "START_NS", 150_000_000)
    suites = both(a=steady(1000.0), b=steady(1000.0), c=steady(1000.0), d=steady(1000.0))
    record = planned(suites)
    assert {benchmark.samples for benchmark in record.benchmarks} == {LEAST_SAMPLES}
    assert all(one.loops == 1000 for one in record.benchmarks)
    assert max(Counter((asked.program, asked.name) for asked in suites.asked).values()) == 2


def test_a_hurry_does_not_trust_the_first_sample() -> None:
    taken: list[int] = []

    def take(loops: int, samples: int) -> list[Sample]:
        taken.append(loops)
        cold_ns = 90_000 if len(taken) == 1 else 0
        return [Sample(loops, loops * 100 + cold_ns, None, None)] * samples

    assert answer_all(ask_for_loops(hurried=True), lambda amount: take(*amount)) == 15_000
    assert taken == [1, 17]


def test_what_hangs_when_the_time_is_over_was_not_reached() -> None:
    hangs = fails({"timed_out": True, "wall_ns": 60_000_000_000, "signal": 9, "exit_code": None})
    suites = both(good=steady(), hangs=hangs, later=steady())
    record = planned(suites)
    assert names(record) == ["good", "hangs", "later"]
    assert record.stop == ["interrupted", "time", "time"]
    assert [one.is_untried for one in record.benchmarks] == [False, True, True]


def test_one_that_takes_long_leaves_the_others_their_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripted_harness, "START_NS", 30_000_000)
    quick = {f"quick {number}": steady() for number in range(4)}
    record, seconds = weighed(both(**quick, slow=steady(20e9), later=steady()))
    assert seconds < BUDGET_S * 1.1
    assert names(record) == [*quick, "slow", "later"]
    assert record.stop[-2:] == ["time", "time"]
    (told,) = messages(record, "not-measured")
    assert told.endswith("slow, later")
    pairs = Counter(row.benchmark for row in record.launches.rows() if ROLES[row.role] == USED)
    assert min(pairs[number] for number in range(4)) >= 2 * 4


def test_no_more_are_tried_than_there_will_be_pairs_of() -> None:
    record, seconds = weighed(both(**{f"b{number}": steady(400e6) for number in range(8)}))
    assert seconds < BUDGET_S * 1.1
    pairs = Counter((row.benchmark, row.pair) for row in record.launches.rows())
    tried = {number for number, one in enumerate(record.benchmarks) if not one.is_untried}
    assert {benchmark for benchmark, pair in pairs if pairs[benchmark, pair] == 2} == tried
    assert len(messages(record, "not-measured")) == 1
    assert {record.stop[number] for number in range(8) if number not in tried} == {"time"}


def test_the_first_has_all_the_time_that_a_launch_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripted_harness, "START_NS", 2_300_000_000)
    suites = both(one=steady())
    planned(suites)
    limits = [spec.timeout_ns for spec in suites.specs]
    assert limits == [round(BUDGET_S * 1e9)] * len(limits)


def test_lists_and_trials_have_the_usual_budget_where_a_weighing_may_take_longer() -> None:
    suites = both(one=steady(), two=steady())
    Planner(header(max_time_s=30, longest_time_s=600), {}, Runner(suites), lambda _: None).plan(Selection())
    # The candidate's first trial is given up earlier.
    assert {spec.timeout_ns for spec in suites.specs} == {30 * 10**9, 2 * 10**9}


def test_one_that_hangs_before_any_other_has_failed() -> None:
    hangs = fails({"timed_out": True, "wall_ns": 60_000_000_000, "signal": 9, "exit_code": None})
    record = planned(both(hangs=hangs, later=steady()))
    assert (names(record), record.stop) == (["hangs", "later"], ["failed", "time"])


def opened(record: Weighing) -> Weighing:
    """Return the record as it goes on, with what was undecided open again."""
    return record.model_copy(update={"stop": ["interrupted"] * len(record.stop)})


def test_one_that_goes_on_has_those_tried_that_the_time_was_too_short_for() -> None:
    hangs = fails({"timed_out": True, "wall_ns": 60_000_000_000, "signal": 9, "exit_code": None})
    record = planned(both(good=steady(), hangs=hangs, later=steady()))
    suites = both(good=steady(), hangs=fails({"signal": 11, "exit_code": None}), later=steady())
    planner = Planner(opened(record), {}, Runner(suites), lambda _: None, PilotTime(suites.clock))
    more = planner.plan_resumed()
    assert {asked.name for asked in suites.asked} == {"hangs", "later"}
    assert more.stop == ["interrupted", "failed", "interrupted"]
    assert more.benchmarks[0] == record.benchmarks[0]
    assert not more.benchmarks[2].is_untried
    assert more.preparing_s > record.preparing_s
    assert [finding.code for finding in more.findings][-1] == "failed"


def test_what_it_has_no_time_for_again_stays_untried() -> None:
    suites = both(good=steady(), slow=steady(20e9), later=steady())
    record = planned(suites)
    assert record.stop == ["interrupted", "time", "time"]
    time = PilotTime(suites.clock, suites.clock() + BUDGET_S)
    more = Planner(opened(record), {}, Runner(suites), lambda _: None, time).plan_resumed()
    assert more.stop == ["interrupted", "time", "time"]
    assert [one.is_untried for one in more.benchmarks] == [False, True, True]


def test_one_that_has_no_untried_goes_on_as_it_is() -> None:
    suites = both(good=steady())
    record = planned(suites)
    asked = len(suites.asked)
    assert Planner(record, {}, Runner(suites), lambda _: None).plan_resumed() is record
    assert len(suites.asked) == asked


def test_a_run_does_not_launch_what_it_had_no_time_to_try() -> None:
    hangs = fails({"timed_out": True, "wall_ns": 60_000_000_000, "signal": 9, "exit_code": None})
    suites = machine(baseline={"good": steady(), "hangs": hangs})
    record = run_header(max_time_s=BUDGET_S)
    time = PilotTime(suites.clock, suites.clock() + BUDGET_S)
    tried = Planner(record, {}, Runner(suites), lambda _: None, time).plan(Selection())
    assert isinstance(tried, Run)
    assert tried.stop == ["interrupted", "time"]
    launched = len(suites.of("hangs"))
    ended = RunMeasurement(
        tried, recorder(suites, targets=without_files(targets_of(tried, {}))), suites.clock, lambda _: None
    ).run()
    assert ended.stop == ["time", "time"]
    assert len(suites.of("hangs")) == launched
    assert messages(ended, "not-measured")


def test_what_is_counted_names_what_it_had_no_time_to_try() -> None:
    hangs = fails({"timed_out": True, "wall_ns": 60_000_000_000, "signal": 9, "exit_code": None})
    record = planned(both(good=steady(), hangs=hangs), metrics=["instructions"])
    assert messages(record, "not-measured")[0].endswith("hangs")
    assert missing_counts(record) == [(0, 0), (0, 1)]
