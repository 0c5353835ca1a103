"""Whether one side waits for a processor more than the other: a cost that neither `active` nor repeated pairs show."""

from __future__ import annotations

from math import expm1

import numpy as np

from steelyard.model.findings import Finding
from steelyard.model.launches import FloatArray, Launches
from steelyard.model.rows import DISTURBED, DISTURBED_SHARE, ROLES, USED
from steelyard.report import figures
from steelyard.stats.leaning import Leaning, leaning
from steelyard.stats.signed_rank import estimate

# No more than this share of identical programs is called uneven, whatever the noise (benchmarks/uneven_waits.py).
LEVEL = 0.001
# A program that runs longer than the other by more than this factor is expected to wait more, and its verdict says
# enough.
MOST_LONGER = 1.25
# The metrics that other work lengthens, or that leave out what it does.
_TIME_METRICS = ("wall", "active", "cpu", "user", "sys")


def waits_finding(launches: Launches, benchmark: int, metric: str, alpha: float) -> Finding | None:
    """Return a finding if the launches of one side waited more often, with what all pairs together say of wall time."""
    pairs = np.concatenate([launches.complete_pairs(benchmark, role) for role in (USED, DISTURBED)])
    if metric not in _TIME_METRICS or not len(pairs):
        return None
    if metric == "wall" and ROLES.index(DISTURBED) not in launches.role:
        return None
    found = uneven_waits(launches.column("wall_ns")[pairs], launches.waited_ns()[pairs])
    if found is None:
        return None
    times = launches.metric("wall")[pairs]
    if not (times > 0).all():
        return None
    change = figures.change(expm1(estimate(np.log(times[:, 1] / times[:, 0]), alpha).centre))
    return _uneven_waits_finding(found, metric, change)


def uneven_waits(wall: FloatArray, delay: FloatArray) -> Leaning | None:
    """Return how much more often one side's launches waited, from times (pairs, 2); None if that may be chance."""
    worked = np.median(np.maximum(wall - delay, 1.0), axis=0)
    if np.isnan(worked).any() or worked.max() > MOST_LONGER * worked.min():
        return None
    # One bar for both launches of a pair: relative to its own time, the longer one would have waited less in an equal
    # wait.
    disturbed = delay > DISTURBED_SHARE * wall.mean(axis=1, keepdims=True)
    found = leaning(disturbed, float(worked[1] / worked.sum()))
    return found if found.p_value <= LEVEL else None


def _uneven_waits_finding(found: Leaning, metric: str, change: str) -> Finding:
    sides = {"baseline": found.baseline, "candidate": found.candidate}
    less, more = sorted(sides, key=lambda side: sides[side])
    often, seldom = figures.whole_percent(sides[more]), figures.whole_percent(sides[less])
    hidden = "some pairs that waited were repeated" if metric == "wall" else f"{metric} leaves waits out"
    return Finding(
        code="uneven-waits",
        message=f"the {more} waited for a processor in {often} of its launches, the {less} in {seldom}, which is "
        f"hardly chance (p = {found.p_value:.1g}): {hidden}, and all pairs together say {change} of wall time",
        remedy="waits of its own making (more threads or wake-ups) are a cost: in that case go by that change",
    )
