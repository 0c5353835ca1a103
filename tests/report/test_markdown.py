from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.model.findings import SHARED, Finding
from steelyard.model.settings import Settings
from steelyard.report import markdown
from steelyard.report.markup import code, escape

from . import records
from .records import SAME_BUT_REAL, SLOWER, SUMMARY, TOO_FEW, UNDECIDED, verdict


def table(text: str) -> list[list[str]]:
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_the_verdict_comes_first_and_the_table_has_it_all() -> None:
    text = markdown.weighing(records.weighing(), [SLOWER])
    assert text.startswith("**slower** +1.02 % [+0.61 %, +1.40 %] at 99 % confidence, 33 pairs in 0.9 s\n")
    head, rule, row = table(text)
    cells = dict(zip(head, row, strict=True))
    assert len(rule) == len(head)
    assert cells["verdict"] == "**slower**"
    assert cells["change"] == "+1.02 %"
    assert cells["interval at 99 %"] == "[+0.61 %, +1.40 %]"
    assert cells["pairs"] == "33"
    assert cells["baseline"] == "12.81 ms ± 1.2 %"
    assert cells["candidate"] == "12.94 ms ± 1.3 %"
    assert cells["resolution"] == "0.71 %"


def test_what_the_sides_share_stands_at_the_verdict() -> None:
    findings = (Finding(code="other", message="below"), Finding(code=SHARED, message="one", remedy="two"))
    text = markdown.weighing(records.weighing(findings=findings), [SLOWER])
    assert text.splitlines()[2] == "- note: one (two)"
    assert text.count("note: ") == 2


def test_every_verdict_gets_a_row() -> None:
    record = records.weighing(benchmarks=("parse", "sort"))
    text = markdown.weighing(record, [verdict(benchmark="parse"), TOO_FEW.model_copy(update={"index": 1})])
    assert "**1 slower, 1 undecided**" in text
    assert [row[2] for row in table(text)[2:]] == ["**slower**", "**undecided**"]
    assert "n/a" in table(text)[3]


def test_each_benchmark_counts_by_the_metric_that_decides_it() -> None:
    record = records.weighing(benchmarks=("parse", "sort"))
    fell_back = verdict(benchmark="sort", index=1, metric="wall")
    first = markdown.weighing(record, [SAME_BUT_REAL, fell_back]).splitlines()[0]
    assert "**1 slower, 1 same**" in first


def test_what_the_table_leaves_open_is_explained() -> None:
    record = records.weighing(stop="time", settings=Settings(max_time_s=3))
    undecided = markdown.weighing(record, [UNDECIDED])
    assert "not slower by more than 1.20 %" in undecided
    assert "--max-time 9" in undecided
    assert "smaller than your margin of 0.5 %" in markdown.weighing(records.weighing(), [SAME_BUT_REAL])


def test_a_control_without_an_alarm_counts_as_no_verdict() -> None:
    record = records.weighing(benchmarks=("sort", "control"))
    control = verdict(verdict="undecided", benchmark="control", index=1, control=True)
    text = markdown.weighing(record, [SLOWER, control])
    assert text.startswith("**1 slower")
    assert "| <code>control</code> | active | no alarm |" in text
    assert "control</code> is undecided" not in text
    unmeasured = control.model_copy(update={"pairs": 0})
    assert "| <code>control</code> | active | not measured |" in markdown.weighing(record, [SLOWER, unmeasured])
    alarm = verdict(verdict="faster", benchmark="control", index=1, control=True)
    assert "| <code>control</code> | active | **faster** |" in markdown.weighing(record, [SLOWER, alarm])


def test_how_many_benchmarks_there_are_is_said_where_some_have_no_verdict() -> None:
    record = records.weighing(benchmarks=("sort", "parse", "emit"))
    assert markdown.weighing(record, [SLOWER]).startswith("**1 slower of 3 benchmarks**")


def test_an_interrupted_weighing_says_so_in_its_first_line() -> None:
    first = markdown.weighing(records.weighing(stop="interrupted"), [TOO_FEW]).splitlines()[0]
    assert "interrupted" in first
    assert "no result" in markdown.weighing(records.weighing(pairs=0), [])


@given(st.text(st.characters()))
def test_nothing_given_is_taken_for_markup(text: str) -> None:
    safe = escape(text)
    assert not re.search(r"[|`<>*_~\[\]\\@!:$\n\r]|#(?!\d+;)", safe)
    shown = html.unescape(safe)
    assert shown.replace("\u200b", "").isprintable()
    assert not re.search(r"@\w|[#!]\d", shown)


@pytest.mark.parametrize(
    "text", ["@user", "see a@b", "#1", "a/b#12", "GH-7", "gh-7", "!3", "~bug", '%"v1"', "&4", "$5", "www.a.b", "a@-b.c"]
)
def test_nobody_and_nothing_is_mentioned(text: str) -> None:
    shown = html.unescape(escape(text))
    assert shown != text
    assert shown.replace("\u200b", "") == text


@pytest.mark.parametrize("text", ["www.a.example", "x http://www.a.example/b", "a@b.example", "xmpp:a@b.example"])
def test_a_host_and_an_address_in_code_are_no_links(text: str) -> None:
    shown = html.unescape(code(text).removeprefix("<code>").removesuffix("</code>"))
    assert not re.search(r"www\.|\S@", shown.replace("<!-- -->", " "))
    assert shown.replace("<!-- -->", "") == text


@pytest.mark.parametrize("text", ["100 % of it", "#include", "a & b", "$HOME/x", "5 ~ 6", "not GH-", "x = !y", "a: 1"])
def test_what_mentions_nothing_is_copied_as_it_was(text: str) -> None:
    assert html.unescape(escape(text)) == text


@pytest.mark.parametrize("name", ["a|b", "`a`", "a\nb", "<script>", "**a**", "@all #1 https://x", "\x1b[1m"])
def test_no_name_breaks_the_table(name: str) -> None:
    record = records.weighing(names=(name, name), findings=(Finding(code="x", message=name, remedy=name),))
    text = markdown.weighing(record, [verdict(benchmark=name)])
    plain = markdown.weighing(records.weighing(), [SLOWER])
    assert [len(row) for row in table(text)] == [len(row) for row in table(plain)]
    assert f"({escape(name)})" in text
    assert name not in text


def test_a_run_is_not_called_quiet_where_nobody_tells() -> None:
    summary = SUMMARY.model_copy(update={"quality": "quiet", "disturbed": 0, "worst_delay": None})
    assert markdown.run(records.run(), [summary]).count("| 50 | not known |") == 1


def test_a_run_has_its_level_and_its_quality() -> None:
    text = markdown.run(records.run(), [SUMMARY])
    head, _, row = table(text)
    cells = dict(zip(head, row, strict=True))
    assert cells["median"] == "12.81 ms"
    assert cells["interval at 99 %"] == "[12.70 ms, 12.95 ms]"
    assert cells["range"] == "12.10 ms to 19.30 ms"
    assert cells["machine was"] == "noisy"
    assert "Abacus 9000, 2 cores" in text
