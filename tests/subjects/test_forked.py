"""What a launch tells about the processes that it forked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from steelyard.model.errors import LaunchError
from steelyard.model.measured import Measured
from steelyard.model.numbers import NUMBERS
from steelyard.subjects.forked import split_processes
from tests.design.scripted import PLAIN


def line(results: Any = "{}", **numbers: Any) -> dict[str, Any]:
    return {"numbers": {name: getattr(PLAIN, name) for name in NUMBERS} | numbers, "results": results}


def parts(wanted: int, *lines: Any) -> list[Measured]:
    whole = replace(PLAIN, results=b"all of it", results_bytes=9, left_behind=("7 sleep",), stdout=b"printed")
    return split_processes(whole, lines, wanted)


def test_each_has_its_numbers_and_its_results() -> None:
    one, other = parts(2, line("a", wall_ns=5, delay_ns=None), line("b", exit_code=None, signal=11))
    assert (one.wall_ns, one.delay_ns, one.results, one.stdout, one.has_failed()) == (5, None, b"a", None, False)
    assert (other.wall_ns, other.results, other.signal, other.has_failed()) == (PLAIN.wall_ns, b"b", 11, True)


def test_what_outlived_the_launch_is_told_of_once() -> None:
    assert [part.left_behind for part in parts(2, line(), line())] == [("7 sleep",), ()]


def test_what_need_not_be_known_need_not_be_told() -> None:
    numbers = {name: getattr(PLAIN, name) for name in NUMBERS if name not in ("lost_ns", "steal_ns", "signal")}
    (part,) = parts(1, {"numbers": numbers, "results": ""})
    assert (part.steal_ns, part.signal) == (None, None)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([line()], "told of 1 benchmark where 2 were asked for"),
        ([line(), line(), line()], "told of 3 benchmarks where 2"),
        ([line(), []], "what are no results: 'all of it'"),
        ([line(), {}], "what are no results"),
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
def test_anything_else_is_refused(lines: list[Any], said: str) -> None:
    with pytest.raises(LaunchError, match=said):
        parts(2, *lines)
