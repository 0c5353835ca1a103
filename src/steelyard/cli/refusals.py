"""Sentences for what the machine refuses while the tool works (memory, processes, a full disk). Imports little."""

from __future__ import annotations

import errno
import resource
from collections.abc import Iterator

from steelyard.model.errors import ALLOW_CALLS

# What the loader says about a library, and Python about a thread, that finds no room. Their exceptions have no class of
# their own.
_NO_MEMORY = ("failed to map segment", "cannot allocate memory", "cannot create shared object descriptor")
_NO_THREAD = "can't start new thread"

# Address space that the tool takes before it measures, most of it for numpy's linear algebra, on top of the 20 MiB that
# Python has by then.
_START_BYTES = 110 << 20
_LIMITS = (("-v", resource.RLIMIT_AS), ("-d", resource.RLIMIT_DATA))

# How kernels and containers' filters refuse a call that they lack or forbid; no file is involved.
_REFUSED_CALLS = frozenset({errno.ENOSYS, errno.EPERM})


def check_memory() -> None:
    """Raise MemoryError if a limit is too low for the tool to start, where OpenBLAS would end the process."""
    if _memory_limit() is not None:
        import mmap

        try:
            mmap.mmap(-1, _START_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
        except OSError as error:
            raise MemoryError from error


# Those are kept by then; other output, such as that of `doctor`, is kept nowhere else.
_WHILE_WRITING = " while the output was written; a weighing, run or count is kept all the same (steelyard list)"


def refusal(error: BaseException) -> str | None:
    """Return the sentence for an error that the machine causes; None for a mistake of our own."""
    for cause in _with_causes(error):
        text = str(cause)
        if (
            isinstance(cause, MemoryError)
            or _has_number(cause, errno.ENOMEM)
            or any(sign in text.lower() for sign in _NO_MEMORY)
        ):
            return f"there is not enough memory{_memory_advice()}"
        if _has_number(cause, errno.EAGAIN) or (isinstance(cause, RuntimeError) and _NO_THREAD in text):
            return "no more processes or threads can be started here: allow more (ulimit -u, pids.max of a container)"
    if isinstance(error, ImportError):
        return f"a library that steelyard needs cannot be loaded ({_last_line(error)}): reinstall steelyard"
    if isinstance(error, FileNotFoundError) and not error.filename:  # every other missing file has a name
        return f"the current directory cannot be used: {error.strerror}; change to another one"
    if isinstance(error, OSError) and error.errno in _REFUSED_CALLS and not error.filename:
        return f"a system call that steelyard needs is refused here ({error.strerror}): {ALLOW_CALLS}"
    if isinstance(error, OSError):
        what = f": {error.filename}" if error.filename else _WHILE_WRITING
        return f"{error.strerror or error}{what}"
    return None


def _with_causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__  # type: ignore[assignment]


def _has_number(error: BaseException, number: int) -> bool:
    return isinstance(error, OSError) and error.errno == number


def _memory_limit() -> tuple[str, int] | None:
    """Return the option of `ulimit` that limits this process, and how many bytes it allows; None without a limit."""
    for option, resource_kind in _LIMITS:
        limit, _ = resource.getrlimit(resource_kind)
        if limit != resource.RLIM_INFINITY:
            return option, limit
    return None


def _memory_advice() -> str:
    if (found := _memory_limit()) is None:
        return ": end other programs, or measure where there is more"
    option, limit = found
    return f": this process may have {limit >> 20} MiB (ulimit {option}); allow it more, 200 MiB do for small weighings"


def _last_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
