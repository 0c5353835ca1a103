"""What is said of what goes wrong, and the exit status for it."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

DONE, RAISED, USAGE, INTERRUPTED = 0, 1, 2, 130
STATEMENT = "<timeit>"
"""What tracebacks call the file of a statement."""


class BodyError(Exception):
    """The user's code raised, or is not what a benchmark has to be. Its cause is the exception, if there was one."""


def complain(message: str) -> int:
    """Say on stderr what is wrong with the command line; the exit status for that."""
    print(f"steelyard.harness: {message}", file=sys.stderr)
    return USAGE


def fault(error: BaseException, files: Mapping[str, str]) -> str:
    """What a benchmark did wrong, in a line as of `told`; its traceback goes to stderr, from these files on."""
    if isinstance(error, BodyError):
        return str(error)
    error.with_traceback(_from_first(error.__traceback__, files))
    sys.__excepthook__(type(error), error, error.__traceback__)
    return told(error, files)


def _from_first(trace: TracebackType | None, files: Mapping[str, str]) -> TracebackType | None:
    """A traceback without what called the user's code; all of it where there is none of that in it."""
    first = trace
    while first is not None and first.tb_frame.f_code.co_filename not in files:
        first = first.tb_next
    return first or trace


def told(error: BaseException, files: Mapping[str, str]) -> str:
    """`bench_x.py:12: ValueError: bad`, with the innermost line in one of these files, called by their labels."""
    place = _place(error, files)
    what = type(error).__name__
    message = _message(error)
    return f"{place}{what}: {message}" if message else f"{place}{what}"


def _place(error: BaseException, files: Mapping[str, str]) -> str:
    if isinstance(error, SyntaxError) and error.filename is not None and error.filename in files:
        return f"{files[error.filename]}:{error.lineno}: "
    place = ""
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file in files:
            place = f"{files[file]}:{trace.tb_lineno}: "
        trace = trace.tb_next
    return place


def _lacks_a_name(error: BaseException) -> bool:
    """Whether a statement has a name that nothing has defined; not code that it calls."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return isinstance(error, NameError) and trace is not None and trace.tb_frame.f_code.co_filename == STATEMENT


def _message(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return str(error.msg)
    try:
        return f"{error} (--setup CODE runs before it)" if _lacks_a_name(error) else str(error)
    except Exception:  # the user's exception, whose own text fails
        return ""
