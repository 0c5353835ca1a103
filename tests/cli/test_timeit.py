"""`steelyard timeit`: Python statements as benchmarks of the Python SDK."""

from __future__ import annotations

import sys

import pytest

from tests.in_process import InProcess
from tests.tool import Tool, status_of

SETUP = "data = list(range(2000))"


def test_two_statements_are_weighed(tool: Tool) -> None:
    done = tool(
        *("timeit", "sum(data)", "sum(data) + sum(data)", "-s", SETUP),
        *("--pairs", "6", "--alpha", "0.2", "--json", "record.json"),
    )
    assert done.status == 1, done.err
    record = tool.json()
    assert (record["verdict"], record["settings"]["harness"]) == ("slower", "protocol")
    assert [subject["name"] for subject in record["subjects"]] == ["sum(data)", "sum(data) + sum(data)"]
    assert "of one iteration" in done.text
    assert 0.6 < record["change"] < 1.6


def test_one_statement_is_measured_alone(here: InProcess) -> None:
    done = here("timeit", "sum(data)", "-s", SETUP, "--max-time", "0.3", "--csv", "samples.csv")
    assert done.status == 0, done.err
    assert "median" in done.text
    assert "sample_ns" in here.lines("samples.csv")[0]


def test_each_statement_may_have_its_own_set_up(here: InProcess) -> None:
    done = here(
        *("timeit", "work()", "work()", "--pairs", "4", "--alpha", "0.2"),
        *("-s", "from builtins import int as work", "-s", "def work(): sum(range(999))"),
    )
    assert done.status == 1, done.err


def test_of_several_statements_each_is_its_own_name(here: InProcess) -> None:
    statements = ["sum(data)", "max(data), min(data)", "data.sort()"]
    done = here("timeit", *statements, "-s", SETUP, "--pairs", "4", "--alpha", "0.2", "--json", "r.json")
    assert done.status in (0, 1), done.err
    assert [benchmark["name"] for benchmark in here.json("r.json")["benchmarks"]] == statements[1:]


def test_one_statement_under_several_pythons(here: InProcess) -> None:
    done = here(
        *("timeit", "pass", "--python", sys.executable, "--python", sys.executable),
        *("--pairs", "4", "--alpha", "0.2", "--json", "r.json"),
    )
    record = here.json("r.json")
    assert (done.status, done.err) == (status_of(record), b"")
    assert [len(subject["argv"]) for subject in record["subjects"]] == [len(record["subjects"][0]["argv"])] * 2
    assert record["benchmarks"][0]["candidate"] == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["a", "b", "--python", "python3", "--python", "python3"], "several statements and several --python"),
        (["a", "-s", "x", "-s", "y"], "--setup was given 2 times"),
        (["pass", "--python", "gone"], "'gone' was not found on PATH: check the spelling, or give its path"),
        ([""], "the statement '' is empty: give Python to run, in quotes"),
        (["pass", " \n"], "the statement '' is empty"),
        (["pass", "--max-time", "0"], "--max-time 0 is out of range"),
        (["pass", "--strict"], "--strict is of a verdict, and one statement alone has none: give two, or leave it out"),
        (["pass", "--margin", "1%"], "--margin is of a verdict, and one statement alone has none"),
    ],
)
def test_words_that_do_not_fit(asked: InProcess, words: list[str], sentence: str) -> None:
    said = asked.refuses("timeit", *words)
    assert sentence in said
    assert "--shell" not in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["1 +"], "SyntaxError"),
        (["pass", "-s", "def"], "SyntaxError"),
        (["undefined"], "NameError: name 'undefined' is not defined (--setup CODE runs before it)"),
        (["pass", "-s", "1/0"], "ZeroDivisionError"),
    ],
)
def test_statements_that_fail(here: InProcess, words: list[str], sentence: str) -> None:
    assert sentence in here.refuses("timeit", *words, status=3)


def test_a_python_without_the_sdk(here: InProcess) -> None:
    (here.folder / "empty").mkdir()
    bare = f"{sys.executable} -S -E"
    (here.folder / "bare-python").write_text(f'#!/bin/sh\nexec {bare} "$@"\n')
    (here.folder / "bare-python").chmod(0o755)
    sentence = here.refuses("timeit", "pass", "--python", str(here.folder / "bare-python"), status=3)
    assert sentence.endswith(
        "has no module steelyard: install steelyard for that Python, which has to be 3.11 or later"
    )
    assert "--harness" not in sentence


def test_what_is_no_python(here: InProcess) -> None:
    sentence = here.refuses("timeit", "pass", "--python", "false", status=3)
    assert "failed with exit status 1: is it a Python that has steelyard installed?" in sentence
    assert "--harness" not in sentence
