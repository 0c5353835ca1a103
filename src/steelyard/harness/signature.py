"""Which of a benchmark's parameters a function takes, and how it is called with them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

GENERATOR, COROUTINE, ASYNC_GENERATOR = (
    0x20,
    0x80,
    0x200,
)  # as in inspect, whose import takes longer than Python's start
_CODE_OF = {"gi_code": GENERATOR, "cr_code": COROUTINE, "ag_code": ASYNC_GENERATOR}
_ANY_POSITIONAL, _ANY_KEYWORD = 0x04, 0x08


class Signature:
    """The parameters that a function takes, as far as can be told without calling it.

    Of one that is not written in Python, or is bound to an object, nothing is known: it gets all parameters by name.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        code = None if hasattr(function, "__self__") else getattr(function, "__code__", None)
        self._name = getattr(function, "__name__", repr(function))
        self._class = _class_of(getattr(function, "__qualname__", ""))
        self._takes_any = code is None or bool(code.co_flags & _ANY_KEYWORD)
        self._positional: tuple[str, ...] = ()
        self._keyword: tuple[str, ...] = ()
        self._required: set[str] = set()
        self.any_positional = code is None or bool(code.co_flags & _ANY_POSITIONAL)
        if code is None:
            return
        count = code.co_argcount
        self._positional = code.co_varnames[:count]
        self._keyword = code.co_varnames[count : count + code.co_kwonlyargcount]
        defaults = len(getattr(function, "__defaults__", None) or ())
        keyword_defaults = getattr(function, "__kwdefaults__", None) or {}
        self._required = {*self._positional[: count - defaults], *self._keyword} - set(keyword_defaults)

    def taken(self, params: Iterable[str], leading: int) -> list[str]:
        """Return which of `params` it takes after `leading` arguments; raises TypeError if it needs others."""
        if leading > len(self._positional) and not self.any_positional:
            raise TypeError(f"{self._name}() has no place for the input: it is the first argument")
        named = {*self._positional[leading:], *self._keyword}
        names_taken = [name for name in params if self._takes_any or name in named]
        for missing in sorted(self._required - {*self._positional[:leading], *names_taken}):
            if self._class and missing == "self":
                bound = f"{self._class}().{self._name}"
                raise TypeError(f"{self._name}() is a method, and has no object: write bench({bound}) below the class")
            raise TypeError(f"{self._name}() takes {missing!r}, which has no values: write bench({missing}=[...])")
        return names_taken

    def call(self, params: Iterable[str], leading: list[str], prefix: str) -> str:
        """Return the arguments of a call, whose variables are the parameters' names after a prefix.

        They are positional as far as possible, which is faster.
        """
        remaining = self.taken(params, len(leading))
        arguments = list(leading)
        for name in self._positional[len(leading) :]:
            if name not in remaining:
                break
            remaining.remove(name)
            arguments.append(prefix + name)
        return ", ".join([*arguments, *(by_keyword(name, prefix + name) for name in remaining)])


def by_keyword(name: str, variable: str) -> str:
    """Return the argument of a call that passes a variable by a name, which may be one that no code can have."""
    from keyword import iskeyword

    is_writable = name.isidentifier() and not iskeyword(name)
    return f"{name}={variable}" if is_writable else f"**{{{name!r}: {variable}}}"


def _class_of(qualified: str) -> str:
    """Return the class that a function with this qualified name is defined in; empty if it is in none."""
    enclosing = qualified.rpartition(".")[0].rpartition("<locals>")[2]
    return enclosing.removeprefix(".")


def kind(function: Callable[..., Any]) -> int:
    """Return which of GENERATOR, COROUTINE and ASYNC_GENERATOR a function (or an object's `__call__`) is, or 0."""
    while hasattr(function, "func") and hasattr(function, "keywords"):  # functools.partial
        function = function.func
    called = function if hasattr(function, "__code__") else type(function).__call__
    flags: int = getattr(getattr(called, "__code__", None), "co_flags", 0)
    return flags & (GENERATOR | COROUTINE | ASYNC_GENERATOR)


def innermost(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what decorators (`functools.wraps`) are wrapped around; the function itself without any."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def kind_of_call(function: Callable[..., Any], call: Callable[[], Any]) -> int:
    """Return the kind of a function, or of what its `call` returns if it is wrapped around one that has a kind.

    Some decorators leave a generator or a coroutine to their caller, others run it: only a call tells. Raises BodyError
    for one that leaves a context manager.
    """
    inner = innermost(function)
    if inner is function or kind(function) or not kind(inner):
        return kind(function)
    returned = call()
    found = _kind_of_object(returned)
    if not found and _kind_of_object(getattr(returned, "gen", None)):
        from steelyard.harness.faults import BodyError

        raise BodyError(
            f"{function.__name__}() returns a context manager, so that only making it would be timed: measure a "
            "function that enters it by `with`; what sets up for @bench has no decorator of contextlib's"
        )
    if found & (GENERATOR | COROUTINE):
        returned.close()  # nothing of it has run
    return found


def _kind_of_object(made: object) -> int:
    return next((flag for name, flag in _CODE_OF.items() if hasattr(made, name)), 0)


def check(function: Callable[..., Any], inputs: Callable[..., Any] | None, params: Iterable[str]) -> None:
    """Raise TypeError unless the function and its inputs take all parameters, and need no others."""
    names = list(params)
    for name in names:
        if not name.isidentifier():
            raise TypeError(f"bench() has a parameter {name!r}, which is no name")
    if inputs is not None and not callable(inputs):
        raise TypeError(f"bench(inputs={inputs!r:.60}): inputs is a function of a random.Random that makes an input")
    yields = bool(kind(function) & (GENERATOR | ASYNC_GENERATOR))
    taken = Signature(function).taken(names, 0 if inputs is None or yields else 1)
    if inputs is not None:
        taken += Signature(inputs).taken(names, 1)
    for name in names:
        if name not in taken:
            what = getattr(function, "__name__", repr(function))
            raise TypeError(f"{what}() takes no parameter {name!r}")
