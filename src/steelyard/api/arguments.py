"""What each argument of the functions for programs takes: a command line has only text, a program has every type."""

from __future__ import annotations

import reprlib
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from os import PathLike, fspath, sep
from typing import Any

from steelyard.api.options import HOOKS
from steelyard.model.errors import UsageError
from steelyard.model.values import AUTO


class _NulError(ValueError):
    """A text with a NUL, which no path, word of a command or variable can contain."""


def read_argument(name: str, value: object, *, like: str | None = None) -> Any:
    """Return an argument's value as the measuring code needs it; raise UsageError for one that it does not take.

    An argument may take what another one, `like` which it is, takes.
    """
    kind = ARGUMENT_KINDS[like or name]
    try:
        return kind.read(value)
    except (TypeError, ValueError, OverflowError) as error:
        way_out = ": leave the NUL character out" if isinstance(error, _NulError) else kind.way_out(value)
        raise UsageError(f"{name} takes {kind.words}, not {_one_line(value)}{way_out}") from None


def read_optional_argument(name: str, value: object) -> Any:
    """Do as `read_argument`, but keep None, which means that nobody asked."""
    return None if value is None else read_argument(name, value)


def _one_line(value: object) -> str:
    """Return a value for a sentence, shortened and on one line."""
    return "".join(one if one.isprintable() else " " for one in reprlib.repr(value))


# --- readers: each returns the value, or raises TypeError, ValueError or OverflowError


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    if "\0" in value:
        raise _NulError
    return value


def _path(value: Any) -> str:
    return _text(fspath(value))


def _command(value: Any) -> str:
    """Return a command line; a path is a single word, and without a folder it is a file here, not one in PATH."""
    if not isinstance(value, PathLike):
        return _text(value)
    path = _path(value)
    return shlex.quote(path if sep in path else f".{sep}{path}")


def _command_advice(value: Any) -> str:
    """Say how to ask for what other modules take: a command as a list of its words, or a function."""
    for one in (value, *(value if isinstance(value, list | tuple) else ())):
        if isinstance(one, list | tuple) and one and all(isinstance(word, str) for word in one):
            return f": join the words of a command, as in shlex.join({_one_line([*one])})"
        if callable(one):
            return ": a function is weighed as a benchmark in a file of its own, with @steelyard.bench"
    return ""


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _number(value: Any) -> float:
    # Python takes a bool for a number. Those of numpy are numbers, too.
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError
    return float(value)


def _whole_number(value: Any) -> int:
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    number = _number(value)
    if not number.is_integer():
        raise ValueError
    return int(number)


def _processor(value: Any) -> int | str:
    return AUTO if value == AUTO and isinstance(value, str) else _whole_number(value)


def _number_or_text(value: Any) -> float | str:
    return value if isinstance(value, str) else _number(value)


def _amount(value: Any) -> float | str:
    """Return an integer unchanged: a float cannot tell large numbers of bytes apart."""
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else _number_or_text(value)


def _word(value: Any) -> str:
    """Return a value as it is written in a command or a variable."""
    if isinstance(value, PathLike):
        return _path(value)
    return str(value) if isinstance(value, Real) else _text(value)


def _list_of(read: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    """Return a reader of several values, or a single one. It refuses sets, which have no order."""

    def read_list(value: Any) -> list[Any]:
        if isinstance(value, str | PathLike):
            return [read(value)]
        if isinstance(value, bytes | Mapping | set | frozenset) or not isinstance(value, Iterable):
            raise TypeError
        return [read(one) for one in value]

    return read_list


def _variables(value: Any) -> list[str]:
    """Return variables as `--env` takes them: NAME or NAME=VALUE."""
    if not isinstance(value, Mapping):
        return _list_of(_text)(value)
    if any("=" in _text(name) for name in value):
        raise ValueError
    return [name if one is None else f"{name}={_word(one)}" for name, one in value.items()]


def _parameters(value: Any) -> dict[str, list[str]]:
    """Return the values of each parameter as a list, even if there is only one."""
    if not isinstance(value, Mapping):
        raise TypeError
    found = {
        _text(name): [_word(values)] if isinstance(values, Real) else _list_of(_word)(values)
        for name, values in value.items()
    }
    if not all(found.values()):  # an empty list would become one empty text
        raise ValueError
    return found


def _function(value: Any) -> Any:
    if not callable(value):
        raise TypeError
    return value


@dataclass(frozen=True)
class ArgumentKind:
    """What an argument takes."""

    words: str
    """For the end of a sentence: `pairs takes a whole number`."""
    read: Callable[[Any], Any]
    way_out: Callable[[Any], str] = lambda _: ""
    """Returns what to say after a value that it does not take."""


_TEXT = ArgumentKind("a text", _text)
_TEXTS = ArgumentKind("a text, or a list of texts", _list_of(_text))
_PATH = ArgumentKind("the path of a file, as a text or a Path", _path)
_FLAG = ArgumentKind("True or False", _flag)
_WHOLE_NUMBER = ArgumentKind("a whole number", _whole_number)
_DURATION = ArgumentKind("a number of seconds, or a text as '2m'", _number_or_text)
_FRACTION = ArgumentKind("a part of 1 as 0.01, or a text in percent as '1%'", _number_or_text)
_AMOUNT = ArgumentKind("a number, or a text as '64M'", _amount)

ARGUMENT_KINDS: Mapping[str, ArgumentKind] = {
    "command": ArgumentKind("one command line, as a text or the Path of a program", _command, _command_advice),
    "commands": ArgumentKind(
        "command lines, each as a text or the Path of a program", _list_of(_command), _command_advice
    ),
    "folder": ArgumentKind("the path of a folder, as a text or a Path", _path),
    "files": ArgumentKind("paths of files, each as a text or a Path", _list_of(_path)),
    "progress": ArgumentKind("a function", _function),
    "cpu": ArgumentKind("the number of a processor, or 'auto'", _processor),
    "environment": ArgumentKind(
        "a dictionary of names (without =) with their values: {'NAME': 'value', 'PASSED_ON': None}", _variables
    ),
    "parameters": ArgumentKind("a dictionary of names with their values: {'size': [1, 10, 100]}", _parameters),
    **dict.fromkeys(("path", "stdin", "output"), _PATH),
    **dict.fromkeys(("margin", "alpha"), _FRACTION),
    **dict.fromkeys(("max_time", "build_timeout", "timeout", "wait_quiet"), _DURATION),
    **dict.fromkeys(("bytes", "items"), _AMOUNT),
    **dict.fromkeys(("names", "targets", "metrics", "benchmarks", "tags"), _TEXTS),
    **dict.fromkeys(HOOKS, _TEXTS),
    **dict.fromkeys(("name", "format", "side", "metric", "library"), _TEXT),
    **dict.fromkeys(("base", "candidate", "build", "harness", "family", "pairing", "caches", "weights"), _TEXT),
    **dict.fromkeys(("pairs", "launches", "layouts", "warmup", "repeat", "seed", "jobs", "loops"), _WHOLE_NUMBER),
    **dict.fromkeys(
        ("heap", "heap_shuffle", "own_addresses", "own_starts", "control", "reference_output", "shell"), _FLAG
    ),
    **dict.fromkeys(("ignore_failure", "isolate", "inherit_environment", "watch"), _FLAG),
    **dict.fromkeys(("call_graph", "body", "after_start", "force", "same_conditions"), _FLAG),
}
"""What each argument takes, by name; the same in all functions."""
