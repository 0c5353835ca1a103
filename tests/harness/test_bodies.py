"""Set-up, tear-down, inputs and event loops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from random import Random
from typing import Any

import pytest

from steelyard.harness.bodies import prepared, prepared_call
from steelyard.harness.declare import Declaration
from steelyard.harness.faults import BodyError
from steelyard.harness.worker import Sample, samples_of
from tests.harness.conftest import Clock


def declared(function: Callable[..., Any], inputs: Callable[..., Any] | None = None) -> Declaration:
    return Declaration(function, "work", {}, inputs, (), gc=False, place=("x.py", 1))


def run(
    function: Callable[..., Any],
    inputs: Callable[..., Any] | None = None,
    *,
    loops: int = 2,
    samples: int = 2,
    seed: int = 1,
    **values: Any,
) -> list[Sample]:
    with prepared(declared(function, inputs), values, seed) as work:
        return samples_of(work, loops, samples)


def test_a_parameter_may_have_a_name_that_no_code_can_have() -> None:
    done: list[Any] = []
    with prepared_call(lambda n, **others: done.append((n, others)), (1,), {"class": 2, "a b": 3, "m": 4}) as work:
        samples_of(work, 1, 1)
    with prepared(declared(lambda **others: done.append(others)), {"class": 2}, 1) as work:
        samples_of(work, 1, 1)
    assert done == [(1, {"class": 2, "a b": 3, "m": 4}), {"class": 2}]


def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
    return wraps(function)(lambda *args, **values: function(*args, **values))


def test_a_decorator_may_hide_what_a_function_is() -> None:
    done: list[Any] = []

    @decorated
    def sets_up(n: int) -> Iterator[Callable[[], None]]:
        done.append(f"set up {n}")
        yield lambda: done.append(n)
        done.append("torn down")

    @decorated
    async def awaited(drawn: float, n: int) -> None:
        await asyncio.sleep(0)
        done.append((drawn, n))

    @decorated
    async def sets_up_later() -> AsyncIterator[Callable[[], None]]:
        yield lambda: done.append("async")

    run(sets_up, loops=1, samples=1, n=3)
    run(awaited, lambda random: random.random(), loops=1, samples=1, seed=4, n=5)
    run(sets_up_later, loops=1, samples=1)
    assert done == ["set up 3", 3, "torn down", (Random(4).random(), 5), "async"]


def test_what_a_set_up_yields_or_a_test_calls_may_be_decorated_too() -> None:
    done: list[Any] = []

    @decorated
    async def awaited(number: float) -> None:
        await asyncio.sleep(0)
        done.append(number)

    def sets_up() -> Iterator[Callable[[float], Any]]:
        yield awaited

    run(sets_up, lambda random: random.random(), loops=1, samples=1, seed=4)
    with prepared_call(awaited, (), {"number": 5}) as work:
        samples_of(work, 2, 1)
    assert done == [Random(4).random(), 5, 5]
    with pytest.raises(BodyError, match="returns a context manager"), prepared_call(is_a_context_manager, (), {}):
        pass


def test_a_decorator_that_runs_what_it_hides_makes_a_plain_body() -> None:
    done: list[Any] = []

    def numbered() -> Iterator[int]:
        yield 1

    @wraps(numbered)
    def as_list() -> list[int]:
        done.append(list(numbered()))
        return [1]

    run(as_list, loops=2, samples=1)
    assert done == [[1]] * 3  # one call tells what it is


def test_plain_with_parameters() -> None:
    done: list[Any] = []
    run(lambda n, kind: done.append((n, kind)), n=1, kind="a")
    assert done == [(1, "a")] * 4


def test_set_up_and_tear_down_are_not_in_the_time(clock: Clock) -> None:
    done: list[str] = []

    def work(n: int) -> Iterator[Callable[[], None]]:
        clock.go(1_000)
        done.append("up")
        yield lambda: clock.go(n)
        clock.go(1_000)
        done.append("down")

    assert [sample.ns for sample in run(work, n=7)] == [14, 14]
    assert done == ["up", "down"]


def test_tear_down_after_an_exception() -> None:
    done: list[str] = []

    def work() -> Iterator[Callable[[], None]]:
        try:
            yield lambda: [].pop()
        finally:
            done.append("down")

    with pytest.raises(IndexError) as raised:
        run(work)
    assert done == ["down"]
    assert raised.tb is not None  # it keeps the set-up alive, so tear-down did not come from its garbage collection


def test_inputs_are_drawn_for_each_sample() -> None:
    done: list[int] = []
    run(lambda data: done.append(data), lambda random: random.getrandbits(64), seed=5)
    expected = Random(5)
    first, second = expected.getrandbits(64), expected.getrandbits(64)
    assert done == [first, first, second, second]


def test_inputs_take_the_parameters_that_they_name() -> None:
    done: list[Any] = []

    def work(n: int) -> Iterator[Callable[[int], None]]:
        yield lambda data: done.append((n, data))

    run(work, lambda _random, m: m * 2, loops=1, samples=1, n=1, m=4)
    assert done == [(1, 8)]


@pytest.mark.parametrize("seed", [0, 2**64 - 1])
def test_the_same_seed_draws_the_same(seed: int) -> None:
    done: list[int] = []
    for _ in range(2):
        run(lambda data: done.append(data), lambda random: random.getrandbits(64), loops=1, samples=1, seed=seed)
    assert done[0] == done[1]


def test_awaited_in_one_event_loop() -> None:
    loops = []

    async def work(n: int) -> None:
        await asyncio.sleep(0)
        loops.append((n, asyncio.get_running_loop()))

    run(work, n=3)
    assert len(loops) == 4
    assert len(set(loops)) == 1


def test_awaited_with_set_up_in_the_same_event_loop(clock: Clock) -> None:
    loops = []

    async def work() -> AsyncIterator[Callable[[int], Any]]:
        async def body(data: int) -> None:
            clock.go(data)
            loops.append(asyncio.get_running_loop())

        clock.go(1_000)
        loops.append(asyncio.get_running_loop())
        yield body
        loops.append(asyncio.get_running_loop())

    assert [sample.ns for sample in run(work, lambda _: 5)] == [10, 10]
    assert len(loops) == 6
    assert len(set(loops)) == 1


def test_an_asynchronous_set_up_is_closed_after_an_exception() -> None:
    done: list[str] = []

    async def work() -> AsyncIterator[Callable[[], Any]]:
        try:
            yield lambda: [].pop()
        finally:
            await asyncio.sleep(0)
            done.append("down")

    with pytest.raises(IndexError):
        run(work)
    assert done == ["down"]


def test_nothing_can_be_awaited_within_an_event_loop() -> None:
    async def body() -> None: ...

    async def test() -> None:
        with prepared_call(body, (), {}) as work:
            samples_of(work, 1, 1)

    with pytest.raises(BodyError, match="an event loop runs already, as in an async test"):
        asyncio.run(test())


def test_a_plain_set_up_of_what_is_awaited() -> None:
    done: list[str] = []

    def work() -> Iterator[Callable[[], Any]]:
        async def body() -> None:
            done.append("body")

        yield body
        done.append("down")

    run(work, loops=1, samples=1)
    assert done == ["body", "down"]


def yields_nothing() -> Iterator[Callable[[], None]]:
    if not __name__:
        yield lambda: None


def yields_a_number() -> Iterator[int]:
    yield 3


def yields_twice() -> Iterator[Callable[[], Any]]:
    yield int
    yield int


def numbers(_: int = 0) -> Iterator[int]:
    yield 1


async def awaited_numbers() -> AsyncIterator[int]:
    yield 1


def yields_a_generator() -> Iterator[Callable[[], Any]]:
    yield numbers


def yields_an_asynchronous_one() -> Iterator[Callable[[], Any]]:
    yield partial(awaited_numbers)


@contextmanager
def is_a_context_manager() -> Iterator[None]:
    yield


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (is_a_context_manager, r"is_a_context_manager\(\) returns a context manager"),
        (lambda: (yield lambda: (yield)), r"<lambda>\(\) is a generator: .*lambda: list\(f\(\)\)"),
        (yields_a_generator, r"numbers\(\) is a generator: a call of it runs nothing.*lambda: list\(numbers\(\)\)"),
        (yields_an_asynchronous_one, "is a generator"),
        (yields_nothing, r"work\(\) yields nothing: it has to yield the function"),
        (yields_a_number, "yields 3"),
        (yields_twice, "yields twice"),
    ],
)
def test_set_ups_that_do_not_do(function: Callable[[], Any], said: str) -> None:
    with pytest.raises(BodyError, match=said):
        run(function)


def test_a_generator_is_no_call_of_a_test() -> None:
    with pytest.raises(BodyError, match=r"numbers\(\) is a generator"), prepared_call(numbers, (1,), {}):
        pass


def test_a_call_of_a_test() -> None:
    done: list[Any] = []

    def function(*args: Any, **kwargs: Any) -> None:
        done.append((args, kwargs))

    with prepared_call(function, (1, "a"), {"key": 2}) as work:
        samples_of(work, 2, 1)
    assert done == [((1, "a"), {"key": 2})] * 2
