"""Processes forked on both sides: how those of one benchmark find each other."""

from __future__ import annotations

import gc
import os
import socket
import warnings

from steelyard.harness.forks import Beside


def test_both_sides_meet_and_leave_no_socket_that_nobody_closes() -> None:
    """Its warning fails a session of pytest whose warnings are errors, and so the start that serves all benchmarks."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        links = [end.detach() for end in socket.socketpair()]
        one, other = map(Beside, links)
        (first, processor), (second, same) = one.meet("0"), other.meet("1")
        del one, other
        gc.collect()
    assert [str(warning.message) for warning in seen] == []
    assert processor == same
    os.write(first, b"x")
    assert os.read(second, 2) == b"x"
    for descriptor in (first, second, *links):
        os.close(descriptor)
