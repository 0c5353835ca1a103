"""Several benchmarks of one subject, measured alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from steelyard.design.judging.summaries import summaries
from steelyard.design.runner.draws import draw_pair, round_order
from steelyard.design.runner.targets import targets_of
from steelyard.design.suite.selection import Selection
from steelyard.design.timing.alone import RunMeasurement
from steelyard.model.progress import Progress
from steelyard.model.records import Run
from steelyard.model.rows import ROLES, USED, WARM_UP
from tests.design.scripted import PLAIN, Machine, noisy, recorder, without_files
from tests.design.scripted import run_header as of_command
from tests.design.scripted_harness import Asked, Body, Suites, fails, machine, planner, run_header, steady
from tests.design.suite.made import named

CRASH = {"exit_code": None, "signal": 6}


def measuring(
    suites: Suites, shown: list[Progress] | None = None, options: Any = None, **settings: Any
) -> RunMeasurement:
    record = planner(suites, run_header(**settings)).plan(Selection())
    assert isinstance(record, Run)
    targets = without_files(targets_of(record, {}))
    shown = [] if shown is None else shown
    return RunMeasurement(record, recorder(suites, targets=targets, **(options or {})), suites.clock, shown.append)


def after(launches: int, how: dict[str, Any]) -> Body:
    """Return a body that fails after so many launches of the run, trials not counted."""
    seen: Counter[int] = Counter()
    plain = steady()

    def body(asked: Asked) -> Any:
        seen[asked.seed] += 1
        return how if asked.seed and len(seen) > launches + 1 else plain(asked)

    return body


class TestRounds:
    def test_every_round_visits_all_in_an_order_that_is_drawn(self) -> None:
        record = measuring(machine(baseline=named("a", "b", "c")), pairs=10, max_time_s=None, seed=4).run()
        visited = record.launches.benchmark
        rounds = [tuple(visited[place : place + 3]) for place in range(0, len(visited), 3)]
        assert rounds == [tuple(round_order(4, number, [0, 1, 2])) for number in range(11)]
        assert len(set(rounds)) > 2
        assert record.stop == ["pairs"] * 3
        assert list(record.launches.pair) == [number for number in range(11) for _ in range(3)]

    def test_the_first_rounds_warm_up(self) -> None:
        record = measuring(machine(baseline=named("a", "b")), pairs=3, max_time_s=None, warm_up=2).run()
        assert [ROLES[role] for role in record.launches.role] == [WARM_UP] * 4 + [USED] * 6

    def test_each_launch_has_the_seed_of_its_place(self) -> None:
        suites = machine(baseline=named("a", "b"))
        record = measuring(suites, pairs=5, max_time_s=None, seed=9).run()
        measured = suites.asked[-len(record.launches) :]
        expected = [draw_pair(9, row.benchmark, row.pair).hash_seed for row in record.launches.rows()]
        assert [asked.seed for asked in measured] == expected
        assert len(set(expected)) == len(expected)

    def test_time_ends_it_with_as_many_of_each(self) -> None:
        suites = machine(baseline=named("a", "b"))
        record = measuring(suites, max_time_s=3).run()
        counts = Counter(record.launches.benchmark)
        assert counts[0] == counts[1] > 10
        assert record.stop == ["time", "time"]
        assert 2.5 < record.seconds < 3.2

    def test_it_tells_how_far_it_is(self) -> None:
        shown: list[Progress] = []
        measuring(machine(baseline=named("a", "b")), shown, pairs=4, max_time_s=None).run()
        rounds = [(one.benchmark, one.done, one.limit) for one in shown if one.benchmark == "2 benchmarks"]
        assert rounds == [("2 benchmarks", n, 4) for n in (0, 1, 2, 3, 4)]
        assert [one.is_first for one in shown] == [True] + [False] * (len(shown) - 1)
        launches = [(one.benchmark, one.done) for one in shown if one.benchmark != "2 benchmarks"]
        assert {one.noun for one in shown} == {"launch"}
        assert sorted(launches) == [(name, done) for name in "ab" for done in (0, 0, 1, 2, 3)]
        shown.clear()
        measuring(machine(baseline=named("a")), shown, pairs=1, max_time_s=None).run()
        assert shown[0].benchmark == "a"

    def test_a_command_is_one_benchmark(self) -> None:
        suite = Machine(noisy())
        record = RunMeasurement(of_command(pairs=5), recorder(suite), suite.clock, lambda _: None).run()
        assert list(record.launches.pair) == list(range(6))
        assert record.stop == ["pairs"]


def slow(seconds: float, **settings: Any) -> tuple[Run, Machine]:
    """Run a command whose launches take so many seconds."""
    suite = Machine(noisy(noise=0, wall_ns=seconds * 1e9))
    return RunMeasurement(of_command(**settings), recorder(suite), suite.clock, lambda _: None).run(), suite


class TestTheBudget:
    @pytest.mark.parametrize(
        ("seconds", "launches", "took"), [(0.7, 3, 2.8), (1.0, 2, 3.0), (1.6, 1, 1.6), (2.0, 1, 2.0), (50.0, 1, 50.0)]
    )
    def test_it_holds_however_few_launches_fit(self, seconds: float, launches: int, took: float) -> None:
        record, _ = slow(seconds, max_time_s=3)
        (found,) = summaries(record)
        assert (record.stop, found.launches, found.median) == (["time"], launches, seconds * 1e9)
        assert record.seconds == pytest.approx(took)

    def test_where_there_is_no_time_after_the_warm_up_that_is_what_was_measured(self) -> None:
        for seconds, warm_up, codes in ((1.6, 1, ["cold"]), (1.0, 1, []), (1.6, 0, [])):
            record, _ = slow(seconds, max_time_s=3, warm_up=warm_up)
            assert [finding.code for finding in record.findings] == codes
            assert set(record.launches.role) == {ROLES.index(USED)} if codes else True

    def test_where_it_was_interrupted_after_the_warm_up_that_is_what_was_measured(self) -> None:
        suite = Machine(lambda number, _: replace(PLAIN, cancelled=number == 2))
        record = RunMeasurement(of_command(warm_up=4), recorder(suite), suite.clock, lambda _: None).run()
        assert (record.stop, [finding.code for finding in record.findings]) == (["interrupted"], ["cold"])
        assert summaries(record)[0].launches == 2

    def test_the_first_launch_may_take_as_long_as_it_does_and_no_later_one_the_whole_time_again(self) -> None:
        suite = Machine(lambda number, spec: replace(PLAIN, wall_ns=(1 + 9 * number) * 10**8, timed_out=number > 2))  # noqa: ARG005
        one = RunMeasurement(of_command(max_time_s=4), recorder(suite), suite.clock, lambda _: None)
        record = one.run()
        assert [spec.timeout_ns for spec in suite.specs] == [None, 4 * 10**9, 4 * 10**9, 4 * 10**9]
        assert (record.stop, one.error, len(record.launches)) == (["time"], None, 3)
        assert [finding.code for finding in record.findings] == ["cut-short"]

    def test_a_limit_of_its_own_goes_before_it(self) -> None:
        header, plain = of_command(timeout_s=2), noisy()
        suite = Machine(lambda number, spec: replace(plain(number, spec), timed_out=number == 3))
        assert RunMeasurement(header, recorder(suite), suite.clock, lambda _: None).run().stop == ["failed"]

    def test_of_a_suite_each_is_measured_once_as_far_as_the_time_goes(self) -> None:
        suites = machine(baseline={name: steady(1e9) for name in "abcd"})
        record = measuring(suites, max_time_s=3, warm_up=0).run()
        assert record.stop == ["time"] * 4
        assert record.seconds < 4
        measured = {summary.benchmark for summary in summaries(record)}
        assert 0 < len(measured) < 4
        (finding,) = record.findings
        assert finding.code == "not-measured"
        assert all((name in finding.message.partition(": ")[2]) != (name in measured) for name in "abcd")


class TestSummaries:
    def test_each_benchmark_has_its_own(self) -> None:
        suites = machine(baseline={"fast": steady(10.0), "slow": steady(5e6)})
        found = summaries(measuring(suites, pairs=12, max_time_s=None, metrics=["wall", "max_rss"]).run())
        assert [(one.benchmark, one.metric, one.index) for one in found] == [
            ("fast", "wall", 0),
            ("fast", "max_rss", 0),
            ("slow", "wall", 1),
            ("slow", "max_rss", 1),
        ]
        assert [found[0].median, found[2].median] == pytest.approx([10, 5e6], rel=0.01)
        assert {one.launches for one in found} == {12}

    def test_a_metric_that_one_does_not_tell_is_noted_with_it(self) -> None:
        plain = steady()
        untold: Body = lambda asked: [{"ns": line["ns"]} for line in plain(asked)]  # type: ignore[index]  # noqa: E731
        suites = machine(baseline={"told": steady(), "untold": untold})
        found = summaries(measuring(suites, pairs=5, max_time_s=None, metrics=["wall", "cpu"]).run())
        assert [(one.benchmark, one.metric) for one in found] == [("told", "wall"), ("told", "cpu"), ("untold", "wall")]
        assert [finding.message for finding in found[2].findings] == [
            "the harness does not tell cpu for every sample: choose --metric wall"
        ]

    def test_active_falls_back_for_the_one_that_does_not_tell_it(self) -> None:
        plain = steady()
        untold: Body = lambda asked: [{"ns": line["ns"]} for line in plain(asked)]  # type: ignore[index]  # noqa: E731
        found = summaries(measuring(machine(baseline={"told": steady(), "untold": untold}), pairs=5).run())
        assert [one.metric for one in found] == ["active", "wall"]


class TestFailures:
    @pytest.mark.parametrize("launches", [0, 1, 4])
    def test_one_that_fails_ends_alone(self, launches: int) -> None:
        one = measuring(
            machine(baseline={"a": steady(), "bad": after(launches, CRASH), "c": steady()}), pairs=8, max_time_s=None
        )
        record = one.run()
        assert record.stop == ["pairs", "failed", "pairs"]
        assert Counter(record.launches.benchmark) == Counter({0: 9, 1: launches, 2: 9})
        assert "baseline (bad) was killed by SIGABRT" in str(one.error)
        assert [finding.message for finding in record.findings] == [str(one.error)]
        assert [summary.benchmark for summary in summaries(record)] == ["a", "c"]

    def test_all_fail(self) -> None:
        one = measuring(machine(baseline={"a": after(2, CRASH), "b": after(3, {"exit_code": 1})}))
        record = one.run()
        assert record.stop == ["failed", "failed"]
        assert len(record.launches) == 5
        assert len(record.findings) == 2
        assert "baseline (a) was killed" in str(one.error)

    def test_all_fail_in_the_trial(self) -> None:
        suites = machine(baseline={"a": fails(CRASH), "b": fails(CRASH)})
        record = measuring(suites).run()
        assert (record.stop, len(record.launches), len(suites.asked)) == (["failed", "failed"], 0, 2)

    def test_a_command_that_fails_ends_all(self) -> None:
        plain = noisy()
        suite = Machine(lambda number, spec: replace(plain(number, spec), exit_code=int(number == 3)))
        one = RunMeasurement(of_command(pairs=5), recorder(suite), suite.clock, lambda _: None)
        assert one.run().stop == ["failed"]
        assert len(suite.rows) == 3


class TestInterrupts:
    @pytest.mark.parametrize("launches", range(7))
    def test_what_was_measured_stands(self, launches: int) -> None:
        suites = machine(baseline=named("a", "b"))
        one = measuring(suites, options={"interrupted": lambda: len(suites.rows) == launches})
        record = one.run()
        assert (record.stop, len(record.launches), one.error) == (["interrupted"] * 2, launches, None)
        known = {row.benchmark for row in record.launches.rows() if ROLES[row.role] == USED}
        assert {summary.index for summary in summaries(record)} == known

    def test_what_failed_before_stays_failed(self) -> None:
        suites = machine(baseline={"a": steady(), "bad": fails(CRASH)})
        one = measuring(suites, options={"interrupted": lambda: len(suites.rows) == 5})
        record = one.run()
        assert record.stop == ["interrupted", "failed"]
        assert [finding.code for finding in record.findings] == ["failed"]
