"""Fixed work, whose time tells of what no counter does: others on the same core, caches or host, and the clock rate."""

from __future__ import annotations

import time
from collections.abc import Callable
from zlib import crc32

# A microsecond of arithmetic within the first cache. Of more than 5 KiB others could have the interpreter meanwhile.
_WORK = bytes(4096)
# What else the machine does in a microsecond hits one of them, or two.
_TIMES = 8


def fixed_work_ns(clock_ns: Callable[[], int] = time.perf_counter_ns) -> int:
    """What the work takes now, ns: the least of a few times."""
    taken = []
    for _ in range(_TIMES):
        begun_ns = clock_ns()
        crc32(_WORK)
        taken.append(clock_ns() - begun_ns)
    return min(taken)
