"""Launches that slept for much of their time: a metric may have in it, or leave out, what others did for them then."""

from __future__ import annotations

import numpy as np

from steelyard.design.judging.failures import SIDES
from steelyard.model.kept import Finding
from steelyard.model.launches import USED
from steelyard.model.records import Run, Weighing
from steelyard.report.figures import whole_percent

_MOST_ASLEEP = 1 / 3
# Of less the start of a process is a good part, which is work that is not its own.
_LEAST_NS = 5_000_000
_OF_A_PROCESSOR = ("cpu", "user", "sys", "task_clock")


def asleep_finding(record: Weighing | Run, benchmark: int, shown: str) -> Finding | None:
    """Say that launches of a side slept for much of their time, and what the metric has of it; None otherwise."""
    if record.settings.harness is not None or shown not in ("active", *_OF_A_PROCESSOR):
        return None
    share, side = max(_shares(record, benchmark), default=(0.0, 0))
    if share < _MOST_ASLEEP:
        return None
    whose = f" of the {SIDES[side]}" if isinstance(record, Weighing) else ""
    sleeps = f"a launch{whose} sleeps for {whole_percent(share)} of its time"
    if shown == "active":
        return Finding(
            code="asleep",
            message=f"{sleeps}: what another program, as a server, does for it meanwhile is in active, and so is what "
            "that one waits for a processor",
        )
    return Finding(
        code="asleep",
        message=f"{sleeps}: nothing of that is in {shown}, nor of what another program, as a server, does for it "
        "meanwhile",
        remedy=None if {"active", "wall"} & {*record.settings.metrics} else "--metric wall judges that as well",
    )


def _shares(record: Weighing | Run, benchmark: int) -> list[tuple[float, int]]:
    """Of each side, that is 0 or 1, the part of a launch's time, but for its waits for a processor, that it slept."""
    launches = record.launches
    awake_ns, ready_ns = launches.metric("cpu"), launches.column("wall_ns") - launches.waited_ns()
    known = launches.of(benchmark, USED) & launches.knows_waits() & (ready_ns >= _LEAST_NS)
    sides = np.asarray(launches.side)
    chosen = [known & (sides == side) for side in (0, 1)]
    return [(float(1 - np.median(awake_ns[one] / ready_ns[one])), side) for side, one in enumerate(chosen) if one.any()]
