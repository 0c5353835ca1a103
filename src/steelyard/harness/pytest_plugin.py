"""Tests as benchmarks: the fixture `weigh`, and pytest as a program that speaks the harness protocol.

    def test_sort(weigh):
        assert weigh(sorted, [3, 1, 2]) == [1, 2, 3]

By itself pytest runs it once, like any test. With the protocol's arguments it lists the tests that use the fixture, or
runs one of them and takes its samples. pytest loads this file in every run, so everything else is loaded only if there
are such arguments.
"""

from __future__ import annotations

from types import AsyncGeneratorType, CoroutineType, GeneratorType

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from random import Random
    from typing import Any, ParamSpec, TypeVar

    from pluggy import Result

    from steelyard.harness.pytest_run import Run

    P = ParamSpec("P")
    T = TypeVar("T")

_RUN = "steelyard-run"


class Weigh:
    """What a test gets as `weigh`, to call once with what is to be measured."""

    def __init__(self, run: Run | None) -> None:
        self._run = run
        self._called = False
        self._random: Random | None = None

    def __repr__(self) -> str:
        return "weigh"  # as written in the test, for pytest's explanation of an assertion

    @property
    def random(self) -> Random:
        """A generator for inputs, seeded alike in both launches of a pair."""
        if self._random is None:
            from random import Random

            self._random = Random(self._run.seed if self._run else 0)  # noqa: S311 - it has to be reproducible
        return self._random

    def __call__(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Measure calls of a function with these arguments, and return what one more call returns.

        An `async` function is awaited, and its result is returned. Raises RuntimeError if called a second time,
        TypeError for a plain function that returns a coroutine, and BodyError for a generator: its call would be
        measured, not the work.
        """
        if self._called:
            raise RuntimeError(
                "weigh() is called twice: a test is one benchmark, give the second call a test of its own"
            )
        self._called = True
        if self._run is not None:
            self._run.measure(function, args, kwargs)
        result = function(*args, **kwargs)
        if isinstance(result, CoroutineType):
            awaited: T = _await(function, result)
            return awaited
        if isinstance(result, GeneratorType | AsyncGeneratorType):
            _refuse(function)
        return result


def _await(function: Callable[..., Any], coroutine: CoroutineType[Any, Any, Any]) -> Any:
    import asyncio

    from steelyard.harness.signature import COROUTINE, innermost, kind

    if not kind(innermost(function)) & COROUTINE:
        coroutine.close()
        raise TypeError("what weigh() calls returns a coroutine: give it the async function itself, with its arguments")
    return asyncio.run(coroutine)


def _refuse(function: Callable[..., Any]) -> None:
    """Raise BodyError for a function, decorated or not, that is a generator; others may return one that they made."""
    from steelyard.harness.bodies import refuse_generator
    from steelyard.harness.signature import innermost, kind

    refuse_generator(function, kind(innermost(function)))


@pytest.fixture
def weigh(request: pytest.FixtureRequest) -> Weigh:
    """Measures one call, if Steelyard drives pytest; else just calls."""
    return Weigh(request.config.pluginmanager.get_plugin(_RUN))


@pytest.hookimpl(hookwrapper=True, tryfirst=True)  # not `wrapper`, which pluggy 1.1 does not know
def pytest_load_initial_conftests(
    early_config: pytest.Config, args: list[str]
) -> Generator[None, Result[object], None]:
    """Take the protocol's arguments off the command line, as pytest does not know them, and follow them."""
    if not any(argument.startswith("--steelyard-") for argument in args):
        yield
        return
    from steelyard.harness.pytest_run import start_run

    run = start_run(early_config, args)
    early_config.pluginmanager.register(run, _RUN)
    outcome = yield
    if outcome.excinfo is not None:  # raised by a conftest.py, before there is a session
        run.broken(outcome.excinfo[1])


__all__ = ["Weigh", "pytest_load_initial_conftests", "weigh"]
