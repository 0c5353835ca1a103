"""How functions are called with a benchmark's parameters."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from steelyard.harness.signature import ASYNC_GENERATOR, COROUTINE, GENERATOR, Signature, check, kind


def plain(a: int, b: int = 2, *, c: int = 3) -> None: ...


def anything(*args: int, **kwargs: int) -> None: ...


async def awaited() -> None: ...


def yields() -> Iterator[int]:
    yield 1


async def yields_later() -> AsyncIterator[int]:
    yield 1


class Called:
    def __call__(self, a: int) -> None: ...

    def method(self, a: int) -> None: ...


class CalledLater:
    async def __call__(self) -> None: ...


@pytest.mark.parametrize(
    ("function", "params", "leading", "text"),
    [
        (plain, ["a"], [], "$a"),
        (plain, ["b", "a"], [], "$a, $b"),
        (plain, ["a", "c"], [], "$a, c=$c"),
        (plain, ["b"], ["i"], "i, $b"),
        (plain, ["c"], ["i"], "i, c=$c"),
        (anything, ["x"], ["i"], "i, x=$x"),
        (Called(), ["a"], [], "a=$a"),
        (Called().method, ["a"], [], "a=$a"),
        (functools.partial(plain, 1), ["b"], [], "b=$b"),
        (len, [], ["i"], "i"),
        (lambda: 0, [], [], ""),
    ],
)
def test_calls(function: Callable[..., Any], params: list[str], leading: list[str], text: str) -> None:
    assert Signature(function).call(params, leading, "$") == text


def test_only_what_a_function_takes() -> None:
    assert Signature(plain).taken(["a", "x", "c"], 0) == ["a", "c"]


def test_what_is_missing() -> None:
    with pytest.raises(TypeError, match=r"plain\(\) takes 'a', which has no values: write bench\(a=\[...\]\)"):
        Signature(plain).taken(["b"], 0)


def test_a_method_is_told_from_a_function() -> None:
    class Suite:
        def method(self, n: int) -> None: ...

    said = r"method\(\) is a method, and has no object: write bench\(Suite\(\).method\)"
    with pytest.raises(TypeError, match=said):
        Signature(Suite.method).taken(["n"], 0)
    assert Signature(Suite().method).taken(["n"], 0) == ["n"]


def test_no_place_for_the_input() -> None:
    with pytest.raises(TypeError, match="no place for the input"):
        Signature(lambda: 0).taken([], 1)


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (plain, 0),
        (awaited, COROUTINE),
        (yields, GENERATOR),
        (yields_later, ASYNC_GENERATOR),
        (functools.partial(awaited), COROUTINE),
        (CalledLater(), COROUTINE),
        (Called(), 0),
        (len, 0),
        (dict, 0),
    ],
)
def test_kinds(function: Callable[..., Any], found: int) -> None:
    assert kind(function) == found


@pytest.mark.parametrize(
    ("function", "inputs", "params", "said"),
    [
        (plain, None, ["a", "x"], r"plain\(\) takes no parameter 'x'"),
        (plain, lambda _, x: x, ["x", "y"], "takes no parameter 'y'"),
        (plain, lambda: 0, [], "no place for the input"),
        (yields, None, ["x"], "takes no parameter 'x'"),
        (anything, None, ["a b"], "no name"),
    ],
)
def test_what_does_not_fit(
    function: Callable[..., Any], inputs: Callable[..., Any] | None, params: list[str], said: str
) -> None:
    with pytest.raises(TypeError, match=said):
        check(function, inputs, params)


def test_a_parameter_may_be_of_the_inputs_alone() -> None:
    check(lambda data: data, lambda _, n: n, ["n"])
    check(yields, lambda _, n: n, ["n"])
