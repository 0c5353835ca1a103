"""How a failed process ended, in words, and which of its own words tell of a failure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from signal import Signals
from typing import Final

# Signals that a program gets for what it does, or from somebody other than its user.
_MEANINGS: Final[Mapping[int, str]] = {
    Signals.SIGHUP: "as of a terminal that was closed",
    Signals.SIGINT: "as by Ctrl-C",
    Signals.SIGILL: "an illegal instruction",
    Signals.SIGTRAP: "a breakpoint or trap",
    Signals.SIGABRT: "as by abort() or a failed assertion",
    Signals.SIGBUS: "a bus error",
    Signals.SIGFPE: "an arithmetic error, as a division by zero",
    Signals.SIGKILL: "as by the kernel where memory runs out, or its processor time (ulimit -t)",
    Signals.SIGSEGV: "a segmentation fault",
    Signals.SIGPIPE: "as it wrote to a pipe that nobody reads",
    Signals.SIGALRM: "its own alarm clock",
    Signals.SIGTERM: "a request to end",
    Signals.SIGPROF: "a profiler's timer",
    Signals.SIGXCPU: "the end of its processor time (ulimit -t)",
    Signals.SIGXFSZ: "the end of its file size (ulimit -f)",
    Signals.SIGSYS: "a forbidden system call",
}

# What programs write, in lower case, when they cannot do what they were asked for.
_FAILURE_PHRASES = (
    *("error:", "error[", "fatal:", "fatal error", "exception:", "exception in ", "traceback (", "panicked at"),
    *("failed to", "failed:", "failed.", "failure:", "cannot ", "can't ", "could not ", "unable to "),
    *("no such file", "not found", "permission denied", "access denied", "usage:", "unrecognized ", "unrecognised "),
    *("unknown option", "unknown command", "illegal option", "operation not supported", "core dumped"),
    *("invalid option", "invalid argument", "invalid value", "invalid choice", "invalid input"),
    *("a terminal", "not a tty", "variable not set"),
    *("connection refused", "already in use", "timed out", "unreachable", "name resolution"),
)


def how_it_failed(exit_code: int | None, signal: int | None) -> str | None:
    """Say how a process failed, as a clause; None if it ended by itself with exit status 0."""
    if signal is not None:
        return f"was killed by {failure_text(None, signal)}"
    return f"failed with {failure_text(exit_code, None)}" if exit_code else None


def how_status_failed(status: int) -> str | None:
    """Do as `how_it_failed` for a status that is negative if a signal ended the process."""
    return how_it_failed(None, -status) if status < 0 else how_it_failed(status, None)


def failure_text(exit_code: int | None, signal: int | None) -> str:
    """Return the exit status, or the signal and what it means."""
    if signal is None:
        return f"exit status {exit_code}"
    name, meaning = signal_name(signal), _MEANINGS.get(signal)
    return name if meaning is None else f"{name}, {meaning}"


def signal_name(number: int) -> str:
    """Return a signal's name, or its number if it has none."""
    try:
        return Signals(number).name
    except ValueError:
        return f"signal {number}"


def reads_like_failure(text: str) -> bool:
    """Return whether a program's output reads as if it could not do what it was asked for."""
    lower = text.lower()
    return any(phrase in lower for phrase in _FAILURE_PHRASES)


def first_failure_line(lines: Iterable[str]) -> str | None:
    """Return the first of these lines that reads like a failure; None if none does."""
    return next(filter(reads_like_failure, lines), None)
