"""What is said of exceptions."""

from __future__ import annotations

import json

import pytest

from steelyard.harness.faults import told

FILES = {__file__: "bench_x.py"}


def test_the_innermost_line_in_the_user_s_files() -> None:
    def parse() -> None:
        json.loads("x")

    with pytest.raises(ValueError, match="Expecting") as raised:
        parse()
    what = "JSONDecodeError: Expecting value: line 1 column 1 (char 0)"
    assert told(raised.value, FILES) == f"bench_x.py:{parse.__code__.co_firstlineno + 1}: {what}"
    assert told(raised.value, {}) == what


def test_no_message() -> None:
    assert told(KeyError(), {}) == "KeyError"


def test_a_message_that_fails_itself() -> None:
    class BadError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert told(BadError(), {}) == "BadError"


def test_syntax_has_the_line_of_the_text() -> None:
    with pytest.raises(SyntaxError) as raised:
        compile("\nx = (", __file__, "exec")
    assert told(raised.value, FILES) == "bench_x.py:2: SyntaxError: '(' was never closed"
