"""`steelyard timeit`: Python statements, as benchmarks of the Python SDK."""

from __future__ import annotations

import sys

import pytest

from tests.tool import Tool

SETUP = "data = list(range(2000))"


def test_two_statements_are_weighed(tool: Tool) -> None:
    done = tool(
        "timeit", "sum(data)", "sum(data) + sum(data)", "-s", SETUP, "--max-time", "20", "--json", "record.json"
    )
    assert done.status == 1, done.err
    record = tool.json()
    assert (record["verdict"], record["settings"]["harness"]) == ("slower", "protocol")
    assert [subject["name"] for subject in record["subjects"]] == ["sum(data)", "sum(data) + sum(data)"]
    assert "of one iteration" in done.text
    assert 0.6 < record["change"] < 1.6


def test_one_statement_is_measured_alone(tool: Tool) -> None:
    done = tool("timeit", "sum(data)", "-s", SETUP, "--max-time", "1", "--csv", "samples.csv")
    assert done.status == 0, done.err
    assert "median" in done.text
    assert "sample_ns" in tool.lines("samples.csv")[0]


def test_each_statement_may_have_its_own_set_up(tool: Tool) -> None:
    done = tool(
        "timeit", "work()", "work()", "-s", "from builtins import int as work", "-s", "def work(): sum(range(999))"
    )
    assert done.status == 1, done.err


def test_one_statement_under_several_pythons(tool: Tool) -> None:
    done = tool(
        "timeit", "pass", "--python", sys.executable, "--python", sys.executable, "--pairs", "8", "--json", "r.json"
    )
    assert done.status in (0, 1)
    assert len(tool.json("r.json")["subjects"]) == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["a", "b", "--python", "python3", "--python", "python3"], "several statements and several --python"),
        (["a", "-s", "x", "-s", "y"], "--setup was given 2 times"),
        (["pass", "--python", "no-such-python"], "'no-such-python' was not found on PATH"),
        (["pass", "--max-time", "0"], "--max-time 0 is out of range"),
    ],
)
def test_words_that_do_not_fit(tool: Tool, words: list[str], sentence: str) -> None:
    assert sentence in tool.refuses("timeit", *words)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["1 +"], "SyntaxError"),
        (["pass", "-s", "def"], "SyntaxError"),
        (["undefined"], "NameError"),
        (["pass", "-s", "1/0"], "ZeroDivisionError"),
    ],
)
def test_statements_that_fail(tool: Tool, words: list[str], sentence: str) -> None:
    assert sentence in tool.refuses("timeit", *words, status=3)


def test_a_python_without_the_sdk(tool: Tool) -> None:
    (tool.folder / "empty").mkdir()
    bare = f"{sys.executable} -S -E"
    (tool.folder / "bare-python").write_text(f'#!/bin/sh\nexec {bare} "$@"\n')
    (tool.folder / "bare-python").chmod(0o755)
    sentence = tool.refuses("timeit", "pass", "--python", str(tool.folder / "bare-python"), status=3)
    assert "No module named" in sentence
    assert "steelyard" in sentence
