"""Turn a declared benchmark into a body that is ready to be measured: set it up before, tear it down after."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager

from steelyard.harness.faults import BodyError
from steelyard.harness.loop import PREFIX, Text
from steelyard.harness.signature import (
    ASYNC_GENERATOR,
    COROUTINE,
    GENERATOR,
    Signature,
    by_keyword,
    innermost,
    kind,
    kind_of_call,
)
from steelyard.harness.worker import Work

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator
    from typing import Any

    from steelyard.harness.declare import Declaration

_VALUE = f"{PREFIX}value_"
_NOTHING = object()


class _Stage(ExitStack):
    """What is open as long as a benchmark, such as one event loop for set-up, samples and tear-down, if needed."""

    _runner: asyncio.Runner | None = None

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine to its end in the event loop."""
        return self.event_loop().run(coroutine)

    def event_loop(self) -> asyncio.Runner:
        """Return the event loop, which is closed before whatever was opened earlier; raises BodyError within one."""
        if self._runner is None:
            import asyncio

            if asyncio._get_running_loop() is not None:
                raise BodyError(
                    "an event loop runs already, as in an async test, and none can run within it: measure what is "
                    "async in a test that is not"
                )
            self._runner = self.enter_context(asyncio.Runner())
        return self._runner


@contextmanager
def prepared(declaration: Declaration, values: dict[str, Any], seed: int) -> Iterator[Work]:
    """Set up a declared benchmark with these values of its parameters, and tear it down afterwards.

    Raises whatever the set-up raises, and BodyError for one that does not yield a function or yields twice, and for a
    body that is a generator.
    """
    function = declaration.function
    draw = _draw(declaration.inputs, values, seed)
    leading = [f"{PREFIX}input"] if draw else []
    with _Stage() as stage:
        is_of = kind_of_call(function, lambda: _first_call(declaration, values, seed))
        if not is_of & (GENERATOR | ASYNC_GENERATOR):
            call = Signature(function).call(values, leading, _VALUE)
            yield _work(function, is_of, call, values, stage, draw, collect=declaration.gc)
            return
        taken = {name: values[name] for name in Signature(function).taken(values, 0)}
        step = _stepper(function, is_of, taken, stage)
        body = step()
        if not callable(body):
            shown = "nothing" if body is _NOTHING else f"{body!r:.60}"
            raise BodyError(f"{declaration.name}() yields {shown}: it has to yield the function to measure")
        is_of = kind_of_call(body, lambda: body(*_first_input(declaration, values, seed)))
        yield _work(body, is_of, ", ".join(leading), {}, stage, draw, collect=declaration.gc)
        if step() is not _NOTHING:
            raise BodyError(f"{declaration.name}() yields twice: what stands behind its yield is the tear-down")


@contextmanager
def prepared_call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Work]:
    """Yield the work of a function with its arguments, as a test gives them; raises BodyError for a generator."""
    values = {str(number): value for number, value in enumerate([*args, *kwargs.values()])}
    variables = [_VALUE + number for number in values]
    named = map(by_keyword, kwargs, variables[len(args) :])
    call = ", ".join([*variables[: len(args)], *named])
    with _Stage() as stage:
        is_of = kind_of_call(function, lambda: function(*args, **kwargs))
        yield _work(function, is_of, call, values, stage, None, collect=False)


def refuse_generator(body: Callable[..., Any], is_of: int) -> None:
    """Raise BodyError for a body of which a call only makes a generator."""
    if is_of & (GENERATOR | ASYNC_GENERATOR):
        function_name = getattr(body, "__name__", "f")
        called = function_name if function_name.isidentifier() else "f"  # a lambda has no name to call it by
        way_out = f", as in lambda: list({called}())" if is_of & GENERATOR else ""
        raise BodyError(
            f"{function_name}() is a generator: a call of it runs nothing of its code, so that only making it would be "
            f"timed; measure what runs through it{way_out}"
        )


def _work(
    body: Callable[..., Any],
    is_of: int,
    call: str,
    values: dict[str, Any],
    stage: _Stage,
    draw: Callable[[], Any] | None,
    *,
    collect: bool,
) -> Work:
    refuse_generator(body, is_of)
    asynchronous = bool(is_of & COROUTINE)
    if asynchronous:
        stage.event_loop()  # raises, if there can be none, before anything is begun
    names = [f"{PREFIX}body", *(_VALUE + name for name in values)]
    text = Text(f"{'await ' if asynchronous else ''}{PREFIX}body({call})", names=names, asynchronous=asynchronous)
    return Work(text, (body, *values.values()), draw=draw, collect=collect, finish=stage.run if asynchronous else None)


def _first_call(declaration: Declaration, values: dict[str, Any], seed: int) -> Any:
    """Call a declared function as the first sample does, or as its set-up."""
    function = declaration.function
    is_set_up = kind(innermost(function)) & (GENERATOR | ASYNC_GENERATOR)
    inputs = [] if is_set_up else _first_input(declaration, values, seed)
    return function(*inputs, **{name: values[name] for name in Signature(function).taken(values, len(inputs))})


def _first_input(declaration: Declaration, values: dict[str, Any], seed: int) -> list[Any]:
    """Return what the first sample draws; nothing without `inputs`."""
    draw = _draw(declaration.inputs, values, seed)
    return [] if draw is None else [draw()]


def _draw(inputs: Callable[..., Any] | None, values: dict[str, Any], seed: int) -> Callable[[], Any] | None:
    if inputs is None:
        return None
    from random import Random

    random, make = Random(seed), inputs  # noqa: S311 - it has to be reproducible
    taken = {name: values[name] for name in Signature(inputs).taken(values, 1)}
    return lambda: make(random, **taken)


def _stepper(function: Callable[..., Any], is_of: int, values: dict[str, Any], stage: _Stage) -> Callable[[], Any]:
    """Return a function that runs on to the next yield and returns its value; the generator is closed at the end."""
    if not is_of & ASYNC_GENERATOR:
        generator: Generator[Any] = function(**values)
        stage.callback(generator.close)
        return lambda: next(generator, _NOTHING)
    stage.event_loop()  # opened before the generator, whose closing needs it
    asynchronous: AsyncGenerator[Any] = function(**values)
    stage.callback(lambda: stage.run(_close(asynchronous)))
    return lambda: stage.run(_next(asynchronous))


async def _next(generator: AsyncGenerator[Any]) -> Any:
    return await anext(generator, _NOTHING)


async def _close(generator: AsyncGenerator[Any]) -> None:
    await generator.aclose()
