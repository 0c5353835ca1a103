from __future__ import annotations

import re

import pytest
from rich.cells import cell_len

from steelyard.report import attribution
from steelyard.report.attribution import Source
from steelyard.report.sheet import Sheet
from steelyard.stats.attribution import Rest, Row
from tests.report.records import on_screen

HOSTILE = "f\x1b[2J\u202e|`<b>*x*"
ROWS = [
    Row("parse", "/src/parse.c", 120, "./new", 500_000, 620_000, "changed"),
    Row("emit_text", "/src/emit.c", 7, "./new", -1_000, None, "renamed", "emit"),
    Row("fresh", "", 0, "./new", 900, 950, "new"),
    Row("gone", "???", 0, "./old", -800, -800, "vanished"),
    Row("std::map<" + "x" * 90 + ">::find", "/usr/include/" + "d" * 60 + ".h", 33, "", 70, None, "changed"),
]
REST = Rest(1_234, -70)
TOTAL = sum(row.change for row in ROWS) + REST.change
BASELINE = 10_000_000


def printed(rows: list[Row], rest: Rest, width: int = 80, total: int = TOTAL, baseline: int = BASELINE) -> str:
    source = Source(rows, rest, total, baseline, "instructions")
    return on_screen(lambda console: attribution.show(Sheet(console), source), width)


def in_markdown(rows: list[Row], rest: Rest, total: int, baseline: int = BASELINE) -> list[str]:
    return attribution.markdown_rows(Source(rows, rest, total, baseline, "instructions"))


def test_the_table_at_80_columns() -> None:
    assert printed(ROWS, REST).splitlines() == [
        "own change     of all  with callees  function",
        "  +500,000    +5.00 %      +620,000  parse  parse.c:120",
        "    -1,000    -0.01 %                emit_text  was emit  emit.c:7",
        "      +900    +0.01 %          +950  fresh  new",
        "      -800    -0.01 %          -800  gone  vanished",
        "       +70  +0.0007 %                std::map<xxxxxxxxxxxx…xxxxxxxxxxxxxx>::find",
        "                                     ddddddddddddddddddddd…dddddddddddddddd.h:33",
        "       -70  -0.0007 %                1,234 other functions",
        "  +499,100    +4.99 %                in all",
    ]


def numbers(text: str) -> list[int]:
    return [int(found.replace(",", "")) for found in re.findall(r"^ *([-+][\d,]+)(?= |$)", text, re.MULTILINE)]


@pytest.mark.parametrize("width", [50, 80, 120])
def test_what_is_printed_adds_up_and_fits(width: int) -> None:
    text = printed(ROWS, REST, width)
    *parts, total = numbers(text)
    assert sum(parts) == total == TOTAL
    assert all(cell_len(line) <= width and line == line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize("width", [20, 30, 49, 50, 80])
def test_no_figure_is_cut_where_it_is_narrow(width: int) -> None:
    text = printed(ROWS, REST, width)
    assert all(cell_len(line) <= width for line in text.splitlines())
    for row in ROWS:
        assert f"{row.change:+,}" in text
    assert f"{TOTAL:+,}" in text


@pytest.mark.parametrize("width", [50, 80])
def test_large_figures_leave_room_for_a_name(width: int) -> None:
    large = Row("parse", "p.c", 1, "", 10**15, 10**15, "changed")
    text = printed([large], Rest(12_345, 10**15), width, 2 * 10**15, 10**15)
    assert "parse" in text
    assert "12,345 other" in text
    assert text.count(f"{10**15:+,}") >= 2


@pytest.mark.parametrize("width", [20, 50, 80])
def test_a_name_cannot_steer_the_terminal(width: int) -> None:
    row = Row(HOSTILE, f"{HOSTILE}.c", 1, "", 2, None, "renamed", HOSTILE[::-1])
    text = printed([row], Rest(0, 0), width, 2)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "f\\x1b" in text


def test_inclusive_changes_have_no_column_where_none_is_known() -> None:
    text = printed([ROWS[1]], Rest(0, 0), total=-1_000)
    assert "callees" not in text
    assert "other" not in text


def test_a_share_of_nothing_is_not_known() -> None:
    assert "n/a" in printed(ROWS[:1], Rest(0, 0), total=500_000, baseline=0)


def test_the_markdown_table() -> None:
    lines = in_markdown(ROWS[:2], Rest(1, 7), 499_007)
    assert lines == [
        "| own change | of all | with callees | function |",
        "| --: | --: | --: | :-- |",
        "| +500,000 | +5.00 % | +620,000 | <code>parse</code>, <code>parse.c&#58;120</code> |",
        "| -1,000 | -0.01 % |  | <code>emit&#95;text</code>, was <code>emit</code>, <code>emit.c&#58;7</code> |",
        "| +7 | +0.00007 % |  | 1 other function |",
        "| +499,007 | +4.99 % |  | in all |",
    ]
    without = in_markdown(ROWS[1:2], Rest(0, 0), -1_000)
    assert without[0] == "| own change | of all | function |"
    assert len(without) == 4


def test_a_name_cannot_break_the_markdown_table() -> None:
    row = Row(HOSTILE, f"{HOSTILE}.c", 1, "", 2, None, "renamed", HOSTILE)
    line = in_markdown([row], Rest(0, 0), 2, 10)[2]
    assert line.count("|") == 4
    assert not set("`*\x1b\u202e") & set(line)
    assert "<b>" not in line
