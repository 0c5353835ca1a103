"""What a number leaves out of a launch without showing it: memory of small programs, threads beside the main one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from steelyard.model.findings import Finding
from steelyard.model.records import Run, Weighing
from steelyard.model.rows import USED

# A process starts on the memory of the one that creates it, which the kernel counts as its own. The launch server has
# had 1.9 to 3.6 MiB, the copy of it that starts two at once 0.7 to 1.2.
_LARGEST_SERVER_BYTES = 4 << 20
_MAIN_THREAD_METRICS = ("delay", "timeslices")


def left_out_finding(record: Weighing | Run, benchmark: int, metric: str) -> Finding | None:
    """Return a finding on what the launches of a benchmark have done that is not in the metric."""
    launches = record.launches
    if metric == "max_rss":
        side_values = (launches.metric(metric)[launches.judged(benchmark, side)] for side in (0, 1))
        return little_memory_finding(float(np.median(values)) for values in side_values if len(values))
    if metric not in _MAIN_THREAD_METRICS:
        return None
    by_others = ~launches.worked_alone() & ~np.isnan(launches.column("others_ns"))
    if not by_others[launches.of(benchmark, USED)].any():
        return None
    return Finding(
        code="main-thread",
        message=f"{metric} is that of the main thread alone, and other threads or child processes did some of the work",
        remedy="voluntary_switches and involuntary_switches are those of all" if metric == "timeslices" else None,
    )


def little_memory_finding(each_bytes: Iterable[float]) -> Finding | None:
    """Return a finding if a side's largest resident set may be the launch server's; None if the server had less."""
    if min(each_bytes, default=_LARGEST_SERVER_BYTES) >= _LARGEST_SERVER_BYTES:
        return None
    return Finding(
        code="little-memory",
        message="max_rss is never less than that of the server that starts the launches, up to 4 MiB: for a smaller "
        "program it is the server's, and a change below it is not seen",
        remedy="minor_faults counts the pages that a launch touches, --heap what it allocates",
    )
