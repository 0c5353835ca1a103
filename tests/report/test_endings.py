"""Errors and notes say in the same way how a process ended."""

from __future__ import annotations

import pytest

from steelyard.report.endings import failure_text, first_failure_line, how_it_failed, how_status_failed


@pytest.mark.parametrize(
    ("signal", "said"),
    [
        (11, "SIGSEGV, a segmentation fault"),
        (9, "SIGKILL, as by the kernel where memory runs out, or its processor time (ulimit -t)"),
        (24, "SIGXCPU, the end of its processor time (ulimit -t)"),
        (10, "SIGUSR1"),
        (40, "signal 40"),
    ],
)
def test_a_signal_has_its_name_and_what_it_means_wherever_it_is_said(signal: int, said: str) -> None:
    """A bare number would have to be looked up."""
    assert failure_text(None, signal) == said
    assert how_it_failed(None, signal) == how_status_failed(-signal) == f"was killed by {said}"


def test_an_exit_status_is_said() -> None:
    """There is none if it ended well."""
    assert failure_text(3, None) == "exit status 3"
    assert how_it_failed(3, None) == "failed with exit status 3"
    assert how_it_failed(0, None) is None


def test_what_tells_of_a_failure_is_told_from_what_programs_warn_of() -> None:
    warned = [
        "WARNING: All illegal access operations will be denied in a future release",
        "in.py:3: SyntaxWarning: invalid escape sequence '\\d'",
        "cc -Wfatal-errors -fno-exceptions -c a.c",
        "   Compiling thiserror v1.0.2",
        "==7== ERROR SUMMARY: 0 errors from 0 contexts",
    ]
    assert first_failure_line(warned) is None
    assert first_failure_line([*warned, "sort: cannot read: in: Permission denied"]) is not None
    said = ("Usage: prog FILE", "temporary failure in name resolution", "Connection refused", "KeyError: 'in'")
    for line in (*said, "bash: warning: setlocale: LC_ALL: cannot change locale (xx)"):
        assert first_failure_line([line]) == line
