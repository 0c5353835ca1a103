"""What is said of an exception: where in the user's own files it came up, its type and its message."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType


class BodyError(Exception):
    """The user's code raised, or is not what a benchmark has to be. Its cause is the exception, if there was one."""


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


def _message(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return str(error.msg)
    try:
        return str(error)
    except Exception:  # the user's exception, whose own text fails
        return ""
