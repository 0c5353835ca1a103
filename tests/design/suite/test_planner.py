"""Plans for scripted harnesses: their lists, what is chosen from them, and how much of each a launch runs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from steelyard.design.judging.judgement import verdicts
from steelyard.design.runner.failure import Interrupted
from steelyard.design.runner.targets import work_of
from steelyard.design.suite.loops import PILOT_SAMPLES, TARGET_NS
from steelyard.design.suite.selection import Selection
from steelyard.model.errors import LaunchError, MeasurementError, NothingChosenError, UsageError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.progress import Progress
from steelyard.model.rows import ROLES, USED
from steelyard.model.subject import Benchmark, RevisionFacts
from steelyard.model.throughput import Processed, processed_of
from steelyard.subjects.harness import Work
from steelyard.subjects.protocol import ProtocolHarness
from steelyard.subjects.responses import shown
from steelyard.subjects.suite import CONTROL_NAME, MOST_BENCHMARKS
from tests.design.scripted import PLAIN, Script
from tests.design.scripted_harness import (
    START_NS,
    Asked,
    Bodies,
    Body,
    fails,
    header,
    machine,
    plan,
    planner,
    run_header,
    steady,
    weigh,
)
from tests.design.suite.made import CRASH, ONE, both, messages, named, names


class TestWhatIsProcessed:
    def test_the_list_tells_it(self) -> None:
        suites = machine(baseline=ONE, candidate=ONE)
        suites.listed = {"baseline": {"bytes": 4096, "items": 7}}
        record = plan(suites, header())
        assert record.benchmarks[0].processed == processed_of({"bytes": 4096.0, "items": 7.0})
        assert messages(record, "other-work") == []

    @pytest.mark.parametrize("told", [-5, "12", True, float("nan"), 1e101, []], ids=str)
    def test_what_can_be_no_amount_is_noted_and_passed_over(self, told: object) -> None:
        suites = machine(baseline=ONE, candidate=ONE)
        suites.listed = {side: {"bytes": told, "items": 7} for side in ("baseline", "candidate")}
        record = plan(suites, header())
        assert record.benchmarks[0].processed == processed_of({"items": 7.0})
        (said,) = messages(record, "no-amount")
        assert said == f"there is no throughput where the harness tells no number above 0: bytes of {shown(told)} (one)"

    def test_an_input_that_is_empty_has_no_throughput_and_no_note(self) -> None:
        suites = machine(baseline=ONE, candidate=ONE)
        suites.listed = {"baseline": {"bytes": 0, "items": None}}
        record = plan(suites, header())
        assert record.benchmarks[0].processed == []
        assert messages(record, "no-amount") == []

    def test_where_the_user_says_the_amount_the_harness_is_not_asked(self) -> None:
        suites = machine(baseline=ONE, candidate=ONE)
        suites.listed = {"baseline": {"bytes": -1}}
        record = plan(suites, header(), Selection(processed=[Processed(unit="bytes", amount=9)]))
        assert messages(record, "no-amount") == []

    def test_sides_that_do_other_work_are_noted(self) -> None:
        suites = machine(baseline=ONE, candidate=ONE)
        suites.listed = {"baseline": {"bytes": 4096}, "candidate": {"bytes": 8192}}
        record = plan(suites, header())
        assert record.benchmarks[0].processed == [Processed(unit="bytes", amount=4096, candidate=8192)]
        (said,) = messages(record, "other-work")
        assert said == (
            "the candidate processes another amount than the baseline, 8,192 bytes against 4,096 an iteration: one"
        )

    @pytest.mark.parametrize("error", [0.0, 0.001])
    def test_amounts_that_only_rounding_tells_apart_are_one(
        self, error: float, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        suites, told = machine(baseline=ONE, candidate=ONE), {b"baseline": 5240.0, b"candidate": 5243.0}
        good = suites.script
        suites.script = lambda number, spec: replace(good(number, spec), stderr=spec.program)
        monkeypatch.setattr(ProtocolHarness, "processed", lambda _, measured, work: {"bytes": told[measured.stderr]})  # noqa: ARG005
        monkeypatch.setattr(ProtocolHarness, "amount_error", lambda *_: error)
        record = plan(suites, header())
        expected = Processed(unit="bytes", amount=5240, candidate=None if error else 5243)
        assert record.benchmarks[0].processed == [expected]
        assert bool(messages(record, "other-work")) == (not error)

    def test_what_the_user_says_comes_first(self) -> None:
        suites = machine(baseline=ONE, candidate=ONE)
        suites.listed = {"baseline": {"bytes": 4096}}
        asked = processed_of({"items": 3.0})
        assert plan(suites, header(), Selection(processed=asked)).benchmarks[0].processed == asked

    @pytest.mark.parametrize("told", [0, -1, True, "many", [1], None, 1e300])
    def test_what_can_be_no_amount_is_left_out(self, told: object) -> None:
        suites = machine(baseline=ONE, candidate=ONE)
        suites.listed = {"baseline": {"bytes": told}}
        assert plan(suites, header()).benchmarks[0].processed == []


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

    def test_of_several_layouts_the_first_is_asked_and_tried(self) -> None:
        suites, plain = machine(baseline=ONE, candidate=ONE), header(layouts=3)
        subjects = [one.model_copy(update={"argv": [*one.argv, "{layout}"]}) for one in plain.subjects]
        assert names(plan(suites, plain.model_copy(update={"subjects": subjects}))) == ["one"]
        assert {spec.argv[1] for spec in suites.specs} == {b"1"}

    def test_parameters_are_kept_and_are_none_of_the_command(self) -> None:
        suites = machine(baseline=ONE, candidate=ONE)
        suites.listed = {"baseline": {"params": {"n": "10"}}}
        (benchmark,) = plan(suites, header()).benchmarks
        assert (benchmark.params, benchmark.in_command()) == ({"n": "10"}, {})
        assert Benchmark(name="n=10", params={"n": "10"}).in_command() == {"n": "10"}

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
        record = planner(both(**named("a", "b")), run_header()).plan(Selection())
        assert [benchmark.name for benchmark in record.benchmarks] == ["a", "b"]
        assert record.findings == []

    @pytest.mark.parametrize(
        ("suites", "says"),
        [
            ({"baseline": {}, "candidate": ONE}, "baseline lists no benchmark"),
            ({"baseline": ONE, "candidate": {}}, "the baseline has one, and the candidate has none"),
            ({"baseline": ONE, "candidate": named("two")}, "the baseline has one, and the candidate has two"),
        ],
        ids=["nothing", "nothing to compare with", "nothing in common"],
    )
    def test_without_a_benchmark_there_is_nothing_to_measure(self, suites: dict[str, Bodies], says: str) -> None:
        with pytest.raises(MeasurementError, match=says):
            plan(machine(**suites), header())

    def test_a_python_suite_without_a_benchmark_is_told_how_to_have_one(self) -> None:
        record = header()
        baseline = record.subjects[0].model_copy(update={"argv": ["python3", "-m", "steelyard.harness", "suite.py"]})
        record = record.model_copy(update={"subjects": [baseline, *record.subjects[1:]]})
        with pytest.raises(MeasurementError, match="lists no benchmark: has its suite @bench above a function"):
            plan(machine(baseline={}, candidate=ONE), record)

    def test_too_many(self) -> None:
        many = {str(number): steady() for number in range(MOST_BENCHMARKS + 1)}
        with pytest.raises(UsageError, match="more than 10000 benchmarks: choose some with --benchmark"):
            plan(both(**many), header())

    def test_a_list_that_fails_names_the_subject(self) -> None:
        for changes, says in (
            ({"exit_code": 3, "stderr": b"usage: x\n"}, r"the list of candidate failed with exit status 3 \(its last"),
            (
                CRASH,
                r"the list of candidate was killed by SIGSEGV, a segmentation fault: is it a program of the harness",
            ),
            (
                {"exit_code": 1, "stderr": b"Traceback ...\nModuleNotFoundError: No module named 'pyperf'\n"},
                "activate the environment that has pyperf, or give the path of its Python",
            ),
            ({"exit_code": 1, "stderr": b"python: No module named pytest\n"}, "the environment that has pytest, or"),
            (
                {"exit_code": 2, "results": LACKS_MODULE, "results_bytes": len(LACKS_MODULE)},
                r"and says: bench.py:1: ModuleNotFoundError: No module named 'mine' \(A launch sees only a small env",
            ),
            ({"timed_out": True}, "the list of candidate did not end within"),
            ({}, "candidate wrote no results: it does not speak the harness protocol"),
        ):
            suites = both(**ONE)
            suites.script = _first_bad(suites.script, b"candidate", changes)
            with pytest.raises(LaunchError, match=says):
                plan(suites, header())

    def test_a_file_that_a_revision_has_not_is_named(self, tmp_path: Path) -> None:
        here, checkout = tmp_path / "here", tmp_path / "checkout"
        for folder in (here, checkout):
            folder.mkdir()
        (here / "test_new.py").touch()
        suites, record = both(**ONE), header()
        revision = RevisionFacts(name="v1", commit=None, tree="0", build=None)
        of = {"argv": ["pytest", "test_new.py"], "directory": str(checkout), "revision": revision}
        settings = record.settings.model_copy(update={"directory": str(here)})
        subjects = [record.subjects[0].model_copy(update=of), record.subjects[1]]
        suites.script = _first_bad(suites.script, b"baseline", {"exit_code": 4})
        said = r"exit status 4: test_new.py is in your folder and not in that revision, where it runs: name a folder "
        with pytest.raises(LaunchError, match=f"{said}that both have, or its absolute path"):
            plan(suites, record.model_copy(update={"subjects": subjects, "settings": settings}))


REVISION = RevisionFacts(name="main", commit=None, tree="0", build=None)


class TestFirstSuite:
    """One command in two revisions, where the baseline has no benchmark yet."""

    def test_what_the_baseline_does_not_list_is_named_and_not_measured(self) -> None:
        suites, record = machine(baseline={}, candidate=named("a", "b", "c")), header()
        subjects = [one.model_copy(update={"revision": REVISION}) for one in record.subjects]
        record = plan(suites, record.model_copy(update={"subjects": subjects}), Selection(only=["!c"]))
        assert record.new_suite is not None
        assert record.new_suite.message == (
            "baseline lists no benchmark, so nothing is compared yet; new in candidate: a, b"
        )
        assert (record.benchmarks, record.stop, suites.asked) == ([], [], [])

    def test_one_of_which_all_were_renamed_is_told_how_it_goes_on(self) -> None:
        suites, record = machine(baseline=named("a", "b"), candidate=named("c", "d")), header()
        subjects = [one.model_copy(update={"revision": REVISION}) for one in record.subjects]
        record = record.model_copy(update={"subjects": subjects})
        with pytest.raises(MeasurementError, match="the candidate has c, d; if they were renamed or moved, keep one"):
            plan(suites, record)
        kept = machine(baseline=named("a", "b"), candidate=named("a", "c", "d"))
        assert names(plan(kept, record)) == ["a"]

    def test_a_list_that_fails_in_the_baseline_is_an_error_unless_its_file_is_new(self, tmp_path: Path) -> None:
        (tmp_path / "baseline").touch()
        suites, record = both(**ONE), header()
        program = str(tmp_path / "baseline")
        suites.script = _first_bad(suites.script, program.encode(), {"exit_code": 4})
        first, second = (one.model_copy(update={"revision": REVISION}) for one in record.subjects)
        record = record.model_copy(update={"subjects": [first.model_copy(update={"program": program}), second]})
        with pytest.raises(LaunchError, match="the list of baseline failed with exit status 4"):
            plan(suites, record)
        found = plan(suites, record, Selection(not_in_baseline="bench")).new_suite
        assert found is not None
        assert found.message == "baseline has no bench, so nothing is compared yet; new in candidate: one"
        suites.script = _first_bad(suites.script, b"candidate", {"exit_code": 4})
        with pytest.raises(LaunchError, match="the list of candidate failed"):
            plan(suites, record, Selection(not_in_baseline="bench"))


LACKS_MODULE = b'{"error": "bench.py:1: ModuleNotFoundError: No module named \'mine\'"}\n'


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
        with pytest.raises(UsageError, match="fits none of the baseline's benchmarks: a, ab, sort"):
            plan(both(**self.LISTED), header(), Selection(only=["a", pattern]))

    def test_a_run_has_no_baseline(self) -> None:
        with pytest.raises(UsageError, match="--benchmark 'c' fits none of its benchmarks: a"):
            planner(both(a=steady()), run_header()).plan(Selection(only=["c"]))

    @pytest.mark.parametrize("pattern", ["ort", "ort*", "!ort"])
    def test_a_part_of_a_name_is_told_how_it_fits(self, pattern: str) -> None:
        with pytest.raises(UsageError, match=re.escape("größe/日本, *; '*ort*' fits a part of a name")):
            plan(both(**self.LISTED), header(), Selection(only=[pattern]))

    def test_patterns_that_are_of_several_programs_may_fit_none_of_one(self) -> None:
        wanted = Selection(only=["a*", "other", "!b*"], of_several=True)
        assert names(plan(both(**self.LISTED), header(), wanted)) == ["a", "ab"]
        with pytest.raises(NothingChosenError, match="none of the baseline's benchmarks is among those asked for"):
            plan(both(**self.LISTED), header(), Selection(only=["other"], of_several=True))

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

    @pytest.mark.parametrize("tagged", ["baseline", "candidate"])
    def test_a_tag_that_one_side_has_chooses_the_benchmark_of_both(self, tagged: str) -> None:
        suites = machine(baseline=named("a", "b"), candidate=named("a", "b"))
        suites.tags = {"a": [], "b": []}
        suites.listed = {tagged: {"tags": ["fast"]}}
        record = plan(suites, header(), Selection(tags=["fast"]))
        assert (names(record), record.findings) == (["a", "b"], [])

    def test_only_the_chosen_ones_are_missed(self) -> None:
        suites = machine(baseline=named("x1", "x2", "y1"), candidate=named("x2", "x3", "y2"))
        record = plan(suites, header(), Selection(only=["x*"]))
        assert names(record) == ["x2"]
        assert [finding.message for finding in record.findings] == [
            "not in candidate, so not compared: x1",
            "only in candidate, so not compared: x3",
        ]

    def test_one_that_only_the_candidate_has_is_none_that_is_misspelt(self) -> None:
        suites = machine(baseline=named("a"), candidate=named("a", "new"))
        record = plan(suites, header(), Selection(only=["a", "new"]))
        assert (names(record), messages(record, "added")) == (["a"], ["only in candidate, so not compared: new"])
        with pytest.raises(UsageError, match="the baseline lacks what is asked for, new: there is nothing to weigh"):
            plan(suites, header(), Selection(only=["n*"]))
        with pytest.raises(NothingChosenError, match="the baseline lacks what is asked for, new, so it is left out"):
            plan(suites, header(), Selection(only=["n*"], of_several=True))
        with pytest.raises(UsageError, match="'misspelt' fits none of the baseline's benchmarks: a"):
            plan(suites, header(), Selection(only=["new", "misspelt"]))
        suites = machine(baseline=named("a"), one=named("a", "new"), other=named("a", "new"))
        with pytest.raises(UsageError, match="the baseline lacks what is asked for, new: there is nothing to weigh"):
            plan(suites, header("one", "other"), Selection(only=["n*"]))

    def test_one_that_the_candidate_lacks(self) -> None:
        suites = machine(baseline=named("a", "b"), candidate=named("b"))
        with pytest.raises(MeasurementError, match="the baseline has a, and the candidate has b"):
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
        suites = machine(
            baseline={"a": steady(30.0), "b": steady(5e6)}, candidate={"a": steady(90.0), "b": steady(4e6)}
        )
        first, second = plan(suites, header()).benchmarks
        assert first.loops == pytest.approx(TARGET_NS / 30, rel=0.1)
        assert second.loops == 1
        assert all(4 <= (benchmark.samples or 0) <= 41 for benchmark in (first, second))
        # One look at the candidate is enough: is it far slower? With so few iterations, the first may hide the others.
        assert [(asked.name, asked.samples) for asked in suites.asked if asked.program == "candidate"] == [
            ("a", 1),
            ("b", 2),
        ]

    def test_a_candidate_that_is_far_slower_shortens_both_where_they_share_their_loops(self) -> None:
        suites = machine(baseline={"a": steady(1000.0)}, candidate={"a": steady(100_000.0)})
        (benchmark,) = plan(suites, header(metrics=["active", "max_rss"])).benchmarks
        # The baseline's samples take 50 us, the candidate's 5 ms.
        assert benchmark.loops == pytest.approx(50, abs=2)

    def test_a_candidate_that_fails_at_its_first_look_has_failed(self) -> None:
        suites = machine(baseline=named("a", "b"), candidate={"a": fails(CRASH), "b": steady()})
        record = plan(suites, header())
        assert record.stop == ["failed", "interrupted"]
        assert messages(record, "failed")[0].startswith("candidate (a) was killed by SIGSEGV, a segmentation fault")

    def test_what_counts_only_takes_one_sample(self) -> None:
        suites = both(a=steady(30.0))
        (benchmark,) = plan(suites, header(metrics=["instructions"])).benchmarks
        assert (benchmark.loops or 0) > 1000
        assert benchmark.samples == 1

    def test_one_that_is_recognised_and_cannot_be_counted_runs_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("steelyard.design.suite.planner.recognised_harness", lambda _: "go")
        suites = both(a=steady())
        with pytest.raises(UsageError, match="--harness go cannot count instructions and cost"):
            plan(suites, header(harness="auto", metrics=["active", "instructions", "cost"]))
        assert suites.of("a") == []

    def test_a_long_benchmark_is_tried_once_a_side(self) -> None:
        suites = both(a=steady(2e9))
        (benchmark,) = plan(suites, header()).benchmarks
        assert (benchmark.loops, benchmark.samples) == (1, 1)
        # One look at the candidate is enough: is it far faster?
        assert [(one.program, one.loops, one.samples) for one in suites.asked] == [
            ("baseline", 1, 1),
            ("candidate", 1, 1),
        ]

    def test_several_candidates_are_no_reason_to_try_again(self) -> None:
        suites = machine(baseline=ONE, new=ONE, newer=ONE)
        plan(suites, header("new", "newer"), Selection(control=True))
        assert len(suites.asked) < 10

    @pytest.mark.parametrize(
        ("body", "says"),
        [
            (
                fails(CRASH),
                r"baseline \(bad\) was killed by SIGSEGV, a segmentation fault: fix it, or choose others with",
            ),
            (
                fails({"exit_code": 3, "stderr": b"no room\n"}),
                r"baseline \(bad\) failed with exit status 3 \(its last words: no room\)",
            ),
            (fails({"timed_out": True}), r"baseline \(bad\) did not end within"),
            (fails({"exit_code": 0}), r"baseline \(bad\) wrote no results"),
            (lambda asked: [{"ns": 0}] * asked.samples, r"baseline \(bad\) gave a sample that took 0 ns"),
            (lambda _: [{"ns": 5}], r"baseline \(bad\) gave 1 sample where 3 were asked for"),
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
            # The candidate's first trial is given up earlier.
            assert {spec.timeout_ns for spec in suites.specs} == {limit, 2 * 10**9}

    def test_it_says_what_it_tries(self) -> None:
        shown: list[Progress] = []
        planner(both(**named("a", "b")), header(), shown.append).plan(Selection())
        assert [(one.benchmark, one.done, one.limit) for one in shown] == [("trying a", 0, 2), ("trying b", 1, 2)]

    @pytest.mark.parametrize("launches", [0, 1, 2, 5])
    def test_an_interrupt_between_two_calls_starts_no_other(self, launches: int) -> None:
        suites = both(**named("a", "b"))
        with pytest.raises(Interrupted):
            planner(suites, header(), interrupted=lambda: len(suites.specs) == launches).plan(Selection())
        assert len(suites.specs) == launches

    @pytest.mark.parametrize("launches", [0, 1, 2, 5])
    def test_a_call_that_was_cut_short_is_no_failure(self, launches: int) -> None:
        suites = both(**named("a", "b"))
        good = suites.script
        suites.script = lambda number, spec: replace(good(number, spec), cancelled=number == launches)
        with pytest.raises(Interrupted):
            plan(suites, header())


def test_a_benchmark_is_measured_in_its_own_order() -> None:
    record = weigh(both(**named("a", "b", "c")), pairs=12, max_time_s=None, warm_up=0, margin=1e-5)
    assert Counter(record.launches.benchmark) == {0: 24, 1: 24, 2: 24}
    assert {ROLES[role] for role in record.launches.role} == {USED}
    assert record.benchmarks[0] == Benchmark(
        name="a", entry="a", tags=["made up"], loops=record.benchmarks[0].loops, samples=record.benchmarks[0].samples
    )


class TestTheClock:
    @pytest.fixture(autouse=True)
    def standing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ProtocolHarness, "stands_still", True)
        monkeypatch.setattr("steelyard.design.suite.planner.can_stand_still", lambda program: program.name != "static")

    @pytest.mark.parametrize(
        ("metrics", "clock"),
        [(["active"], "still"), (["max_rss", "active"], "still"), (["wall"], None), (["active", "wall"], None)],
    )
    def test_it_stands_still_where_active_is_asked_for_and_wall_is_not(
        self, metrics: list[str], clock: str | None
    ) -> None:
        asked = header()
        asked = asked.model_copy(update={"settings": asked.settings.model_copy(update={"metrics": metrics})})
        assert plan(machine(baseline=ONE, candidate=ONE), asked).settings.clock == clock

    def test_it_goes_on_where_one_side_cannot_be_reached(self) -> None:
        suites = machine(baseline=ONE, static=ONE)
        assert plan(suites, header("static")).settings.clock is None

    def test_it_goes_on_in_a_harness_of_which_that_is_not_known(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ProtocolHarness, "stands_still", False)
        assert plan(machine(baseline=ONE, candidate=ONE), header()).settings.clock is None

    @pytest.mark.parametrize(
        ("tells", "short_turns", "any_pairing", "pairing"),
        [
            ({"active"}, True, True, "auto"),
            ({"active"}, True, False, "adjacent"),
            ({"active"}, False, True, "adjacent"),
            ({"cpu"}, True, True, "adjacent"),
        ],
    )
    def test_what_tells_its_own_time_by_it_is_weighed_beside_its_like_where_turns_are_short(
        self, monkeypatch: pytest.MonkeyPatch, tells: set[str], short_turns: bool, any_pairing: bool, pairing: str
    ) -> None:
        monkeypatch.setattr(ProtocolHarness, "tells", frozenset(tells))
        asked = header()
        offers = asked.machine.model_copy(update={"offers": {"short_turns": short_turns}})
        suites = machine(baseline=ONE, candidate=ONE)
        planned = plan(suites, asked.model_copy(update={"machine": offers}), Selection(any_pairing=any_pairing))
        assert planned.settings.pairing == pairing

    def test_trials_and_launches_know_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        works: list[Work] = []
        running = ProtocolHarness.running

        def noted(harness: ProtocolHarness, launch: LaunchSpec, work: Work) -> LaunchSpec:
            works.append(work)
            return running(harness, launch, work)

        monkeypatch.setattr(ProtocolHarness, "running", noted)
        record = plan(machine(baseline=ONE, candidate=ONE), header())
        assert works
        assert all(work.still for work in works)
        assert work_of(record, 0).still

    def test_it_goes_on_in_both_sides_of_a_benchmark_of_which_one_cannot_have_it_stand_still(self) -> None:
        def untold(asked: Asked) -> list[dict[str, Any]]:
            lines: Any = steady()(asked)
            return [{**one, "delay_ns": None} for one in lines]

        record = weigh(machine(baseline=named("a", "b"), candidate={"a": untold, "b": steady()}), pairs=12)
        assert record.settings.clock == "still"
        assert [one.clock for one in record.benchmarks] == ["plain", None]
        assert [work_of(record, number).still for number in (0, 1)] == [False, True]
        said = [[one.message for one in each.findings] for each in verdicts(record)]
        assert [any("all launches use the plain clock" in one for one in each) for each in said] == [True, False]

    def test_one_that_goes_on_after_the_trials_is_an_error_as_times_by_both_cannot_be_compared(self) -> None:
        launches = count()

        def later_untold(asked: Asked) -> list[dict[str, Any]]:
            lines: Any = steady()(asked)
            is_untold = asked.seed and next(launches) >= 10  # trials have no seed
            return [{**one, "delay_ns": None} for one in lines] if is_untold else lines

        record = weigh(machine(baseline=named("a", "b"), candidate={"a": later_untold, "b": steady()}), pairs=30)
        assert [one.clock for one in record.benchmarks] == [None, None]
        assert record.stop[0] == "failed"
        assert record.stop[1] != "failed"
        (said,) = messages(record, "failed")
        assert said.startswith("candidate (a) has a clock that went on in this launch")
        assert "--metric wall" in said


def test_of_many_benchmarks_each_is_looked_at_once() -> None:
    class Counted(list[Benchmark]):
        passes = 0

        def __iter__(self) -> Iterator[Benchmark]:
            self.passes += 1
            return super().__iter__()

    each = {name: steady() for name in "abc"}
    suites = machine(baseline=each, candidate=each)
    trials = planner(suites, header())._make_trials(shares_starts=False)
    benchmarks = Counted(Benchmark(name=name, entry=name) for name in "abc")
    trials.try_all(benchmarks)
    assert [*trials.known] == ["a", "b", "c"]
    assert benchmarks.passes == 1
