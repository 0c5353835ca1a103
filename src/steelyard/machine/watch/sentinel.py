"""Fixed work, whose time shows what no counter does: others on the same core, caches or host, and the clock rate."""

from __future__ import annotations

import time
from collections.abc import Callable
from zlib import crc32

# A microsecond of arithmetic within the first cache. With over 5 KiB other threads could get the interpreter meanwhile.
_WORK = bytes(4096)
# A disturbance that is as short as this work hits only one or two of the repetitions.
_REPETITIONS = 8


def fixed_work_ns(clock_ns: Callable[[], int] = time.perf_counter_ns) -> int:
    """Return what the work takes now, in ns: the least of a few repetitions."""
    times_ns = []
    for _ in range(_REPETITIONS):
        begun_ns = clock_ns()
        crc32(_WORK)
        times_ns.append(clock_ns() - begun_ns)
    return min(times_ns)
