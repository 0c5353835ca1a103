"""The decorator."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import steelyard
import steelyard.harness
from steelyard.harness import bench, declare
from steelyard.harness.declare import Declaration


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declare, "declarations", [])


def declared() -> list[Declaration]:
    return declare.declarations


def test_plain() -> None:
    @bench
    def work() -> None: ...

    assert callable(work)
    (found,) = declared()
    assert (found.function, found.name, found.params, found.inputs) == (work, "work", {}, None)
    assert (found.tags, found.gc, found.file) == ((), False, __file__)
    assert found.line == work.__code__.co_firstlineno


def test_with_options() -> None:
    @bench(n=range(2), kind=("a",), tags=["x"], gc=True, name="other", inputs=lambda _: 1)
    def work(data: int, n: int, kind: str) -> None: ...

    (found,) = declared()
    assert found.params == {"n": (0, 1), "kind": ("a",)}
    assert (found.name, found.tags, found.gc) == ("other", ("x",), True)


def test_a_function_of_elsewhere_stands_where_it_is_declared() -> None:
    bench(name="dumps", obj=[1])(json.dumps)
    assert declared()[0].file == __file__


def test_a_list_belongs_to_the_innermost_bench_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declare, "bench_files", {"/b/bench_b.py"})
    names: dict[str, Any] = {"bench": bench}
    exec(compile("def make():\n    bench(name='made')(len)", "/b/helper.py", "exec"), names)
    exec(compile("\n\nmake()", "/b/bench_b.py", "exec"), names)
    assert (declared()[0].file, declared()[0].line) == ("/b/bench_b.py", 3)


def test_it_is_steelyard_bench_too() -> None:
    assert steelyard.bench is steelyard.harness.bench
    with pytest.raises(AttributeError, match="no attribute 'bensch'"):
        _ = getattr(steelyard, "bensch")  # noqa: B009 - mypy knows that it does not exist


def unfit() -> Iterator[tuple[Callable[[], Any], str]]:
    def work(n: int) -> None: ...

    yield lambda: bench(3), "takes a function"  # type: ignore[call-overload]
    yield lambda: bench(functools.partial(work, 1)), "needs a name"
    yield lambda: bench(n=[1], name=" ")(work), "needs a name"
    yield lambda: bench(n="abc")(work), "the list of its values"
    yield lambda: bench(n=3)(work), "the list of its values"  # type: ignore[call-overload]
    yield lambda: bench(n=[])(work), "no value"
    yield lambda: bench(n=[1], m=[2])(work), "takes no parameter 'm'"
    yield lambda: bench(work), "takes 'n'"
    yield lambda: bench(n=[1], inputs=[[3, 1, 2]])(work), "inputs is a function"  # type: ignore[call-overload]
    yield lambda: bench(n=[1], tags=[1])(work), "tags are text"  # type: ignore[list-item]


@pytest.mark.parametrize(("use", "said"), list(unfit()))
def test_what_does_not_fit(use: Callable[[], Any], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        use()
    assert not declared()
