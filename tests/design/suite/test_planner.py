"""Benchmarks inside programs, from their lists to their verdicts, on harnesses that are made of numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from steelyard.design.judging.judgement import verdicts
from steelyard.design.runner.failure import Interrupted
from steelyard.design.suite.loops import PILOT_SAMPLES, TARGET_NS
from steelyard.design.suite.selection import Selection
from steelyard.model.errors import LaunchError, MeasurementError, UsageError
from steelyard.model.launches import ROLES, USED, Launches, LaunchSpec
from steelyard.model.progress import Progress
from steelyard.model.records import Benchmark, Weighing
from steelyard.subjects.protocol import ProtocolHarness
from steelyard.subjects.suite import CONTROL_NAME, MOST_BENCHMARKS
from tests.design.scripted import PLAIN, Script
from tests.design.scripted_harness import (
    START_NS,
    Asked,
    Bodies,
    Body,
    Suites,
    experiment,
    fails,
    header,
    machine,
    plan,
    planner,
    repeatable,
    run_header,
    steady,
    weigh,
)

CRASH = {"exit_code": None, "signal": 11}
ONE: Bodies = {"one": steady()}


def both(**bodies: Body) -> Suites:
    """The same benchmarks on both sides."""
    return machine(baseline=bodies, candidate=bodies)


def named(*names: str) -> Bodies:
    return {name: steady() for name in names}


def names(record: Weighing) -> list[str]:
    return [benchmark.name for benchmark in record.benchmarks]


def messages(record: Any, code: str) -> list[str]:
    return [finding.message for finding in record.findings if finding.code == code]


def words_of(record: Weighing) -> dict[str, str]:
    return {verdict.benchmark: verdict.verdict for verdict in verdicts(record)}


class TestTheList:
    def test_each_subject_is_asked_once_and_the_order_is_the_baseline_s(self) -> None:
        suites = machine(baseline=named("b", "a", "c"), candidate=named("c", "a", "b"))
        record = plan(suites, header())
        assert names(record) == ["b", "a", "c"]
        assert [benchmark.entry for benchmark in record.benchmarks] == ["b", "a", "c"]
        assert record.benchmarks[0].tags == ["made up"]
        assert record.stop == ["interrupted"] * 3
        lists = [spec.program for spec in suites.specs if b"--steelyard-list" in spec.argv]
        assert lists == [b"baseline", b"candidate"]

    def test_benchmarks_of_one_side_are_noted_and_not_compared(self) -> None:
        suites = machine(baseline=named("both", "old", "older"), candidate=named("new", "both"))
        record = plan(suites, header())
        assert names(record) == ["both"]
        assert messages(record, "removed") == ["not in candidate, so not compared: old, older"]
        assert messages(record, "added") == ["only in candidate, so not compared: new"]

    def test_many_of_one_side_are_counted(self) -> None:
        suites = machine(baseline=ONE, candidate={**ONE, **named(*map(str, range(14)))})
        assert messages(plan(suites, header()), "added") == [
            "only in candidate, so not compared: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 4 more"
        ]

    def test_every_candidate_is_compared_with_what_the_baseline_has(self) -> None:
        suites = machine(baseline=named("a", "b"), new=named("a"), newer=named("b", "a", "c"))
        record = plan(suites, header("new", "newer"))
        assert [(benchmark.name, benchmark.entry, benchmark.candidate) for benchmark in record.benchmarks] == [
            ("new, a", "a", 1),
            ("newer, a", "a", 2),
            ("newer, b", "b", 2),
        ]
        assert messages(record, "removed") == ["not in new, so not compared: b"]
        assert messages(record, "added") == ["only in newer, so not compared: c"]

    def test_a_control_is_the_first_benchmark_of_the_baseline(self) -> None:
        record = plan(both(**named("a", "b")), header(), Selection(control=True))
        assert [(benchmark.name, benchmark.entry) for benchmark in record.benchmarks] == [
            ("a", "a"),
            ("b", "b"),
            (CONTROL_NAME, "a"),
        ]
        assert [benchmark.control for benchmark in record.benchmarks] == [False, False, True]
        assert record.benchmarks[2].loops == record.benchmarks[0].loops
        assert record.benchmarks[2].samples == record.benchmarks[0].samples

    def test_a_run_has_the_benchmarks_of_its_subject(self) -> None:
        record = planner(both(**named("a", "b")), run_header()).planned(Selection())
        assert [benchmark.name for benchmark in record.benchmarks] == ["a", "b"]
        assert record.findings == []

    @pytest.mark.parametrize(
        ("suites", "says"),
        [
            ({"baseline": {}, "candidate": ONE}, "baseline lists no benchmark"),
            ({"baseline": ONE, "candidate": {}}, "of the baseline one would be, and the candidate has none"),
            ({"baseline": ONE, "candidate": named("two")}, "of the baseline one would be, and the candidate has two"),
        ],
        ids=["nothing", "nothing to compare with", "nothing in common"],
    )
    def test_without_a_benchmark_there_is_nothing_to_measure(self, suites: dict[str, Bodies], says: str) -> None:
        with pytest.raises(MeasurementError, match=says):
            plan(machine(**suites), header())

    def test_too_many(self) -> None:
        many = {str(number): steady() for number in range(MOST_BENCHMARKS + 1)}
        with pytest.raises(UsageError, match="more than 10000 benchmarks: choose some with --benchmark"):
            plan(both(**many), header())

    def test_a_list_that_fails_names_the_subject(self) -> None:
        for changes, says in (
            ({"exit_code": 3, "stderr": b"usage: x\n"}, r"the list of candidate failed with exit status 3 \(its last"),
            (CRASH, r"the list of candidate was killed by SIGSEGV: is it a program of the harness"),
            ({"timed_out": True}, "the list of candidate did not end within"),
            ({}, "candidate wrote no results: it does not speak the harness protocol"),
        ):
            suites = both(**ONE)
            suites.script = _first_bad(suites.script, b"candidate", changes)
            with pytest.raises(LaunchError, match=says):
                plan(suites, header())


def _first_bad(good: Script, program: bytes, changes: dict[str, Any]) -> Script:
    def script(number: int, spec: LaunchSpec) -> Any:
        return replace(PLAIN, **changes) if spec.program == program else good(number, spec)

    return script


PATTERNS: list[tuple[list[str], list[str]]] = [
    ([], ["a", "ab", "sort[n=1]", "sort[n=2]", "größe/日本", "*"]),
    (["a"], ["a"]),
    (["a*"], ["a", "ab"]),
    (["sort[n=1]"], ["sort[n=1]"]),
    (["sort*", "ab"], ["ab", "sort[n=1]", "sort[n=2]"]),
    (["*[[]n=?]"], ["sort[n=1]", "sort[n=2]"]),
    (["[!as]*"], ["größe/日本", "*"]),
    (["*/*"], ["größe/日本"]),
    (["ab", "ab", "a?"], ["ab"]),
]


class TestTheChoice:
    LISTED = named("a", "ab", "sort[n=1]", "sort[n=2]", "größe/日本", "*")

    @pytest.mark.parametrize(("patterns", "chosen"), PATTERNS, ids=str)
    def test_patterns_are_those_of_a_shell_and_a_name_is_itself_first(
        self, patterns: list[str], chosen: list[str]
    ) -> None:
        assert names(plan(both(**self.LISTED), header(), Selection(only=patterns))) == chosen

    def test_nothing_else_is_tried(self) -> None:
        suites = both(**named("a", "b"))
        plan(suites, header(), Selection(only=["b"]))
        assert {asked.name for asked in suites.asked} == {"b"}

    @pytest.mark.parametrize("pattern", ["c", "", "A", "sort[n=1", "*x"])
    def test_a_pattern_that_fits_none_is_wrong_usage(self, pattern: str) -> None:
        with pytest.raises(UsageError, match="is none of the baseline's benchmarks: a, ab, sort"):
            plan(both(**self.LISTED), header(), Selection(only=["a", pattern]))

    @pytest.mark.parametrize(
        ("patterns", "tags", "chosen"),
        [
            ([], ["fast"], ["a", "c"]),
            ([], ["f*", "made up"], ["a", "c", "d"]),
            (["a", "b"], ["fast", "s??w"], ["a", "b"]),
            (["[ab]"], ["fast"], ["a"]),
        ],
        ids=str,
    )
    def test_tags_choose_too(self, patterns: list[str], tags: list[str], chosen: list[str]) -> None:
        suites = both(**named("a", "b", "c", "d"))
        suites.tags = {"a": ["fast"], "b": ["slow"], "c": ["slow", "fast"]}
        assert names(plan(suites, header(), Selection(only=patterns, tags=tags))) == chosen

    @pytest.mark.parametrize(
        ("patterns", "tags", "says"),
        [
            ([], ["fast", "x"], "--tag 'x' is on none of the baseline's benchmarks: fast, slow"),
            (["b"], ["fast"], "--benchmark and --tag together choose no benchmark"),
        ],
    )
    def test_tags_that_choose_nothing(self, patterns: list[str], tags: list[str], says: str) -> None:
        suites = both(**named("a", "b"))
        suites.tags = {"a": ["fast"], "b": ["slow"]}
        with pytest.raises(UsageError, match=says):
            plan(suites, header(), Selection(only=patterns, tags=tags))

    def test_only_the_chosen_ones_are_missed(self) -> None:
        suites = machine(baseline=named("x1", "x2", "y1"), candidate=named("x2", "x3", "y2"))
        record = plan(suites, header(), Selection(only=["x*"]))
        assert names(record) == ["x2"]
        assert [finding.message for finding in record.findings] == [
            "not in candidate, so not compared: x1",
            "only in candidate, so not compared: x3",
        ]

    def test_one_that_the_candidate_lacks(self) -> None:
        suites = machine(baseline=named("a", "b"), candidate=named("b"))
        with pytest.raises(MeasurementError, match="of the baseline a would be, and the candidate has b"):
            plan(suites, header(), Selection(only=["a"]))


class TestTheTrial:
    def test_a_harness_that_chooses_its_loops_is_only_tried_once_a_side(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ProtocolHarness, "fixes_loops", False)
        suites = both(**named("a"))
        (benchmark,) = plan(suites, header()).benchmarks
        assert (benchmark.loops, benchmark.samples) == (None, PILOT_SAMPLES)
        assert [asked.program for asked in suites.asked] == ["baseline", "candidate"]

    def test_a_harness_with_a_number_of_samples_of_its_own(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ProtocolHarness, "samples_a_launch", 1)
        suites = both(**named("a"))
        (benchmark,) = plan(suites, header()).benchmarks
        assert benchmark.samples == 1
        assert (benchmark.loops or 0) > 1
        assert {asked.samples for asked in suites.asked} == {1}

    def test_slow_starts_are_given_the_time_for_some_pairs(self) -> None:
        suites = both(**named("a", "b"))
        record = plan(suites, header(max_time_s=0.1), Selection(seconds_each=0.1))
        starts_s = 2 * 24 * START_NS / 1e9
        assert starts_s < (record.settings.max_time_s or 0) < 4 * starts_s

    def test_loops_and_samples_are_found_on_the_baseline_and_stored(self) -> None:
        suites = machine(baseline={"a": steady(30.0), "b": steady(5e6)}, candidate={"a": steady(90.0), "b": steady()})
        first, second = plan(suites, header()).benchmarks
        assert first.loops == pytest.approx(TARGET_NS / 30, rel=0.1)
        assert second.loops == 1
        assert all(4 <= (benchmark.samples or 0) <= 41 for benchmark in (first, second))
        # Of the candidate one look is enough: is it far slower?
        assert [(asked.name, asked.samples) for asked in suites.asked if asked.program == "candidate"] == [
            ("a", 1),
            ("b", 1),
        ]

    def test_a_candidate_that_is_far_slower_shortens_both(self) -> None:
        suites = machine(baseline={"a": steady(1000.0)}, candidate={"a": steady(100_000.0)})
        (benchmark,) = plan(suites, header()).benchmarks
        # 50 us of the baseline's iterations, and 5 ms of the candidate's.
        assert benchmark.loops == pytest.approx(50, abs=2)

    def test_a_candidate_that_fails_at_its_first_look_has_failed(self) -> None:
        suites = machine(baseline=named("a", "b"), candidate={"a": fails(CRASH), "b": steady()})
        record = plan(suites, header())
        assert record.stop == ["failed", "interrupted"]
        assert messages(record, "failed")[0].startswith("candidate (a) was killed by SIGSEGV")

    def test_what_counts_only_takes_one_sample(self) -> None:
        suites = both(a=steady(30.0))
        (benchmark,) = plan(suites, header(metrics=["instructions"])).benchmarks
        assert (benchmark.loops or 0) > 1000
        assert benchmark.samples == 1

    def test_a_long_benchmark_is_tried_once(self) -> None:
        suites = both(a=steady(2e9))
        (benchmark,) = plan(suites, header()).benchmarks
        assert (benchmark.loops, benchmark.samples) == (1, 1)
        assert [(asked.loops, asked.samples) for asked in suites.asked] == [(1, 1)]

    def test_several_candidates_are_no_reason_to_try_again(self) -> None:
        suites = machine(baseline=ONE, new=ONE, newer=ONE)
        plan(suites, header("new", "newer"), Selection(control=True))
        assert len(suites.asked) < 10

    @pytest.mark.parametrize(
        ("body", "says"),
        [
            (fails(CRASH), r"baseline \(bad\) was killed by SIGSEGV: mend it, or choose others with --benchmark"),
            (
                fails({"exit_code": 3, "stderr": b"no room\n"}),
                r"baseline \(bad\) failed with exit status 3 \(its last words: no room\)",
            ),
            (fails({"timed_out": True}), r"baseline \(bad\) did not end within"),
            (fails({"exit_code": 0}), r"baseline \(bad\) wrote no results"),
            (lambda asked: [{"ns": 0}] * asked.samples, r"baseline \(bad\) gave a sample that took 0 ns"),
            (lambda _: [{"ns": 5}], r"baseline \(bad\) gave 1 samples where 3 were asked for"),
            (lambda asked: [{"ns": 50}] * asked.samples, r"baseline \(bad\) takes no longer however often"),
            (lambda _: [{"error": "no file"}], r"baseline \(bad\) says: no file"),
        ],
        ids=["signal", "status", "hang", "silence", "zero", "too few", "never longer", "error"],
    )
    def test_a_benchmark_that_fails_is_no_harm_to_the_others(self, body: Body, says: str) -> None:
        record = plan(both(good=steady(), bad=body, fine=steady()), header())
        assert record.stop == ["interrupted", "failed", "interrupted"]
        assert (record.benchmarks[1].loops, record.benchmarks[1].samples) == (None, None)
        (message,) = messages(record, "failed")
        assert re.match(says, message), message
        assert "--ignore-failure" not in message

    def test_time_for_each_only_lengthens_the_limit(self) -> None:
        many = both(**named(*map(str, range(20))))
        assert plan(many, header(), Selection(seconds_each=3.0)).settings.max_time_s == 60
        assert plan(many, header(), Selection(seconds_each=1.0)).settings.max_time_s == 30
        assert plan(many, header(), Selection()).settings.max_time_s == 30
        assert plan(many, header(max_time_s=None, pairs=12), Selection(seconds_each=3.0)).settings.max_time_s is None

    def test_no_call_may_use_up_the_budget(self) -> None:
        for settings, limit in (({}, 30e9), ({"timeout_s": 2.0}, 2e9), ({"max_time_s": None, "pairs": 12}, None)):
            suites = both(**ONE)
            plan(suites, header(**settings))
            assert {spec.timeout_ns for spec in suites.specs} == {limit}

    def test_it_says_what_it_tries(self) -> None:
        shown: list[Progress] = []
        planner(both(**named("a", "b")), header(), shown.append).planned(Selection())
        assert [(one.benchmark, one.done, one.limit) for one in shown] == [("trying a", 0, 2), ("trying b", 1, 2)]

    @pytest.mark.parametrize("launches", [0, 1, 2, 5])
    def test_an_interrupt_between_two_calls_starts_no_other(self, launches: int) -> None:
        suites = both(**named("a", "b"))
        with pytest.raises(Interrupted):
            planner(suites, header(), interrupted=lambda: len(suites.specs) == launches).planned(Selection())
        assert len(suites.specs) == launches

    @pytest.mark.parametrize("launches", [0, 1, 2, 5])
    def test_a_call_that_was_cut_short_is_no_failure(self, launches: int) -> None:
        suites = both(**named("a", "b"))
        good = suites.script
        suites.script = lambda number, spec: replace(good(number, spec), cancelled=number == launches)
        with pytest.raises(Interrupted):
            plan(suites, header())


class TestTheWeighing:
    def test_both_launches_of_a_pair_do_the_same_and_each_pair_has_a_seed(self) -> None:
        suites = machine(baseline=ONE, candidate={"one": steady(1200)})
        record = weigh(suites, pairs=20, margin=1e-5)
        (benchmark,) = record.benchmarks
        measured = suites.asked[-len(record.launches) :]
        assert {(asked.loops, asked.samples) for asked in measured} == {(benchmark.loops, benchmark.samples)}
        seeds = [asked.seed for asked in measured]
        assert seeds[::2] == seeds[1::2] == record.launches.hash_seed[::2]
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

    def test_a_short_launch_is_no_caution_where_its_samples_are_judged(self) -> None:
        (verdict,) = verdicts(weigh(both(a=steady(within=1e-3, between=1e-3)), max_time_s=20))
        assert verdict.findings == []

    def test_what_others_did_to_the_launch_outside_its_samples_is_no_matter(self) -> None:
        """A launch that waited for a processor while it started has its samples all the same."""
        suites = both(a=steady(within=1e-3, between=1e-3))
        record = weigh(suites, max_time_s=20, metrics=["active", "max_rss"])
        assert [verdict.verdict for verdict in verdicts(record)] == ["same", "same"]
        assert START_NS > TARGET_NS


def late(program: str, calls: int) -> Callable[[Asked], bool]:
    """From its so-many-th call for a program on."""
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
        assert words_of(record) == {"good": "same", "fine": "same"}
        assert messages(record, "failed") == [str(one.error)]
        assert "candidate (bad) was killed by SIGSEGV" in str(one.error)
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
        """So that what was seen live is what is derived again: those that failed have no verdict."""
        alone = both(a=repeatable(noise=0.008))
        bad = {str(number): fails(CRASH) for number in range(9)}
        beside = machine(baseline={**alone.suites["baseline"], **bad}, candidate={**alone.suites["candidate"], **bad})
        shown: list[Progress] = []
        record = plan(beside, header(max_time_s=60))
        one = experiment(beside, record)
        one._watch = shown.append
        verdict = verdicts(one.run())[0]
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

    def test_a_wait_that_is_longer_than_the_sample_fails_its_benchmark_alone(self) -> None:
        plain = steady()
        waited: Body = lambda asked: [{**line, "delay_ns": 10**12} for line in plain(asked)]  # type: ignore[dict-item]  # noqa: E731
        record = weigh(both(good=steady(), bad=waited), max_time_s=30)
        assert record.stop == ["decided", "failed"]
        (message,) = messages(record, "failed")
        assert message.startswith("bad: active was 0 or less in some launches")

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
    """Samples vary within a launch and between launches; the verdicts' error rates are those of pairs of launches."""

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
        """The smallest margin, so that it is the test alone that keeps them rare."""
        alarms = 0
        for seed in range(300):
            record = weigh(self.suites(seed), pairs=14, max_time_s=None, margin=1e-5)
            alarms += any(verdict.verdict in ("slower", "faster") for verdict in verdicts(record))
        assert alarms <= 3

    def test_two_percent_are_found(self) -> None:
        for seed in range(10):
            record = weigh(self.suites(seed, change=0.02), max_time_s=60)
            assert words_of(record) == {"within": "slower", "between": "slower"}

    def test_more_samples_are_taken_where_the_noise_is_within_launches(self) -> None:
        within, between = (
            np.median([plan(self.suites(seed), header()).benchmarks[place].samples or 0 for seed in range(20)])
            for place in (0, 1)
        )
        assert within > 1.5 * between


def test_a_benchmark_is_measured_in_its_own_order() -> None:
    record = weigh(both(**named("a", "b", "c")), pairs=12, max_time_s=None, warm_up=0, margin=1e-5)
    assert Counter(record.launches.benchmark) == {0: 24, 1: 24, 2: 24}
    assert {ROLES[role] for role in record.launches.role} == {USED}
    assert record.benchmarks[0] == Benchmark(
        name="a", entry="a", tags=["made up"], loops=record.benchmarks[0].loops, samples=record.benchmarks[0].samples
    )
