"""A statement as a benchmark."""

from __future__ import annotations

import pytest

from steelyard.harness.find import FindError
from steelyard.harness.suite import Files, Statement
from steelyard.harness.worker import samples_of
from tests.harness.conftest import Clock, Write


def test_a_statement_is_listed_and_found() -> None:
    suite = Statement("x + 1", "x = 1", "an add")
    assert [entry.name for entry in suite.entries()] == ["an add"]
    assert suite.called("an add").source == "<timeit>"
    with pytest.raises(FindError, match="no benchmark is called 'timeit': the statement is 'an add'"):
        suite.called("timeit")


def test_it_runs_with_its_set_up(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.go", clock.go, raising=False)
    suite = Statement("go(y)", "go(1_000)\ny = 5", "timeit")
    with suite.prepared(suite.called("timeit"), 0) as work:
        assert [sample.ns for sample in samples_of(work, 3, 2)] == [15, 15]


@pytest.mark.parametrize(
    ("statement", "setup", "said"),
    [
        ("x = (", "", "<timeit>:1: SyntaxError: '(' was never closed"),
        ("x = (", "a = 1\nb = 2", "<timeit>:3: SyntaxError"),
        ("pass", "x = (", "<timeit>:1: SyntaxError"),
        ("return", "", "outside function"),
        ("await x", "", "outside function"),
        ("break", "", "outside loop"),
        ("", "", "empty"),
        ("\n ", "", "empty"),
        ("a\0b", "", "null bytes"),
    ],
)
def test_no_python(statement: str, setup: str, said: str) -> None:
    with pytest.raises(FindError) as raised:
        Statement(statement, setup, "timeit").entries()
    assert said in str(raised.value)


def test_files(write: Write) -> None:
    path = write("")
    assert Files([str(path)]).files == {str(path): "bench_x.py"}
