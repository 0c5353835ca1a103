from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from steelyard.design.gate import reading
from steelyard.design.gate.gate import gate, gate_outcome
from steelyard.design.identical import EVERY_BENCHMARK
from steelyard.design.merging import merge_parts
from steelyard.design.outcome import Outcome, derive
from steelyard.model.derived import Derived, Verdict
from steelyard.model.errors import MeasurementError
from steelyard.model.files import with_derived
from steelyard.model.findings import IDENTICAL, NEW_SUITE, Finding
from steelyard.model.gate import GateReport
from steelyard.model.journal import Journal
from steelyard.model.launches import Launches
from steelyard.model.limits import limits_from
from steelyard.model.records import Run, Weighing
from steelyard.model.settings import Settings, Shard
from steelyard.model.subject import RevisionFacts
from steelyard.report import gate_markdown, gate_words
from tests.design.counted import counted_weighing, counts
from tests.report.records import row, verdict, weighing

HERE = Path(__file__)
Family = Literal["holm", "fdr"]


Given = Callable[[Mapping[str, Weighing]], list[tuple[str, Path]]]


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Given:
    """Have a gate find these records by their names; return what to give to it."""

    def given(records: Mapping[str, Weighing]) -> list[tuple[str, Path]]:
        monkeypatch.setattr(reading, "recall", lambda path, *_: Outcome(records[path.name], None))
        for name in records:
            (tmp_path / name).touch()
        return [(name, tmp_path / name) for name in records]

    return given


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    return Held(monkeypatch)


class Held:
    """Holds a gate over one record with the given verdicts."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch

    def __call__(
        self,
        verdicts: Sequence[Verdict],
        *limits: str,
        require: Sequence[str] = (),
        metrics: Sequence[str] = ("active",),
        error: MeasurementError | None = None,
        findings: Sequence[Finding] = (),
    ) -> GateReport:
        names = {one.index: one.benchmark for one in verdicts}
        settings = Settings(metrics=list(metrics))
        record = weighing(benchmarks=tuple(names.values()), settings=settings)
        record = record.model_copy(update={"findings": list(findings)})
        record = record.model_copy(update={"derived": Derived(verdicts=list(verdicts))})
        self._patch.setattr(reading, "recall", lambda *_: Outcome(record, error))
        return gate([("a.json", HERE)], limits_from(limits, require=require))


def of(change: float, low: float, high: float, name: str, **others: object) -> Verdict:
    return verdict(change=change, interval=(low, high), verdict=name, **others)


@pytest.mark.parametrize(
    ("one", "limit", "standing"),
    [
        (of(0.03, 0.02, 0.04, "slower"), "2.5%", "above"),
        (of(0.03, 0.02, 0.04, "slower"), "3.5%", "open"),
        (of(0.03, 0.02, 0.04, "slower"), "4%", "within"),
        (of(0.03, -0.01, 0.07, "undecided"), "1%", "open"),
        (of(0.03, -0.01, 0.07, "undecided"), "10%", "within"),
        (of(0.03, 0.02, 0.04, "undecided"), "1%", "open"),
        (of(0.03, 0.02, 0.04, "undecided", is_change=True), "1%", "above"),
        (of(0.003, 0.002, 0.004, "same"), "0.1%", "open"),
        (of(0.003, 0.002, 0.004, "same", is_change=True), "0.1%", "above"),
        (of(0.0, 0.0, 0.0, "same"), "0%", "within"),
        (of(0.001, 0.001, 0.001, "same", is_change=True), "0%", "above"),
        (of(-0.5, -0.6, -0.4, "faster"), "0%", "within"),
        (of(-1.0, -1.0, -1.0, "faster"), "0%", "within"),
        (of(0.03, 0.02, 0.04, "slower"), "never", "within"),
        (verdict(change=0.03, interval=None, verdict="undecided"), "1%", "open"),
    ],
)
def test_a_change_stands_to_a_limit_as_to_a_margin(held: Held, one: Verdict, limit: str, standing: str) -> None:
    (judged,) = held([one], limit).judged
    assert judged.standing == standing


@pytest.mark.parametrize(("name", "standing"), [("slower", "above"), ("same", "within"), ("undecided", "open")])
def test_without_a_limit_the_verdict_decides(held: Held, name: str, standing: str) -> None:
    (judged,) = held([verdict(verdict=name)]).judged
    assert (judged.standing, judged.above) == (standing, 0.005)
    (judged,) = held([verdict(verdict=name, margin=0.02)]).judged
    assert (judged.standing, judged.above) == (standing, 0.02)


def verdicts_of(record: Weighing | Run) -> list[Verdict]:
    assert record.derived is not None
    return record.derived.verdicts


def drawn_suite(benchmarks: int, pairs: int, changed: Mapping[int, float], margin: float, family: Family) -> Weighing:
    """Return a suite whose launches have noise of 5 %; the benchmarks in `changed` have also changed."""
    random = np.random.default_rng(11)
    rows = []
    for number in range(benchmarks):
        for pair in range(pairs):
            order = int(random.integers(2))
            for side in (0, 1):
                work = 10e6 * (1 + side * changed.get(number, 0.0)) * np.exp(0.05 * random.standard_normal())
                rows.append(row(pair, side, int(work), benchmark=number, order=order ^ side))
    settings = Settings(margin=margin, metrics=["wall"], family=family)
    record = weighing(benchmarks=tuple(f"b{number}" for number in range(benchmarks)), settings=settings, stop="pairs")
    return record.model_copy(update={"launches": Launches.of_rows(rows)})


@pytest.mark.parametrize("family", ["holm", "fdr"])
def test_a_limit_of_one_of_many_that_share_alpha_is_exceeded_by_no_chance_finding(family: Family) -> None:
    record = derive(drawn_suite(120, 12, {}, 0.02, family))
    assert any(
        one.interval is not None and one.interval[0] > 0 and (one.change or 0) > 0.02 for one in verdicts_of(record)
    ), "by itself one would be surely slower"
    report = gate_outcome("a.json", Outcome(record, None), limits_from(["2%"]))
    assert (report.verdict, report.slower) == ("undecided", [])


def test_what_is_surely_slower_among_many_is_above_a_limit_below_the_margin() -> None:
    record = derive(drawn_suite(5, 80, {3: 0.1}, 0.12, "holm"))
    assert verdicts_of(record)[3].verdict == "same"
    report = gate_outcome("a.json", Outcome(record, None), limits_from(["2%"]))
    assert [one.verdict.benchmark for one in report.slower] == ["b3"]


def test_what_the_control_withholds_is_no_reason_to_fail(held: Held) -> None:
    alarm = Finding(code="control-alarm", message="the control found ...")
    withheld = of(0.3, 0.2, 0.4, "undecided", findings=[alarm])
    assert held([withheld], "1%").verdict == "undecided"
    assert held([withheld.model_copy(update={"is_change": True})], "1%").verdict == "undecided"
    assert held([withheld], "50%").verdict == "undecided", "nor one to pass"


def test_another_metric_decides_only_with_a_limit(held: Held) -> None:
    verdicts = [of(0.0, -0.001, 0.001, "same"), verdict(metric="max_rss")]
    assert held(verdicts, metrics=["active", "max_rss"]).verdict == "passed"
    assert held(verdicts, "max_rss=0.5%", metrics=["active", "max_rss"]).verdict == "slower"
    assert held(verdicts, "0.5%", metrics=["active", "max_rss"]).verdict == "passed"


def test_a_limit_holds_for_the_metric_that_serves_in_the_place_of_its_own(held: Held) -> None:
    threads = verdict(metric="wall")  # `active` is not defined for programs with threads
    assert held([threads], "active=0.5%").verdict == "slower"
    assert held([threads], "wall=0.5%").verdict == "slower"
    assert held([threads], "active=0.5%").problems == []
    beside = [threads, of(0.0, -0.001, 0.001, "same", metric="max_rss")]
    assert held(beside, "active=never", metrics=["active", "max_rss"]).verdict == "passed"


def test_one_without_a_number_is_a_problem_that_comes_before_all(held: Held) -> None:
    nothing = verdict(benchmark="b", index=1, verdict="undecided", change=None, interval=None, pairs=0)
    report = held([verdict(), nothing])
    assert report.verdict == "failed"
    assert (report.problems, report.findings) == (["b: nothing was measured for active"], [])


def test_a_number_that_the_warm_up_alone_has_is_a_problem_that_does_not_deny_it(held: Held) -> None:
    cold = verdict(verdict="undecided", change=0.05, interval=None, pairs=0)
    report = held([cold])
    assert (report.verdict, report.problems) == ("failed", ["sort: only the warm-up was measured for active"])


def test_pairs_without_a_relative_change_are_a_problem_that_says_why(held: Held) -> None:
    said = [Finding(code="order", message="the second takes longer"), Finding(code="undefined", message="0 in some")]
    report = held([verdict(verdict="undecided", change=None, interval=None, findings=said)])
    assert (report.verdict, report.problems) == ("failed", ["sort: nothing was measured for active (0 in some)"])


def test_one_program_on_both_sides_passes_unmeasured(held: Held) -> None:
    one_program = Finding(code=IDENTICAL, message="identical: both sides build the same program")
    unmeasured = of(0.0, 0.0, 0.0, "same", pairs=0)
    report = held([unmeasured], "sort=1%", "parse=1%", findings=[one_program], require=["sort"])
    assert (report.verdict, report.problems) == ("passed", [])
    assert [finding.message for finding in report.findings] == ["the limit parse=1% fits no benchmark"]
    assert held([unmeasured]).verdict == "failed"


def test_a_first_suite_passes_and_is_named(held: Held) -> None:
    new = Finding(code=NEW_SUITE, message="main lists no benchmark, so nothing is compared yet; new in work tree: a")
    report = held([], "a=1%", findings=[new])
    assert (report.verdict, report.problems, gate_words.headline(report)) == ("passed", [], new.message)
    first, *_ = gate_markdown.page(report).splitlines()
    assert first == "### Steelyard: nothing to compare yet"
    assert gate_markdown.page(report).count("nothing is compared yet") == 1
    assert gate_words.methods(report) == ["the gate fails above a=1%"]
    report = held([], findings=[new], require=["a"])
    assert report.problems == [
        "required benchmark a has no verdict: the baseline has no benchmark yet, so require it from the next change on"
    ]
    assert held([]).verdict == "failed"


def test_of_one_program_any_benchmark_may_be_required_and_limited(held: Held) -> None:
    one_program = Finding(code=IDENTICAL, message="identical: both sides build the same program")
    unasked = of(0.0, 0.0, 0.0, "same", pairs=0, benchmark=EVERY_BENCHMARK)
    report = held([unasked], "sort=1%", findings=[one_program], require=["parse"])
    assert (report.verdict, report.problems, report.findings) == ("passed", [], [])


def test_beside_one_program_what_is_required_and_was_not_measured_is_said(held: Held) -> None:
    one_program = Finding(code=IDENTICAL, message="identical: both sides build the same program")
    unasked = of(0.0, 0.0, 0.0, "same", pairs=0, benchmark=EVERY_BENCHMARK)
    of_another = verdict(verdict="same", index=1)
    report = held([unasked, of_another], findings=[one_program], require=["so*", "parse", "BM_*"])
    assert report.verdict == "passed"
    assert [finding.message.partition(";")[0] for finding in report.findings] == [
        "required, and not among what was measured: parse, BM_*"
    ]


def test_benchmarks_that_failed_are_a_problem_beside_the_others(held: Held) -> None:
    report = held([verdict(verdict="same")], error=MeasurementError("1 of 2 benchmarks failed, the first: x"))
    assert (report.verdict, report.problems) == ("failed", ["a.json: 1 of 2 benchmarks failed, the first: x"])
    assert len(report.judged) == 1


@pytest.mark.parametrize(("pattern", "verdict_of"), [("so*", "passed"), ("sort", "passed"), ("parse", "failed")])
def test_what_is_required_has_to_have_a_verdict(held: Held, pattern: str, verdict_of: str) -> None:
    assert held([verdict(verdict="same")], require=[pattern]).verdict == verdict_of


def test_a_limit_that_holds_for_nothing_is_said(held: Held) -> None:
    report = held([verdict(verdict="same")], "parse*=1%", "sort=1%")
    assert [finding.message for finding in report.findings] == ["the limit parse*=1% fits no benchmark"]
    assert held([verdict(verdict="same")], "cost=1%").problems == [
        "cost has a limit and was not measured: weigh with --metric cost"
    ]
    assert held([verdict(verdict="same")], "cost=never").problems == []


def test_a_name_with_brackets_is_required_and_limited_as_it_stands(held: Held) -> None:
    one = of(0.0, -0.001, 0.001, "same", benchmark="test_sort[1]")
    report = held([one], "test_sort[1]=1%", require=["test_sort[1]"])
    assert (report.verdict, report.findings) == ("passed", [])


def test_the_control_is_held_to_nothing(held: Held) -> None:
    assert held([verdict(verdict="same"), verdict(benchmark="control", index=1, control=True)]).verdict == "passed"


def test_a_part_of_a_suite_says_that_others_are_not_here(given: Given) -> None:
    records = {}
    for number in (1, 2):
        part = weighing(settings=Settings(shard=Shard(number=number, of=2, suite=["a", "b"])))
        records[str(number)] = part.model_copy(update={"derived": Derived(verdicts=[verdict()])})
    both = given(records)
    assert gate(both, limits_from(["10%"])).verdict == "passed"
    alone = "part 1 of 2 of the suite of 2 is not here: nothing is said of its benchmarks"
    for some, said in ((both[1:], []), ([both[1], ("again", both[1][1])], ["counted-once"])):
        report = gate(some, limits_from(["10%"]))
        assert (report.verdict, [finding.code for finding in report.findings]) == ("failed", said)
        assert report.problems[0].startswith(f"{alone}; give the records of all parts, or --part")
    limits = limits_from(["10%", "b=never"], require=["b"])
    for report in (gate(both[1:], limits, of_parts=True), gate_outcome("2", Outcome(records["2"]), limits)):
        assert (report.verdict, report.problems) == ("passed", [])
        assert [finding.message for finding in report.findings] == [alone]


def test_the_parts_of_what_was_merged_count_once(given: Given) -> None:
    records = {}
    for number, name in ((1, "a"), (2, "b")):
        part = weighing(
            benchmarks=(name,), settings=Settings(seed=number, shard=Shard(number=number, of=2, suite=["a", "b"]))
        )
        records[str(number)] = part
    records["all"] = merge_parts([(Path(name), part) for name, part in records.items()])
    judged = [verdict(benchmark="a"), verdict(benchmark="b", index=1)]
    records["all"] = records["all"].model_copy(update={"derived": Derived(verdicts=judged)})
    report = gate(given(records), limits_from(["10%"]))
    assert (report.verdict, report.sources) == ("passed", ["all"])
    assert [finding.message for finding in report.findings] == [
        f"{number} is part of what was merged as all, and counts once" for number in (1, 2)
    ]


@pytest.mark.parametrize(("of", "which"), [(5, "2, 4, 5"), (20, "2, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 8 more")])
def test_a_suite_of_which_parts_lack_is_said_once(given: Given, of: int, which: str) -> None:
    records, suite = {}, [f"benchmark {number}" for number in range(of)]
    for number, name in ((1, "one"), (3, "three")):
        part = weighing(settings=Settings(shard=Shard(number=number, of=of, suite=suite)))
        records[name] = part.model_copy(update={"derived": Derived(verdicts=[verdict()])})
    (said,) = gate(given(records), limits_from(["10%"])).problems
    assert said.startswith(
        f"parts {which} of {of} of the suite of one are not here: nothing is said of their benchmarks;"
    )


@pytest.mark.parametrize("trees", [None, ("c" * 40, "d" * 40)], ids=["files", "revisions"])
def test_a_part_of_other_programs_is_none_of_this_suite(given: Given, trees: tuple[str, str] | None) -> None:
    records = {}
    for number, name in ((1, "earlier"), (2, "2")):
        part = weighing(settings=Settings(shard=Shard(number=number, of=2, suite=["a", "b"])))
        facts = trees and RevisionFacts(name="work tree", commit=None, tree=trees[number - 1], build=None)
        digest = f"{number}" if trees is None else "an interpreter's"
        program = part.subjects[1].model_copy(update={"digest": digest, "revision": facts})
        part = part.model_copy(update={"subjects": [part.subjects[0], program]})
        records[name] = part.model_copy(update={"derived": Derived(verdicts=[verdict()])})
    report = gate(given(records), limits_from(["10%"]))
    assert (report.verdict, len(report.problems)) == ("failed", 2)
    assert report.problems[1].startswith(
        "part 1 of 2 of the suite of 2 is not here: nothing is said of its benchmarks; earlier has other programs;"
    )


@pytest.mark.parametrize(
    ("beside", "said"),
    [
        (
            [],
            "the weighing wrote it elsewhere, or wrote none, as happens when a side does not build: "
            "its own output says why",
        ),
        (["w-sort.json.gz", "w.json", "w-b.json.gz"], "so name those: w-b.json.gz, w-sort.json.gz"),
    ],
    ids=["alone", "of a project"],
)
def test_a_record_that_is_not_there_is_told_why(tmp_path: Path, beside: list[str], said: str) -> None:
    for name in beside:
        (tmp_path / name).touch()
    report = gate([("w.json.gz", tmp_path / "w.json.gz")], limits_from([]))
    (problem,) = report.problems
    assert problem.startswith("there is no record w.json.gz: ")
    assert problem.endswith(said)


def test_a_kept_record_that_is_gone_is_not_said_to_be_written_elsewhere(tmp_path: Path) -> None:
    report = gate([("20260101T120805", tmp_path / "20260101T120805")], limits_from([]))
    said = "there is no record 20260101T120805: the store keeps the last 100, and steelyard list has their names"
    assert report.problems == [said]


def test_what_a_name_that_fits_none_may_have_meant_is_told(held: Held) -> None:
    names = [f"{file}.py::{name}" for file in ("one", "two") for name in ("sort", "parse")]
    verdicts = [of(0.0, -0.001, 0.001, "same", benchmark=name, index=place) for place, name in enumerate(names)]
    report = held(verdicts, "one.py::s=1%", "add=1%", require=["parse", "*two.py::s*", "gone"])
    assert [finding.message for finding in report.findings] == [
        "the limit one.py::s=1% fits no benchmark; there is one.py::sort: '*one.py::s*' fits it",
        "the limit add=1% fits no benchmark",
    ]
    none = "has no verdict: it is new, was renamed or removed, failed, or there was no time for it"
    assert report.problems == [
        f"required benchmark parse {none}; there are one.py::parse, two.py::parse: '*parse*' fits them",
        f"required benchmark gone {none}",
    ]


def test_one_that_is_measured_right_now_has_no_answer_yet(tmp_path: Path) -> None:
    header = weighing().model_copy(update={"launches": Launches(), "stop": ["interrupted"]})
    with Journal(tmp_path / "a.journal", header) as journal:
        journal.append(row(0, 0, 10**7))
        report = gate([("a", journal.path)], limits_from([]))
        assert report.problems == ["a is still being measured: wait for its end"]
    (problem,) = gate([("a", journal.path)], limits_from([])).problems
    assert problem == "sort: nothing was measured for active"


def test_how_to_carry_on_what_was_interrupted_can_be_pasted(monkeypatch: pytest.MonkeyPatch) -> None:
    record = weighing(stop="interrupted", settings=Settings(metrics=["active", "max_rss"]))
    opened = [verdict(verdict="undecided", metric=metric) for metric in record.settings.metrics]
    monkeypatch.setattr(reading, "recall", lambda *_: Outcome(with_derived(record, Derived(verdicts=opened))))
    (problem,) = gate([("r 3.json", HERE)], limits_from(["1%", "max_rss=1%"])).problems
    assert (
        problem == "r 3.json was interrupted with 1 benchmark open: steelyard compare --resume 'r 3.json' carries it on"
    )


class TestOfOneThatNeverFails:
    """A benchmark whose limit is `never`."""

    @pytest.fixture
    def failed(self) -> Outcome:
        record = weighing(benchmarks=("b1", "b2", "b3"), settings=Settings(metrics=["active", "max_rss"]))
        record = record.model_copy(update={"stop": ["decided", "failed", "failed"]})
        derived = Derived(verdicts=[verdict(benchmark="b1", verdict="same")])
        return Outcome(record.model_copy(update={"derived": derived}), MeasurementError("2 of 3 benchmarks failed"))

    @pytest.mark.parametrize(
        ("limits", "problems", "passed_over"),
        [
            ([], ["a: 2 of 3 benchmarks failed"], 0),
            (["b1=never"], ["a: 2 of 3 benchmarks failed"], 0),
            (["b2=never"], ["a: b3 failed"], 1),
            (["b2=never", "b3=never"], [], 2),
            (["b?=never", "b3:max_rss=1%"], ["a: b3 failed"], 1),
            (["never"], [], 2),
        ],
    )
    def test_its_failure_is_a_finding(
        self, failed: Outcome, limits: list[str], problems: list[str], passed_over: int
    ) -> None:
        report = gate_outcome("a", failed, limits_from(limits))
        assert [one for one in report.problems if "max_rss" not in one] == problems
        assert [finding.code for finding in report.findings] == ["passed-over"] * passed_over

    @pytest.mark.parametrize(("limit", "problems"), [("b2=never", []), ("b1=never", ["b.json: b2 failed to start"])])
    def test_it_may_be_all_of_a_record_beside_others(
        self, given: Given, monkeypatch: pytest.MonkeyPatch, limit: str, problems: list[str]
    ) -> None:
        good = weighing(benchmarks=("b1",)).model_copy(
            update={"derived": Derived(verdicts=[verdict(benchmark="b1", verdict="same")])}
        )
        bad = weighing(benchmarks=("b2",)).model_copy(
            update={"stop": ["failed"], "launches": Launches(), "settings": Settings(seed=2)}
        )
        records = given({"a.json": good, "b.json": bad})
        outcomes = {"a.json": Outcome(good, None), "b.json": Outcome(bad, MeasurementError("b2 failed to start"))}
        monkeypatch.setattr(reading, "recall", lambda path, *_: outcomes[path.name])
        report = gate(records, limits_from([limit, "5%"]))
        assert report.problems == problems
        assert [finding.code for finding in report.findings] == ([] if problems else ["passed-over"])
        assert len(gate_words.methods(report)) == 2

    def test_it_is_required_all_the_same(self, failed: Outcome) -> None:
        report = gate_outcome("a", failed, limits_from(["b2=never", "b3=never"], require=["b3"]))
        assert report.problems == [
            "required benchmark b3 has no verdict: it is new, was renamed or removed, failed, or there was no time "
            "for it"
        ]

    def test_that_nothing_was_measured_of_it_is_a_finding(self, held: Held) -> None:
        nothing = verdict(benchmark="b", verdict="undecided", change=None, interval=None, pairs=0)
        report = held([nothing], "b=never")
        assert (report.problems, [finding.code for finding in report.findings]) == ([], ["passed-over"])


def test_a_gate_without_records_is_not_passed() -> None:
    assert gate([], limits_from([])).problems == ["no benchmark was measured"]
    assert gate([], limits_from([])).verdict == "failed"


def test_a_record_that_is_given_twice_counts_once(held: Held) -> None:
    held([verdict()])
    report = gate([("a.json", HERE), ("a.json", HERE)], limits_from([]))
    assert (len(report.slower), [finding.code for finding in report.findings]) == (1, ["counted-once"])


def test_what_was_counted_alone_has_no_launches_and_is_held_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    record = derive(counted_weighing(counts([1000, 1000], [1002, 1002])))
    monkeypatch.setattr(reading, "recall", lambda *_: Outcome(record))
    assert gate([("a.json", HERE)], limits_from([])).verdict == "passed"
    assert gate([("a.json", HERE)], limits_from(["0.1%"])).verdict == "slower"


def test_what_a_stranger_may_have_written_is_no_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(HERE)
    (problem,) = gate([("a", tmp_path / "link")], limits_from([]), largest_bytes=10**6).problems
    assert problem.startswith("a is a link")
    for path, largest in ((tmp_path / "link", None), (HERE, 10**6)):
        (problem,) = gate([("a", path)], limits_from([]), largest_bytes=largest).problems
        assert "is a link" not in problem


def test_what_is_above_its_limit_is_not_written_as_if_it_were_at_it(held: Held) -> None:
    report = held([of(0.050049, 0.049, 0.051, "slower")], "5%")
    assert report.verdict == "slower"
    assert gate_words.headline(report).endswith("sort, +5.005 % [+4.90 %, +5.10 %]")
    (counted,) = held([of(0.05, 0.05, 0.05, "slower", is_change=True)], "5%").judged
    assert (counted.standing, gate_words.estimate(counted)) == ("within", "+5.00 % [+5.00 %, +5.00 %]")
