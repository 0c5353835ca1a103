"""Weighings of benchmarks inside programs, on scripted harnesses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from steelyard.design.judging.judgement import verdicts
from steelyard.design.suite.loops import TARGET_NS
from steelyard.design.suite.selection import Selection
from steelyard.model.errors import MeasurementError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.launches import Launches
from steelyard.model.progress import Progress
from steelyard.model.records import Weighing
from tests.design.scripted_harness import (
    START_NS,
    Asked,
    Body,
    Suites,
    experiment,
    fails,
    header,
    machine,
    plan,
    repeatable,
    steady,
    weigh,
)
from tests.design.suite.made import CRASH, ONE, both, messages, named, verdicts_of


class TestTheWeighing:
    def test_both_launches_of_a_pair_do_the_same_and_each_pair_has_a_seed(self) -> None:
        suites = machine(baseline=ONE, candidate={"one": steady(1200)})
        record = weigh(suites, pairs=20, margin=1e-5)
        (benchmark,) = record.benchmarks
        measured = suites.asked[-len(record.launches) :]
        assert {(asked.loops, asked.samples) for asked in measured} == {(benchmark.loops, benchmark.samples)}
        seeds = [asked.seed for asked in measured]
        assert seeds[::2] == seeds[1::2] == list(record.launches.hash_seed[::2])
        assert len(set(seeds)) == len(seeds) / 2
        assert [len(samples) for samples in record.launches.samples] == [benchmark.samples] * len(record.launches)

    def test_the_same_seed_repeats_what_is_asked(self) -> None:
        one, other = (both(a=repeatable(), b=repeatable(3e4)) for _ in range(2))
        assert weigh(one, seed=5, pairs=12) == weigh(other, seed=5, pairs=12)
        assert one.asked == other.asked

    def test_times_are_of_one_iteration(self) -> None:
        record = weigh(machine(baseline={"a": steady(1000)}, candidate={"a": steady(1300)}), max_time_s=20)
        (verdict,) = verdicts(record)
        assert (verdict.metric, verdict.verdict) == ("active", "slower")
        assert verdict.change == pytest.approx(0.3, abs=0.01)
        assert verdict.baseline is not None
        assert verdict.baseline.median == pytest.approx(1000, rel=0.01)

    def test_a_harness_that_does_not_tell_what_it_waited_is_judged_by_wall_time(self) -> None:
        def wall_only(asked: Asked) -> list[dict[str, Any]]:
            return [{"ns": line["ns"]} for line in plain(asked)]  # type: ignore[index]

        plain = steady(within=0.001, between=0.001)
        (verdict,) = verdicts(weigh(both(a=wall_only), max_time_s=20))
        assert (verdict.metric, verdict.verdict) == ("wall", "same")
        assert [finding.code for finding in verdict.findings] == ["metric-fallback"]
        assert "the harness does not tell" in verdict.findings[0].message

    @pytest.mark.parametrize("harness", ["protocol", "pytest-benchmark"])
    def test_a_benchmark_of_several_threads_is_told_apart_where_the_harness_tells_waits(self, harness: str) -> None:
        """The C++ SDK leaves the wait out of samples in which other threads worked, and tells it in all others.

        Google Benchmark with manual time, and pytest-benchmark with another timer, look the same.
        """

        def threaded(asked: Asked) -> list[dict[str, Any]]:
            return [{"ns": line["ns"]} for line in plain(asked)]  # type: ignore[index]

        plain = steady(within=0.001, between=0.001)
        benchmarks = {"threaded": threaded} if harness == "pytest-benchmark" else {"alone": plain, "threaded": threaded}
        record = weigh(both(**benchmarks), max_time_s=20)
        record = record.model_copy(update={"settings": record.settings.model_copy(update={"harness": harness})})
        found = {one.benchmark: one for one in verdicts(record)}
        assert found["threaded"].metric == "wall"
        (said,) = found["threaded"].findings
        assert said.message.startswith(
            "other threads or processes did some of the work, or its times are by a clock of its own, so wall time was"
        )
        assert "alone" not in found or found["alone"].findings == []

    def test_a_short_launch_is_no_caution_where_its_samples_are_judged(self) -> None:
        (verdict,) = verdicts(weigh(both(a=steady(within=1e-3, between=1e-3)), max_time_s=20))
        assert verdict.findings == []

    def test_what_others_did_to_the_launch_outside_its_samples_is_no_matter(self) -> None:
        """A launch that waited for a processor while it started still has good samples."""
        suites = both(a=steady(within=1e-3, between=1e-3))
        record = weigh(suites, max_time_s=20, metrics=["active", "max_rss"])
        assert [verdict.verdict for verdict in verdicts(record)] == ["same", "same"]
        assert START_NS > TARGET_NS


def late(program: str, calls: int) -> Callable[[Asked], bool]:
    """Return what accepts the calls of a program from number `calls` on."""
    seen: Counter[str] = Counter()

    def when(asked: Asked) -> bool:
        seen[asked.program] += 1
        return asked.program == program and seen[program] >= calls

    return when


class TestFailures:
    @pytest.mark.parametrize("calls", [1, 2, 3, 12])
    def test_one_that_fails_while_it_is_measured_ends_alone(self, calls: int) -> None:
        bad = fails(CRASH, steady(), late("candidate", 1 + calls))  # the first call is the trial
        one = experiment(suites := both(good=steady(), bad=bad, fine=steady()), plan(suites, header(max_time_s=30)))
        record = one.run()
        assert record.stop == ["decided", "failed", "decided"]
        assert verdicts_of(record) == {"good": "same", "fine": "same"}
        assert messages(record, "failed") == [str(one.error)]
        assert "candidate (bad) was killed by SIGSEGV, a segmentation fault" in str(one.error)
        of_bad = [row for row in record.launches.rows() if row.benchmark == 1]
        assert len([row for row in of_bad if row.side == 1]) == calls - 1
        assert len(suites.of("bad", "candidate")) == 1 + calls
        assert suites.events.count("fail 1") == 1

    @pytest.mark.parametrize(
        ("answer", "says"),
        [
            (lambda asked: [{"ns": None}] * asked.samples, "that took null ns"),
            (lambda asked: [{"ns": 5}] * (asked.samples + 1), "samples where"),
            (lambda _: [{"error": "out of luck"}], "says: out of luck"),
            (
                lambda _: {"exit_code": 1, "results": b'{"error": "out of luck"}'},
                "failed with exit status 1 and says: out of luck",
            ),
            (lambda _: {"timed_out": True}, "did not end within"),
        ],
    )
    def test_an_answer_that_is_none_ends_its_benchmark(self, answer: Body, says: str) -> None:
        suites = machine(baseline=named("a", "b"), candidate={"a": answer, "b": steady()})
        record = weigh(suites, max_time_s=30)
        assert record.stop == ["failed", "decided"]
        assert messages(record, "failed")[0].startswith("candidate (a) ")
        assert says in messages(record, "failed")[0]
        assert "--ignore-failure" not in messages(record, "failed")[0]

    def test_all_fail(self) -> None:
        crash = fails(CRASH, steady(), late("candidate", 2))
        suites = machine(
            baseline=named("a", "b"),
            candidate={"a": crash, "b": fails({"exit_code": 1}, steady(), late("candidate", 2))},
        )
        one = experiment(suites, plan(suites, header()))
        record = one.run()
        assert record.stop == ["failed", "failed"]
        assert len(messages(record, "failed")) == 2
        assert str(one.error) == messages(record, "failed")[0]
        assert verdicts(record) == []

    def test_all_fail_in_the_trial(self) -> None:
        suites = both(a=fails(CRASH), b=fails(CRASH))
        record = experiment(suites, plan(suites, header())).run()
        assert (record.stop, len(record.launches), len(suites.asked)) == (["failed", "failed"], 0, 2)

    def test_a_control_alone_does_not_go_on(self) -> None:
        suites = machine(baseline=named("a"), candidate={"a": fails(CRASH, steady(), late("candidate", 2))})
        record = experiment(suites, plan(suites, header(), Selection(control=True))).run()
        assert record.stop == ["failed", "decided"]

    def test_a_program_that_vanished_ends_all(self) -> None:
        suites = both(**named("a", "b"))
        one = experiment(suites, plan(suites, header()))

        def gone(number: int, spec: LaunchSpec) -> Any:  # noqa: ARG001
            raise MeasurementError("baseline is gone")

        suites.script = gone
        assert one.run().stop == ["failed", "failed"]
        assert str(one.error) == "baseline is gone"

    def test_alpha_is_shared_among_those_that_are_left(self) -> None:
        """Failed benchmarks have no verdict, so that what was shown live is what the record derives again."""
        alone = both(a=repeatable(noise=0.008))
        bad = {str(number): fails(CRASH) for number in range(9)}
        beside = machine(baseline={**alone.suites["baseline"], **bad}, candidate={**alone.suites["candidate"], **bad})
        shown: list[Progress] = []
        record = plan(beside, header(max_time_s=60))
        verdict = verdicts(experiment(beside, record, shown.append).run())[0]
        assert (shown[-1].change, shown[-1].interval) == (verdict.change, verdict.interval)
        assert shown[-1].done == verdict.pairs

    def test_failures_do_not_make_a_budget_hopeless(self) -> None:
        bad = {str(number): fails(CRASH) for number in range(40)}
        suites = both(**{**bad, "good": steady(2e8, 1e-3, 1e-3)})
        assert weigh(suites, max_time_s=8).stop[-1] == "decided"


class TestMetrics:
    def test_cpu_that_is_not_told_fails_its_benchmark_at_once(self) -> None:
        plain = steady()
        suites = both(told=steady(), untold=lambda asked: [{"ns": line["ns"]} for line in plain(asked)])  # type: ignore[index]
        record = weigh(suites, metrics=["cpu"], max_time_s=30)
        assert record.stop == ["decided", "failed"]
        assert "does not tell its time on a processor (cpu_ns): choose --metric wall" in messages(record, "failed")[0]
        assert len(suites.of("untold")) == 1

    def test_cpu_that_only_the_candidate_does_not_tell(self) -> None:
        plain = steady()
        untold: Body = lambda asked: [{"ns": line["ns"]} for line in plain(asked)]  # type: ignore[index]  # noqa: E731
        record = weigh(machine(baseline=named("a", "b"), candidate={"a": untold, "b": steady()}), metrics=["cpu"])
        assert record.stop == ["failed", "decided"]
        assert messages(record, "failed")[0].startswith("candidate (a) does not tell")

    def test_a_later_metric_is_undefined_for_the_benchmark_alone_that_lacks_it(self) -> None:
        plain = steady(within=1e-3, between=1e-3)
        untold: Body = lambda asked: [{"ns": line["ns"]} for line in plain(asked)]  # type: ignore[index]  # noqa: E731
        record = weigh(both(told=steady(within=1e-3, between=1e-3), untold=untold), metrics=["wall", "cpu"])
        found = {(verdict.benchmark, verdict.metric): verdict for verdict in verdicts(record)}
        assert {key: verdict.verdict for key, verdict in found.items()} == {
            ("told", "wall"): "same",
            ("told", "cpu"): "same",
            ("untold", "wall"): "same",
            ("untold", "cpu"): "undecided",
        }
        assert [finding.code for finding in found["untold", "cpu"].findings] == ["undefined"]
        assert "the harness does not tell cpu" in found["untold", "cpu"].findings[0].message

    def test_a_wait_that_is_longer_than_the_sample_was_not_in_it(self) -> None:
        plain = steady()

        def waited(asked: Asked) -> list[dict[str, Any]]:
            lines: Any = plain(asked)
            return [{**line, "delay_ns": line["ns"] + 1} for line in lines]

        record = weigh(both(good=steady(), other=waited), max_time_s=30)
        assert record.stop == ["decided", "decided"]
        assert [one.verdict for one in verdicts(record)] == ["same", "same"]

    @pytest.mark.parametrize("metric", ["wall", "cpu", "max_rss"])
    def test_any_metric_may_decide(self, metric: str) -> None:
        record = weigh(machine(baseline=ONE, candidate={"one": steady(1500)}), metrics=[metric], max_time_s=20)
        assert verdicts(record)[0].verdict == ("same" if metric == "max_rss" else "slower")


class TestResume:
    @staticmethod
    def whole() -> tuple[Suites, Weighing]:
        bodies = {"a": repeatable(noise=0.02), "bad": fails(CRASH), "b": repeatable(4e5, noise=0.02)}
        suites = both(**bodies)
        return suites, weigh(suites, pairs=20, max_time_s=None, margin=1e-5, seed=3)

    @staticmethod
    def cut(record: Weighing, launches: int) -> Weighing:
        stop = ["failed" if reason == "failed" else "interrupted" for reason in record.stop]
        rows = Launches.of_rows(record.launches.rows()[:launches])
        return record.model_copy(update={"launches": rows, "stop": stop})

    @staticmethod
    def samples_by_place(record: Weighing) -> dict[tuple[int, int, int], Any]:
        return {(row.benchmark, row.pair, row.side): row.samples for row in record.launches.rows()}

    @pytest.mark.parametrize("launches", [0, 2, 4, 30, 60])
    def test_it_goes_on_with_the_same_loops_and_samples(self, launches: int) -> None:
        suites, whole = self.whole()
        suites.asked.clear()
        record = experiment(suites, self.cut(whole, launches)).run()
        assert record.stop == ["pairs", "failed", "pairs"]
        assert self.samples_by_place(record) == self.samples_by_place(whole)
        assert not suites.of("bad")
        assert len(suites.asked) == len(whole.launches) - launches
        assert messages(record, "failed") == messages(whole, "failed")
        for one, other in zip(verdicts(record), verdicts(whole), strict=True):
            assert (one.change, one.interval, one.pairs) == (other.change, other.interval, other.pairs)

    def test_it_knows_its_amounts_from_the_record(self) -> None:
        suites, whole = self.whole()
        record = self.cut(whole, 10)
        changed = [benchmark.model_copy(update={"loops": 77, "samples": 5}) for benchmark in record.benchmarks]
        suites.asked.clear()
        experiment(suites, record.model_copy(update={"benchmarks": changed})).run()
        assert {(asked.loops, asked.samples) for asked in suites.asked} == {(77, 5)}


class TestErrorRates:
    """Samples vary within and between launches; the error rates of verdicts are those of pairs of launches."""

    NOISE = {"within": (1000.0, 0.02, 0.006), "between": (4e5, 0.005, 0.02)}

    def suites(self, seed: int, change: float = 0.0) -> Suites:
        return machine(
            baseline={
                name: steady(*how, seed=4 * seed + place) for place, (name, how) in enumerate(self.NOISE.items())
            },
            candidate={
                name: steady(each * (1 + change), within, between, seed=4 * seed + 2 + place)
                for place, (name, (each, within, between)) in enumerate(self.NOISE.items())
            },
        )

    def test_no_more_false_alarms_than_alpha(self) -> None:
        """With the smallest margin, so that the statistical test alone keeps alarms rare.

        If it does, over 9 alarms in 60 suites have a chance of 1 in 1,000.
        """
        alarms = 0
        for seed in range(60):
            record = weigh(self.suites(seed), pairs=14, max_time_s=None, margin=1e-5, alpha=0.05)
            alarms += any(verdict.verdict in ("slower", "faster") for verdict in verdicts(record))
        assert alarms <= 9

    def test_two_percent_are_found(self) -> None:
        for seed in range(10):
            record = weigh(self.suites(seed, change=0.02), max_time_s=60)
            assert verdicts_of(record) == {"within": "slower", "between": "slower"}

    def test_more_samples_are_taken_where_the_noise_is_within_launches(self) -> None:
        within, between = (
            np.median([plan(self.suites(seed), header()).benchmarks[place].samples or 0 for seed in range(20)])
            for place in (0, 1)
        )
        assert within > 1.5 * between
