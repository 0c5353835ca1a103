"""The decorator that declares a benchmark, and the list of what was declared while a file was loaded."""

from __future__ import annotations

import sys

from steelyard.harness.signature import check

TYPE_CHECKING = False  # not from typing, whose import alone would take as long as Python's start
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from random import Random
    from types import CodeType, FrameType
    from typing import Any, TypeVar, overload

    F = TypeVar("F", bound=Callable[..., Any])
    Inputs = Callable[..., Any]
else:

    def overload(function):
        """Do at run time what typing's does, which is next to nothing."""
        return function


class Declaration:
    """What `bench` was told: a function, what to call it with, and where it was declared."""

    __slots__ = ("file", "function", "gc", "inputs", "line", "name", "params", "tags")

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        params: dict[str, tuple[Any, ...]],
        inputs: Inputs | None,
        tags: tuple[str, ...],
        *,
        gc: bool,
        place: tuple[str, int],
    ) -> None:
        self.function, self.name, self.params, self.inputs = function, name, params, inputs
        self.tags, self.gc = tags, gc
        self.file, self.line = place


declarations: list[Declaration] = []

# The bench files of this process. A declaration belongs to the innermost of them that is being executed, so one may
# import another, and may leave the declaring to a module that is no bench file.
bench_files: set[str] = set()


@overload
def bench(function: F, /) -> F: ...
@overload
def bench(
    *,
    inputs: Callable[[Random], Any] | Callable[..., Any] | None = None,
    tags: Iterable[str] = (),
    gc: bool = False,
    name: str | None = None,
    **params: Iterable[Any],
) -> Callable[[F], F]: ...


def bench(
    function: Callable[..., Any] | None = None,
    /,
    *,
    inputs: Inputs | None = None,
    tags: Iterable[str] = (),
    gc: bool = False,
    name: str | None = None,
    **params: Iterable[Any],
) -> Any:
    """Declare a benchmark; the function itself stays as it is.

    `@bench` alone: one call of the function is one iteration, awaited if it is `async`.

    A function that yields is set-up and tear-down: it runs to its `yield`, what it yields is called in each iteration,
    and it runs on after the last sample. Only the iterations are timed.

    - `inputs` is called before each sample, outside the clock, with a `random.Random` that is seeded alike in both
      launches of a pair, and with those parameters that it names. What it returns is the first argument of each
      iteration.
    - `tags` are texts to choose benchmarks by.
    - `gc=True` leaves Python's garbage collector on during the samples.
    - `name` replaces the function's own.
    - All other arguments are parameters, with the lists of their values. Each combination is a benchmark, and the
      function is called with it.

    Raises TypeError if the arguments do not fit the function.
    """
    frame = sys._getframe(1)

    def declare(target: F) -> F:
        called = _name(target, name)
        check(target, inputs, params)
        declarations.append(
            Declaration(target, called, _values(params), inputs, _tags(tags), gc=gc, place=_place(target, frame))
        )
        return target

    return declare if function is None else declare(function)


def _name(function: Callable[..., Any], name: str | None) -> str:
    if not callable(function):
        raise TypeError(f"bench() takes a function, and this is {function!r}")
    chosen_name = name if name is not None else getattr(function, "__name__", None)
    if not isinstance(chosen_name, str) or not chosen_name.strip():
        raise TypeError(f"bench() of {function!r} needs a name: bench(name=...)")
    return chosen_name


def _values(params: dict[str, Iterable[Any]]) -> dict[str, tuple[Any, ...]]:
    for name, values in params.items():
        if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
            raise TypeError(f"bench({name}={values!r}): a parameter is given as the list of its values")
    values_by_name = {name: tuple(values) for name, values in params.items()}
    for name, values_given in values_by_name.items():
        if not values_given:
            raise TypeError(f"bench({name}=[]) has no value, so there is nothing to run")
    return values_by_name


def _tags(tags: Iterable[str]) -> tuple[str, ...]:
    tag_tuple = (tags,) if isinstance(tags, str) else tuple(tags)
    if not all(isinstance(tag, str) for tag in tag_tuple):
        raise TypeError(f"bench(tags={tags!r}): tags are text")
    return tag_tuple


def _place(function: Callable[..., Any], frame: FrameType) -> tuple[str, int]:
    """Return the bench file that declares, and the line of the function in it, or else that of the declaration."""
    caller: FrameType | None = frame
    while caller is not None and caller.f_code.co_filename not in bench_files:
        caller = caller.f_back
    declaring_frame = frame if caller is None else caller
    code: CodeType | None = getattr(function, "__code__", None)
    if code is not None and code.co_filename == declaring_frame.f_code.co_filename:
        return code.co_filename, code.co_firstlineno
    return declaring_frame.f_code.co_filename, declaring_frame.f_lineno
