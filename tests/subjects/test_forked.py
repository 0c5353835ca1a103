"""What a launch says of the processes that it forked."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from steelyard.model.errors import LaunchError
from steelyard.model.launches import NUMBERS, Measured
from steelyard.subjects.forked import parts_of
from tests.design.scripted import PLAIN


def line(results: Any = "{}", **numbers: Any) -> str:
    return json.dumps({"numbers": {name: getattr(PLAIN, name) for name in NUMBERS} | numbers, "results": results})


def wrote(*lines: str) -> Measured:
    text = "\n".join(lines).encode()
    return replace(PLAIN, results=text, results_bytes=len(text), left_behind=("7 sleep",), stdout=b"all of it")


def test_each_has_its_numbers_and_its_results() -> None:
    one, other = parts_of(wrote(line("a", wall_ns=5, delay_ns=None), line("b", exit_code=None, signal=11)), 2)
    assert (one.wall_ns, one.delay_ns, one.results, one.stdout, one.has_failed()) == (5, None, b"a", None, False)
    assert (other.wall_ns, other.results, other.signal, other.has_failed()) == (PLAIN.wall_ns, b"b", 11, True)


def test_what_outlived_the_launch_is_told_of_once() -> None:
    assert [part.left_behind for part in parts_of(wrote(line(), line()), 2)] == [("7 sleep",), ()]


def test_what_need_not_be_known_need_not_be_told() -> None:
    numbers = {name: getattr(PLAIN, name) for name in NUMBERS if name not in ("lost_ns", "steal_ns", "signal")}
    (part,) = parts_of(wrote(json.dumps({"numbers": numbers, "results": ""})), 1)
    assert (part.steal_ns, part.signal) == (None, None)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([line()], "told of 1 benchmarks where 2 were asked for"),
        ([line(), line(), line()], "told of 3 benchmarks where 2"),
        ([line(), "x"], "no JSON"),
        ([line(), "[]"], "what are no results"),
        ([line(), "{}"], "what are no results"),
        ([line(), line(results=1)], "what are no results"),
        ([line(), line(wall_ns=0)], "what are no results"),
        ([line(), line(wall_ns=None)], "what are no results"),
        ([line(), line(user_ns=-1)], "what are no results"),
        ([line(), line(user_ns=2**63)], "what are no results"),
        ([line(), line(user_ns=1.5)], "what are no results"),
        ([line(), line(user_ns=True)], "what are no results"),
        ([line(), line(user_ns="1")], "what are no results"),
    ],
)
def test_anything_else_is_refused(lines: list[str], said: str) -> None:
    with pytest.raises(LaunchError, match=said):
        parts_of(wrote(*lines), 2)
