"""How a process ended is said the same way in errors and in notes."""

from __future__ import annotations

import pytest

from steelyard.report.endings import how_it_ended_badly, how_it_failed, way_to_fail


@pytest.mark.parametrize(
    ("signal", "said"),
    [
        (11, "SIGSEGV, a segmentation fault"),
        (9, "SIGKILL, as by the kernel where memory runs out"),
        (10, "SIGUSR1"),
        (40, "signal 40"),
    ],
)
def test_a_signal_has_its_name_and_what_it_means_wherever_it_is_said(signal: int, said: str) -> None:
    """A user who reads a number looks it up."""
    assert way_to_fail(None, signal) == said
    assert how_it_failed(None, signal) == how_it_ended_badly(-signal) == f"was killed by {said}"


def test_an_exit_status_is_said() -> None:
    """And none where it ended well."""
    assert way_to_fail(3, None) == "exit status 3"
    assert how_it_failed(3, None) == "failed with exit status 3"
    assert how_it_failed(0, None) is None
