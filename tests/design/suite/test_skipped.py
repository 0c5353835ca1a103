"""Benchmarks that skip themselves once they run: they are left out, and it is said why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steelyard.design.gate.gate import gate
from steelyard.design.judging.judgement import verdicts
from steelyard.design.merging import merge_parts
from steelyard.design.outcome import judge_outcome
from steelyard.design.suite.selection import RequestedShard, Selection
from steelyard.model.errors import MeasurementError
from steelyard.model.files import save
from steelyard.model.gate import GateReport
from steelyard.model.launches import Launches
from steelyard.model.limits import Limits
from steelyard.report import gate_markdown, gate_words
from tests.design.scripted_harness import (
    Body,
    fails,
    header,
    machine,
    plan,
    planner,
    run_header,
    share_starts,
    steady,
    weigh,
)
from tests.design.suite.made import both, messages, names
from tests.model.samples import row


def skips(reason: str) -> Body:
    """Return a body that tells that it is skipped, or why it failed if there is no reason to skip it."""
    told = {"error": f"the test was skipped: {reason}", "skipped": True} if reason else {"error": "no room"}
    results = json.dumps(told).encode() + b"\n"
    return fails({"exit_code": 1, "results": results, "results_bytes": len(results)})


def test_they_are_no_failure_and_it_is_said_why() -> None:
    suites = both(a=skips("no network"), b=steady(), c=skips("no network"), d=skips("not on Linux"))
    record = weigh(suites, seed=3)
    assert names(record) == ["b"]
    assert record.stop == ["decided"]
    assert messages(record, "failed") == []
    assert messages(record, "skipped") == [
        "not measured: a, c: the test was skipped: no network",
        "not measured: d: the test was skipped: not on Linux",
    ]


def test_so_are_they_where_starts_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    share_starts(monkeypatch)
    record = weigh(both(a=skips("no network"), b=steady(), c=steady()), seed=3)
    assert (names(record), messages(record, "skipped")) == (
        ["b", "c"],
        ["not measured: a: the test was skipped: no network"],
    )


def test_a_run_leaves_them_out() -> None:
    suites = machine(baseline={"a": skips("no network"), "b": steady()})
    record = planner(suites, run_header()).plan(Selection())
    assert [one.name for one in record.benchmarks] == ["b"]
    assert messages(record, "skipped") == ["not measured: a: the test was skipped: no network"]


def test_what_the_candidate_alone_skips_has_failed() -> None:
    suites = machine(baseline={"a": steady(), "b": steady()}, candidate={"a": skips("no network"), "b": steady()})
    record = plan(suites, header())
    assert (names(record), record.stop) == (["a", "b"], ["failed", "interrupted"])
    assert messages(record, "failed") == [
        "candidate (a) failed with exit status 1 and says: the test was skipped: no network"
    ]


def test_what_fails_beside_them_has_failed() -> None:
    record = plan(both(a=skips(""), b=skips("no network"), c=steady()), header())
    assert (names(record), record.stop) == (["a", "c"], ["failed", "interrupted"])


def test_where_all_skip_themselves_nothing_was_measured() -> None:
    with pytest.raises(MeasurementError, match=r"^not measured: a, b: the test was skipped: no network$"):
        plan(both(a=skips("no network"), b=skips("no network")), header())


def test_a_part_of_a_suite_whose_benchmarks_all_skip_themselves_is_merged_with_the_others() -> None:
    suites = both(a=skips("no network"), b=steady())
    parts = [plan(suites, header(), Selection(shard=RequestedShard(number, 2))) for number in (1, 2)]
    skipped, planned = (part.model_copy(update={"stop": ["decided"] * len(part.stop)}) for part in parts)
    assert verdicts(skipped) == []
    merged = merge_parts([(Path("1.json"), skipped), (Path("2.json"), planned)])
    assert (names(merged), merged.settings.starts) == (["b"], planned.settings.starts)
    assert messages(merged, "skipped") == ["not measured: a: the test was skipped: no network"]
    held = GateReport(Limits(), ["1.json"], [skipped], [])
    assert (skipped.is_empty(), held.is_all_skipped) == (False, True)


def test_parts_whose_benchmarks_all_skip_themselves_are_no_answer_together(tmp_path: Path) -> None:
    suites, paths = both(a=skips("no network"), b=skips("no network")), [tmp_path / "1.json", tmp_path / "2.json"]
    parts = [plan(suites, header(), Selection(shard=RequestedShard(number, 2))) for number in (1, 2)]
    for part, path in zip(parts, paths, strict=True):
        save(part, path)
    merged = judge_outcome(merge_parts(list(zip(paths, parts, strict=True))), None)
    assert isinstance(merged.error, MeasurementError)
    assert str(merged.error) == "not measured: a: the test was skipped: no network"
    held = gate([(path.name, path) for path in paths], Limits())
    assert held.problems == [f"not measured: {name}: the test was skipped: no network" for name in ("a", "b")]
    alone = gate([("1.json", paths[0])], Limits(), of_parts=True)
    said = "not measured: a: the test was skipped: no network"
    assert (alone.verdict, gate_words.headline(alone)) == ("passed", said)
    assert gate_markdown.page(alone).startswith("### Steelyard: nothing to compare in this part\n")


def test_one_that_was_not_reached_before_is_left_out_when_the_weighing_goes_on() -> None:
    planned = plan(both(a=steady(), b=steady(), c=steady()), header())
    untried = planned.benchmarks[1].model_copy(update={"loops": None, "samples": None})
    rows = [row(benchmark=benchmark, side=side) for benchmark in (0, 2) for side in (0, 1)]
    benchmarks = [planned.benchmarks[0], untried, planned.benchmarks[2]]
    opened = planned.model_copy(update={"benchmarks": benchmarks, "launches": Launches.of_rows(rows)})
    more = planner(both(a=steady(), b=skips("no network"), c=steady()), opened).plan_resumed()
    assert ([one.name for one in more.benchmarks], more.stop) == (["a", "c"], ["interrupted"] * 2)
    assert [*more.launches.benchmark] == [0, 0, 1, 1]
    assert messages(more, "failed") == []
    assert messages(more, "skipped") == ["not measured: b: the test was skipped: no network"]
