"""Specs of shells and sleepers, and a signal in the middle of a launch."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from steelyard.model.launch_spec import LaunchSpec

# Far longer than anything here takes; a hang becomes a failure instead.
PATIENCE_NS = 60 * 10**9
BUSY = b"i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"


def program(path: bytes, *arguments: bytes, **changes: Any) -> LaunchSpec:
    return LaunchSpec(program=path, argv=(path, *arguments), env=(), **changes)


def sh(script: bytes, *arguments: bytes, **changes: Any) -> LaunchSpec:
    spec: dict[str, Any] = {"env": (), "timeout_ns": PATIENCE_NS, **changes}
    return LaunchSpec(program=b"/bin/sh", argv=(b"sh", b"-c", script, b"sh", *arguments), **spec)


@contextmanager
def alarm(seconds: float, action: Callable[[], object], again: float = 0.0) -> Iterator[None]:
    """Call `action` in a signal handler after so many seconds; if `again` is not 0, also each `again` seconds later."""
    before = signal.signal(signal.SIGALRM, lambda *_: action())
    signal.setitimer(signal.ITIMER_REAL, seconds, again)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


SLEEPER = LaunchSpec(program=b"/bin/sleep", argv=(b"sleep", b"600"), env=(), timeout_ns=PATIENCE_NS)
