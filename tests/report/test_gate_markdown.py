from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.model.counting import Counting, CountTool, Functions
from steelyard.model.derived import Derived
from steelyard.model.findings import Finding, VerdictName
from steelyard.model.gate import GateReport, Judged, Standing
from steelyard.model.limits import Accepted, Limits
from steelyard.report import gate_markdown, junit, openmetrics
from tests.report.records import verdict, weighing

RECORD = weighing(stop="pairs")
STANDINGS: dict[VerdictName, Standing] = {"slower": "above", "faster": "within", "same": "within", "undecided": "open"}


def report(*judged: Judged, problems: tuple[str, ...] = (), findings: tuple[Finding, ...] = ()) -> GateReport:
    record = RECORD.model_copy(update={"derived": Derived(), "findings": list(findings)})
    return GateReport(Limits(), ["a.json"], [record], list(judged), list(problems))


def judged(name: VerdictName, benchmark: str = "sort") -> Judged:
    one = verdict(verdict=name, benchmark=benchmark)
    return Judged("a.json", RECORD, one, None, STANDINGS[name], deciding=True)


def many(name: VerdictName, number: int, text: str = "<é>") -> list[Judged]:
    return [judged(name, f"{name} {place} {text * 30}") for place in range(number)]


def rows(page: str, name: str) -> int:
    return page.count(f"<code>{name} ")


def left_out(page: str) -> int:
    return sum(int(found.replace(",", "")) for found in re.findall(r"^_([\d,]+) more verdicts? left out", page, re.M))


@settings(max_examples=12)
@given(
    st.tuples(*[st.integers(0, 120)] * 4),
    st.sampled_from([gate_markdown.FEWEST_BYTES, 30_000, gate_markdown.COMMENT_BYTES]),
    st.text(st.characters(), max_size=3),
)
def test_a_page_fits_and_counts_what_is_left_out(numbers: tuple[int, ...], most: int, text: str) -> None:
    all_of = [one for name, number in zip(STANDINGS, numbers, strict=True) for one in many(name, number, f"x{text}")]
    page = gate_markdown.page(report(*all_of), text * 200, most)
    assert len(page.encode()) <= most
    assert sum(rows(page, name) for name in STANDINGS) + left_out(page) == len(all_of)
    assert page.count("<details>") == page.count("</details>")
    assert page.isprintable() or set(page) - {"\n"} == {one for one in page if one.isprintable()}


def test_what_weighs_most_is_kept() -> None:
    page = gate_markdown.page(report(*many("same", 200), *many("undecided", 20), *many("slower", 20)), "x", 65_536)
    assert (rows(page, "slower"), rows(page, "undecided")) == (20, 20)
    assert 0 < rows(page, "same") < 200
    assert f"_{200 - rows(page, 'same')} more verdicts left out here" in page


@settings(max_examples=8)
@given(st.integers(0, 60), st.text(st.characters(), max_size=200))
def test_a_page_fits_whatever_is_accepted(number: int, reason: str) -> None:
    entry = Accepted(above=0.5, benchmark="*", reason=reason)
    slower = [replace(one, standing="accepted", accepted=entry) for one in many("slower", number)]
    page = gate_markdown.page(report(*slower), "x", gate_markdown.FEWEST_BYTES)
    assert len(page.encode()) <= gate_markdown.FEWEST_BYTES
    assert rows(page, "slower") + left_out(page) == number
    assert {line.count("|") for line in page.splitlines() if line.startswith("|")} <= {9}


def test_what_failed_is_said_once() -> None:
    failed = Finding(code="failed", message="walk: exit status 3")
    page = gate_markdown.page(report(problems=("a.json: walk: exit status 3",), findings=(failed,)))
    assert page.count("walk&#58; exit status 3") == 1
    alone = gate_markdown.page(report(judged("same"), findings=(failed,)))
    assert "- walk&#58; exit status 3" in alone


def test_beside_another_weighing_a_finding_says_of_which_benchmark_it_is() -> None:
    seen = Finding(code="short-launch", message="too short to time")
    record = RECORD.model_copy(update={"derived": Derived(verdicts=[verdict(findings=[seen])])})
    found = GateReport(Limits(), ["a.json"], [record], [judged("same")], [])
    assert "- note: too short to time" in gate_markdown.page(found)
    both = GateReport(Limits(), ["a.json", "b.json"], [record, RECORD], [judged("same")], [])
    assert "- note: <code>sort</code>: too short to time" in gate_markdown.page(both)


def test_what_would_decide_several_is_said_once() -> None:
    alone, both = (gate_markdown.page(report(*many("undecided", number))) for number in (1, 3))
    assert alone.count("would decide") == both.count("would decide") == 1
    assert (alone.count("9 times out of 10"), both.count("9 times out of 10")) == (2, 1)
    way = next(line for line in both.splitlines() if "would decide" in line)
    assert not way.startswith("- ")


def test_a_row_after_a_shortened_table_is_none_of_its_cells() -> None:
    lines = gate_markdown.page(report(*many("slower", 200)), "x", gate_markdown.FEWEST_BYTES).splitlines()
    place = next(place for place, line in enumerate(lines) if line.startswith("_"))
    assert lines[place - 1] == ""
    assert lines[place - 2].startswith("| ")


def test_more_than_any_page_has_room_for_are_not_even_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate_markdown, "_MOST_ROWS", 3)
    page = gate_markdown.page(report(*many("slower", 7), *many("undecided", 5)))
    assert (rows(page, "slower"), rows(page, "undecided")) == (3, 3)
    assert left_out(page) == 6


def test_a_long_problem_or_finding_is_cut_and_hides_no_other() -> None:
    findings = (Finding(code="a", message="long " * 50_000), Finding(code="b", message="short", remedy="do"))
    page = gate_markdown.page(
        report(judged("slower"), problems=("x" * 100_000, "second"), findings=findings), "x", 20_000
    )
    assert len(page.encode()) < 20_000
    assert "- second" in page
    assert "note&#58; short" in page or "note: short (do)" in page


def test_benchmarks_without_a_verdict_are_in_sight() -> None:
    findings = [
        Finding(code="added", message="only in ./new, so not compared: parse"),
        Finding(code="failed", message="walk: exit status 3"),
        Finding(code="short-launch", message="a launch takes 1 ms"),
    ]
    page = gate_markdown.page(report(judged("slower"), findings=tuple(findings)))
    before, folded = page.split("<details>", 1)
    assert "- only in ./new, so not compared&#58; parse\n- walk&#58; exit status 3\n" in before
    assert ("a launch takes" in folded, "only in" in folded) == (True, False)


def test_no_line_is_a_quick_action_of_gitlab_s() -> None:
    page = gate_markdown.page(report(problems=("/approve it: nothing was measured for active",)))
    assert "\n&#47;approve it" in page


def counted(index: int, metric: str = "instructions", name: str | None = None) -> Judged:
    """Return a change of the counts of one of seven benchmarks, each of two functions."""
    tool = CountTool(tool="cachegrind", version="3", program="/usr/bin/valgrind", flags=[])
    sides = [(number, side) for number in range(7) for side in range(2)]
    functions = [
        Functions(
            benchmark=number,
            side=side,
            name=["ma|in", "f"],
            file=["src/a.c", "???"],
            object=["", ""],
            line=[12, 0],
            events={"Ir": [60 + side * 10 * number, 40]},
        )
        for number, side in sides
    ]
    record = weighing(benchmarks=tuple("abcdefg"))
    record = record.model_copy(update={"counting": Counting(tool=tool, counts=[], functions=functions)})
    name = name or "abcdefg"[index]
    one = verdict(verdict="slower", benchmark=name, index=index, metric=metric, change=index / 10)
    return Judged("a.json", record, one, None, "above", deciding=True)


def test_a_change_of_counts_is_followed_to_its_functions() -> None:
    one = counted(2)
    other_metric = replace(one, verdict=one.verdict.model_copy(update={"metric": "cost"}))
    page = gate_markdown.page(report(one, other_metric))
    assert page.count("<summary>Where the change of c comes from, in instructions</summary>") == 1
    assert "| +20 | +20.0 % | <code>ma&#124;in</code>, <code>a.c&#58;12</code> |" in page
    assert "| +20 | +20.0 % | in all |" in page
    assert "Where the change" not in gate_markdown.page(report(counted(2, metric="max_rss")))


def test_the_worst_changes_of_counts_are_followed_to_functions() -> None:
    page = gate_markdown.page(report(*(counted(index) for index in range(1, 7))))
    assert re.findall(r"Where the change of (\w)", page) == [*"gfedc"]


def test_functions_give_way_where_there_is_no_room() -> None:
    several = [counted(index, name="<" * 300) for index in range(1, 7)]
    everything = [*many("slower", 300), *many("same", 300), *many("undecided", 300), *several]
    problems = tuple(f"{place} {'<' * 700}" for place in range(30))
    page = gate_markdown.page(report(*everything, problems=problems), "<" * 300, gate_markdown.FEWEST_BYTES)
    assert len(page.encode()) <= gate_markdown.FEWEST_BYTES
    assert page.count("Where the change") == 5
    assert page.count("<details>") == page.count("</details>")


def test_the_worst_is_first() -> None:
    changes = [0.1, 0.3, 0.2]
    each = [
        Judged("a", RECORD, verdict(change=change, benchmark=str(change)), None, "above", deciding=True)
        for change in changes
    ]
    page = gate_markdown.page(report(*each))
    assert re.findall(r"<code>(0\.\d)</code>", page) == ["0.3", "0.2", "0.1"]


def test_long_names_that_differ_at_their_ends_are_metrics_apart() -> None:
    told = openmetrics.text(report(judged("slower", "x" * 250 + "/1"), judged("same", "x" * 250 + "/2")))
    assert len(re.findall(r"^steelyard_change_ratio\{", told, re.M)) == 2


@given(st.text(st.characters()))
def test_other_formats_are_whole_whatever_a_name_is(name: str) -> None:
    from xml.etree import ElementTree

    told = report(judged("slower", name), judged("undecided", name), problems=(name,))
    assert len(list(ElementTree.fromstring(junit.xml(told)).iter("testcase"))) == 3
    for line in openmetrics.text(told).rstrip("\n").split("\n"):
        assert line.startswith("# ") or re.fullmatch(r'[a-z_]+\{([a-z]+="(\\.|[^"\\])*",?)+\} [-+.e\d]+', line)
