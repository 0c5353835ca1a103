"""The generated loop."""

from __future__ import annotations

import itertools
import sys
import time
import weakref
from typing import Any

import pytest

from steelyard.harness.loop import COPIES, Loop, Text


def take(text: Text, loops: int, samples: int = 1, values: tuple[Any, ...] = (), **parts: Any) -> list[Any]:
    """Return the raw samples of a loop with these parts around each sample."""
    raw: list[Any] = []
    begin, end = parts.get("counting", (None, None))
    tools = (itertools.repeat, time.perf_counter_ns, time.thread_time_ns, parts.get("schedstat"), 7, begin, end)
    tools = (*tools, parts.get("inputs"), raw.append, *parts.get("partner", (None, None)))
    Loop(text, set(parts), {}).take(samples, loops, tools, values)
    return raw


@pytest.mark.parametrize("loops", [1, COPIES - 1, COPIES, COPIES + 1, 3 * COPIES, 1000])
@pytest.mark.parametrize("counted", [False, True])
def test_the_body_runs_exactly_so_often(loops: int, counted: bool) -> None:
    done: list[int] = []
    parts: dict[str, Any] = {"counting": (int, int)} if counted else {}
    take(Text("done.append(1)", names=["done"]), loops, samples=2, values=(done,), **parts)
    assert len(done) == 2 * loops


def test_a_long_body_is_not_copied() -> None:
    done: list[int] = []
    take(Text("done.append(1)" + ";0" * 1_000, names=["done"]), 20, values=(done,))
    assert len(done) == 20


def test_counts_lie_on_a_line() -> None:
    """The number of executed lines of Python stands for instructions."""
    executed = 0

    def trace(*_: Any) -> Any:
        nonlocal executed
        executed += 1
        return trace

    def count(loops: int) -> int:
        nonlocal executed
        executed = 0
        names: dict[str, Any] = {}
        loop = Loop(Text("body()", names=["body"]), {"counting"}, names)
        raw: list[Any] = []
        clocks = (itertools.repeat, time.perf_counter_ns, time.thread_time_ns, None, None)
        tools = (*clocks, int, int, None, raw.append, None, None)
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            loop.take(1, loops, tools, (int,))
        finally:
            sys.settrace(before)
        return executed

    assert len({count(loops + 1) - count(loops) for loops in range(1, 3 * COPIES)}) == 1


def test_the_set_up_runs_once_and_its_names_are_local() -> None:
    done: list[Any] = []
    text = Text("x += 1; done.append(x)", "done.append('set up'); x = 0", names=["done"])
    take(text, 2, samples=2, values=(done,))
    assert done == ["set up", 1, 2, 3, 4]


def test_text_of_several_lines_stays_as_it_is() -> None:
    done: list[str] = []
    take(Text('if True:\n  done.append("""a\n b""")', names=["done"]), 1, values=(done,))
    assert done == ["a\n b"]


def test_a_body_that_cannot_be_copied_still_runs() -> None:
    text = Text("global g\ng = g + 1 if 'g' in globals() else 1")
    names: dict[str, Any] = {}
    raw: list[Any] = []
    clocks = (itertools.repeat, time.perf_counter_ns, time.thread_time_ns, None, None)
    tools = (*clocks, None, None, None, raw.append, None, None)
    Loop(text, set(), names).take(1, 20, tools, ())
    assert names["g"] == 20


def test_what_stands_around_the_body_in_which_order() -> None:
    done: list[str] = []

    def note(what: str) -> Any:
        return lambda *_: done.append(what)

    parts = {"counting": (note("begin"), note("end")), "schedstat": note("schedstat"), "inputs": note("inputs")}
    parts["partner"] = (note("await turn"), note("hand over"))
    take(Text("done.append('body')", names=["done"]), 2, samples=2, values=(done,), **parts)
    sample = ["inputs", "schedstat", "begin", "body", "body", "end", "schedstat"]
    assert done == 2 * ["await turn", *sample, "hand over"]


def test_each_sample_gets_the_input_that_is_drawn_for_it() -> None:
    done: list[int] = []
    drawn = iter([10, 20])
    text = Text("done.append(_steelyard_input)", names=["done"])
    take(text, 2, samples=2, values=(done,), inputs=lambda: next(drawn))
    assert done == [10, 10, 20, 20]


def test_an_input_is_given_up_before_the_next_is_drawn() -> None:
    class Data: ...

    drawn: list[weakref.ref[Data]] = []

    def draw() -> Data:
        assert not [data for data in drawn if data() is not None]
        data = Data()
        drawn.append(weakref.ref(data))
        return data

    take(Text("_steelyard_input"), 2, samples=3, inputs=draw)
    assert len(drawn) == 3


@pytest.mark.parametrize("body", ["x = (", "global done", "for"])
def test_no_python(body: str) -> None:
    with pytest.raises(SyntaxError):
        Loop(Text(body, names=["done"]), set(), {})
