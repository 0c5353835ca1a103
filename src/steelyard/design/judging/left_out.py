"""What a number leaves out of a launch, or includes of others, without showing it.

That is memory of small programs, threads beside the main one, and what others do while a launch sleeps.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from steelyard.design.judging.common import least_share, of_sides
from steelyard.model.findings import Finding
from steelyard.model.records import Run, Weighing
from steelyard.model.rows import USED

# A process starts on the memory of the one that creates it, which the kernel counts as its own. The launch server has
# had 1.9 to 3.6 MiB, the copy of it that starts two at once 0.7 to 1.2.
_LARGEST_SERVER_BYTES = 4 << 20
_MAIN_THREAD_METRICS = ("delay", "timeslices")
_LEAST_SHARE_ASLEEP = 1 / 3
# Of shorter launches, the start of the process is a good part, which is not the program's own work.
_SHORTEST_LAUNCH_NS = 5_000_000
_PROCESSOR_METRICS = ("cpu", "user", "sys", "task_clock")


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


def asleep_finding(record: Weighing | Run, benchmark: int, metric: str) -> Finding | None:
    """Return a finding if launches of a side slept for much of their time, with what the metric has of that."""
    if metric not in ("active", *_PROCESSOR_METRICS) or not (asleep := _shares_asleep(record, benchmark)):
        return None
    sleeps = f"a launch{of_sides(record, asleep)} sleeps for {least_share(asleep.values())} of its time"
    if metric == "active":
        message = f"{sleeps}: active includes what another program, such as a server, does for it meanwhile, and "
        return Finding(code="asleep", message=f"{message}the time for which that program waits for a processor")
    return Finding(
        code="asleep",
        message=f"{sleeps}: {metric} includes nothing of that, nor of what another program, such as a server, does for "
        "it meanwhile",
        remedy=None if {"active", "wall"} & {*record.settings.metrics} else "--metric wall judges that as well",
    )


def is_asleep(record: Weighing | Run, benchmark: int) -> bool:
    """Return whether launches of a command slept for much of their time, as they do while a server works for them."""
    return bool(_shares_asleep(record, benchmark))


def _shares_asleep(record: Weighing | Run, benchmark: int) -> dict[int, float]:
    """Return by side, 0 or 1, the part of a command's time, less its waits for a processor, that it slept, if much."""
    if record.settings.harness is not None:
        return {}
    launches = record.launches
    awake_ns, ready_ns = launches.metric("cpu"), launches.column("wall_ns") - launches.waited_ns()
    # Threads that a timer wakes hide how long others wait for a processor: whenever any task waited, it may have been
    # these.
    nobody_waited_ns = launches.column("wall_ns") - np.nan_to_num(launches.column("pressure_ns"))
    is_told = launches.knows_waits() & (launches.worked_alone() | (nobody_waited_ns > awake_ns))
    known, sides = launches.of(benchmark, USED) & is_told, np.asarray(launches.side)
    shares: dict[int, float] = {}
    for side in (0, 1):
        mask = known & (sides == side)
        # All launches of a side tell whether they are long enough: a few that another program delayed are unlike the
        # rest.
        if mask.any() and np.median(ready_ns[mask]) >= _SHORTEST_LAUNCH_NS:
            share = float(1 - np.median(awake_ns[mask] / np.maximum(ready_ns[mask], 1)))
            if share >= _LEAST_SHARE_ASLEEP:
                shares[side] = share
    return shares
