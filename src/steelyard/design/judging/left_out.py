"""What a number leaves out of a launch without showing it: memory of small programs, threads beside the main one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from steelyard.model.kept import Finding
from steelyard.model.records import Run, Weighing
from steelyard.model.rows import ROLES, USED

# A process starts on the memory of the one that creates it, which the kernel counts as its own. The launch server has
# had 1.9 to 3.6 MiB.
_SERVER_BYTES = 4 << 20
_USED = ROLES.index(USED)
_OF_MAIN_THREAD = ("delay", "timeslices")


def left_out_findings(record: Weighing | Run, benchmark: int, shown: str) -> list[Finding]:
    """Return findings on what the launches of a benchmark have done that is not in the metric."""
    launches = record.launches
    found = None
    if shown == "max_rss":
        each = (launches.metric(shown)[launches.select(benchmark=benchmark, role=_USED, side=side)] for side in (0, 1))
        found = little_memory(float(np.median(values)) for values in each if len(values))
    elif shown in _OF_MAIN_THREAD:
        by_others = ~launches.worked_alone() & ~np.isnan(launches.column("others_ns"))
        found = _main_thread(shown) if by_others[launches.of(benchmark, USED)].any() else None
    return [] if found is None else [found]


def little_memory(each_bytes: Iterable[float]) -> Finding | None:
    """Return a finding if a side's largest resident set may be the launch server's; None if the server had less."""
    if min(each_bytes, default=_SERVER_BYTES) >= _SERVER_BYTES:
        return None
    return Finding(
        code="little-memory",
        message="max_rss is never less than that of the server that starts the launches, 2 to 4 MiB: for a smaller "
        "program it is the server's, and a change below it is not seen",
        remedy="minor_faults counts the pages that a launch touches, --heap what it allocates",
    )


def _main_thread(shown: str) -> Finding:
    return Finding(
        code="main-thread",
        message=f"{shown} is that of the main thread alone, and other threads or child processes did some of the work",
        remedy="voluntary_switches and involuntary_switches are those of all" if shown == "timeslices" else None,
    )
