"""A first launch that did far more than those that are judged: they may find its work done, as a build's second run."""

from __future__ import annotations

import numpy as np

from steelyard.model.findings import Finding
from steelyard.model.records import Run, Weighing
from steelyard.model.rows import USED, WARM_UP
from steelyard.report.figures import duration

_MUCH_LONGER = 10
_MUCH_LONGER_NS = 20_000_000


def first_launch_finding(record: Weighing | Run, benchmark: int) -> Finding | None:
    """Return a finding if a launch of the warm-up worked ten times as long as its side's judged ones, or more.

    The time on processors is compared, as a program whose files have to be read from the disk first takes longer, too.
    """
    launches, settings = record.launches, record.settings
    if settings.harness is not None or settings.prepare:
        return None
    worked_ns, sides = launches.column("cpu_ns"), np.asarray(launches.side)
    warm_ups, judged = launches.of(benchmark, WARM_UP), launches.of(benchmark, USED)
    for side in np.unique(sides[warm_ups]):
        first_ns, later_ns = worked_ns[warm_ups & (sides == side)], worked_ns[judged & (sides == side)]
        if not later_ns.size:
            continue
        longest_ns, usual_ns = float(first_ns.max()), float(np.median(later_ns))
        if longest_ns >= max(_MUCH_LONGER * usual_ns, usual_ns + _MUCH_LONGER_NS):
            return Finding(
                code="first-launch",
                message=f"the warm-up took {duration(longest_ns)} of a processor, and a launch that is judged "
                f"{duration(usual_ns)}: these may find its work done, as make does",
                remedy="if that work is to be measured, --prepare CMD takes away what a launch leaves, before each",
            )
    return None
