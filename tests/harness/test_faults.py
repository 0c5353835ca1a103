"""How exceptions are reported."""

from __future__ import annotations

import json

import pytest

from steelyard.harness.faults import USAGE, BodyError, complain, describe_error, fault

FILES = {__file__: "bench_x.py"}


def test_the_innermost_line_in_the_user_s_files() -> None:
    def parse() -> None:
        json.loads("x")

    with pytest.raises(ValueError, match="Expecting") as raised:
        parse()
    what = "JSONDecodeError: Expecting value: line 1 column 1 (char 0)"
    assert describe_error(raised.value, FILES) == f"bench_x.py:{parse.__code__.co_firstlineno + 1}: {what}"
    assert describe_error(raised.value, {}) == what


def test_no_message() -> None:
    assert describe_error(KeyError(), {}) == "KeyError"


def test_a_traceback_begins_with_the_user_s_code(capsys: pytest.CaptureFixture[str]) -> None:
    def calls_the_user(code: str, file: str) -> None:
        exec(compile(code, file, "exec"))

    for file, frames in (("user.py", ["user.py"]), ("other.py", [__file__, __file__, "other.py"])):
        with pytest.raises(ZeroDivisionError) as raised:
            calls_the_user("1 / 0", file)
        fault(raised.value, {"user.py": "bench_x.py"})
        said = capsys.readouterr().err
        assert [line.split('"')[1] for line in said.splitlines() if line.startswith("  File ")] == frames


def test_a_message_that_fails_itself() -> None:
    class BadError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert describe_error(BadError(), {}) == "BadError"


def test_syntax_has_the_line_of_the_text() -> None:
    with pytest.raises(SyntaxError) as raised:
        compile("\nx = (", __file__, "exec")
    assert describe_error(raised.value, FILES) == "bench_x.py:2: SyntaxError: '(' was never closed"


def test_a_body_that_is_none_is_said_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert fault(BodyError("yields 3"), FILES) == "yields 3"
    assert capsys.readouterr().err == ""


def test_what_a_body_raises_is_said_with_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyError) as raised:
        raise KeyError("k")
    assert fault(raised.value, {}) == "KeyError: 'k'"
    assert "Traceback" in capsys.readouterr().err


def test_a_complaint_is_said_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert complain("no such file") == USAGE
    assert capsys.readouterr() == ("", "steelyard.harness: no such file\n")
