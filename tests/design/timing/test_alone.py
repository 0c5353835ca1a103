"""Several benchmarks of one subject, measured alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from steelyard.design.judging.judgement import summaries
from steelyard.design.runner.draws import draw_pair, round_order
from steelyard.design.runner.targets import targets_of
from steelyard.design.suite.selection import Selection
from steelyard.design.timing.alone import FEWEST_LAUNCHES, Measuring
from steelyard.model.launches import ROLES, USED, WARM_UP
from steelyard.model.progress import Progress
from steelyard.model.records import Run
from tests.design.scripted import Machine, noisy, recorder, without_files
from tests.design.scripted import run_header as of_command
from tests.design.scripted_harness import Asked, Body, Suites, fails, machine, planner, run_header, steady

CRASH = {"exit_code": None, "signal": 6}


def measuring(suites: Suites, shown: list[Progress] | None = None, options: Any = None, **settings: Any) -> Measuring:
    record = planner(suites, run_header(**settings)).planned(Selection())
    assert isinstance(record, Run)
    targets = without_files(targets_of(record, {}))
    shown = [] if shown is None else shown
    return Measuring(record, recorder(suites, targets=targets, **(options or {})), suites.clock, shown.append)


def bodies(*names: str) -> dict[str, Body]:
    return {name: steady() for name in names}


def after(launches: int, how: dict[str, Any]) -> Body:
    """A body that fails after so many launches with samples as the run has them."""
    seen: Counter[int] = Counter()
    plain = steady()

    def body(asked: Asked) -> Any:
        seen[asked.seed] += 1
        return how if asked.seed and len(seen) > launches + 1 else plain(asked)

    return body


class TestRounds:
    def test_every_round_visits_all_in_an_order_that_is_drawn(self) -> None:
        record = measuring(machine(baseline=bodies("a", "b", "c")), pairs=10, max_time_s=None, seed=4).run()
        visited = record.launches.benchmark
        rounds = [tuple(visited[place : place + 3]) for place in range(0, len(visited), 3)]
        assert rounds == [tuple(round_order(4, number, [0, 1, 2])) for number in range(11)]
        assert len(set(rounds)) > 2
        assert record.stop == ["pairs"] * 3
        assert list(record.launches.pair) == [number for number in range(11) for _ in range(3)]

    def test_the_first_rounds_warm_up(self) -> None:
        record = measuring(machine(baseline=bodies("a", "b")), pairs=3, max_time_s=None, warm_up=2).run()
        assert [ROLES[role] for role in record.launches.role] == [WARM_UP] * 4 + [USED] * 6

    def test_each_launch_has_the_seed_of_its_place(self) -> None:
        suites = machine(baseline=bodies("a", "b"))
        record = measuring(suites, pairs=5, max_time_s=None, seed=9).run()
        measured = suites.asked[-len(record.launches) :]
        expected = [draw_pair(9, row.benchmark, row.pair).hash_seed for row in record.launches.rows()]
        assert [asked.seed for asked in measured] == expected
        assert len(set(expected)) == len(expected)

    def test_time_ends_it_with_as_many_of_each(self) -> None:
        suites = machine(baseline=bodies("a", "b"))
        record = measuring(suites, max_time_s=3).run()
        counts = Counter(record.launches.benchmark)
        assert counts[0] == counts[1] > FEWEST_LAUNCHES
        assert record.stop == ["time", "time"]
        assert 2.5 < record.seconds < 3.2

    def test_it_tells_how_far_it_is(self) -> None:
        shown: list[Progress] = []
        measuring(machine(baseline=bodies("a", "b")), shown, pairs=4, max_time_s=None).run()
        assert [(one.benchmark, one.done, one.limit) for one in shown] == [("2 benchmarks", n, 4) for n in (1, 2, 3, 4)]
        shown.clear()
        measuring(machine(baseline=bodies("a")), shown, pairs=1, max_time_s=None).run()
        assert shown[0].benchmark == "a"

    def test_a_command_is_one_benchmark(self) -> None:
        suite = Machine(noisy())
        record = Measuring(of_command(pairs=5), recorder(suite), suite.clock, lambda _: None).run()
        assert list(record.launches.pair) == list(range(6))
        assert record.stop == ["pairs"]


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
        one = Measuring(of_command(pairs=5), recorder(suite), suite.clock, lambda _: None)
        assert one.run().stop == ["failed"]
        assert len(suite.rows) == 3


class TestInterrupts:
    @pytest.mark.parametrize("launches", range(7))
    def test_what_was_measured_stands(self, launches: int) -> None:
        suites = machine(baseline=bodies("a", "b"))
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
