"""Messages and exit statuses for what goes wrong."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType

DONE, RAISED, USAGE, INTERRUPTED = 0, 1, 2, 130
STATEMENT = "<timeit>"
"""The file name of a statement in tracebacks."""
# What unittest and pytest raise to skip; by name, as to import either would cost each launch its time.
_SKIPS = {("unittest.case", "SkipTest"), ("builtins", "Skipped")}


class BodyError(Exception):
    """The user's code cannot be measured as a benchmark; the message says why."""


def complain(message: str) -> int:
    """Say on stderr what is wrong with the command line; return the exit status for that."""
    print(f"steelyard.harness: {message}", file=sys.stderr)
    return USAGE


def skipped(error: BaseException) -> str | None:
    """Return what is said of a benchmark that skips itself by this; None if the error is no skip."""
    if not any((one.__module__, one.__qualname__) in _SKIPS for one in type(error).__mro__):
        return None
    reason = _message(error)
    return f"it skipped itself: {reason}" if reason else "it skipped itself"


def fault(error: BaseException, files: Mapping[str, str]) -> str:
    """Return what a benchmark did wrong, by `describe_error`; write its traceback, from these files on, to stderr."""
    if isinstance(error, BodyError):
        return str(error)
    error.with_traceback(_traceback_from_user_code(error.__traceback__, files))
    sys.__excepthook__(type(error), error, error.__traceback__)
    return describe_error(error, files)


def _traceback_from_user_code(trace: TracebackType | None, files: Mapping[str, str]) -> TracebackType | None:
    """Return a traceback from the user's code on; all of it if that is not in it."""
    return next((one for one in _from_outside_in(trace) if one.tb_frame.f_code.co_filename in files), trace)


def _from_outside_in(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def describe_error(error: BaseException, files: Mapping[str, str]) -> str:
    """Return `bench_x.py:12: ValueError: bad`, with the innermost line in one of these files, named by their labels."""
    place = _place(error, files)
    kind = type(error).__name__
    message = _message(error)
    return f"{place}{kind}: {message}" if message else f"{place}{kind}"


def _place(error: BaseException, files: Mapping[str, str]) -> str:
    if isinstance(error, SyntaxError) and error.filename is not None and error.filename in files:
        return f"{files[error.filename]}:{error.lineno}: "
    place = ""
    for trace in _from_outside_in(error.__traceback__):
        file = trace.tb_frame.f_code.co_filename
        if file in files:
            place = f"{files[file]}:{trace.tb_lineno}: "
    return place


def _is_undefined_name(error: BaseException) -> bool:
    """Return whether the statement itself, not code that it calls, uses an undefined name."""
    files = [trace.tb_frame.f_code.co_filename for trace in _from_outside_in(error.__traceback__)]
    return isinstance(error, NameError) and files[-1:] == [STATEMENT]


def _message(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return str(error.msg)
    try:
        return f"{error} (--setup CODE runs before it)" if _is_undefined_name(error) else str(error)
    except Exception:  # the text of the user's exception itself raises
        return ""
