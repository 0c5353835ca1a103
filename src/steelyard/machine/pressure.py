"""Wait for other work on the machine to calm down, by the kernel's pressure information."""

from __future__ import annotations

import time
from collections.abc import Callable

from steelyard.machine.readings import Tree

# Quiet: over a tenth of a second, some task waited for a processor for less than this share of the time.
QUIET_BELOW = 0.05
STEP_S = 0.1
"""The wait goes in steps of this length; a shorter remainder of the allowed time is not used."""


def wait_until_quiet(
    most_s: float,
    *,
    read: Callable[[], float | None] | None = None,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
    give_up: Callable[[], bool] = lambda: False,
) -> float:
    """Wait until the machine is quiet, for at most `most_s` seconds; return how long that took.

    `read` returns the seconds for which tasks have waited for a processor so far, or None where the kernel does not
    tell; then there is no wait. `give_up` is asked before each step.
    """
    waited_so_far = read or _pressure_s
    started = clock()
    before = waited_so_far()
    while before is not None and not give_up() and clock() - started + STEP_S <= most_s:
        sleep(STEP_S)
        now = waited_so_far()
        if now is None or now - before < QUIET_BELOW * STEP_S:
            break
        before = now
    return clock() - started


def _pressure_s() -> float | None:
    waited_us = Tree().waited_us()
    return None if waited_us is None else waited_us / 1e6
