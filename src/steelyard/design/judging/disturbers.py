"""What went on beside the launches of a benchmark: the watch, tied to them by time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from steelyard.model.launches import DISTURBED, ROLES, USED, Launches
from steelyard.model.watch import Disturber, Kind, Watch
from steelyard.stats.overlap import rates_within

# From which rate on something was beside a launch, by its kind: of one processor, and for a limit of the launch's time.
# The kernel tells stolen and processor time in ticks of 10 ms, of which there are 4 % in the shortest stretch.
_FROM: Final[Mapping[Kind, float]] = {
    "program": 0.1,
    "hidden": 0.5,
    "steal": 0.05,
    "limit": 0.01,
    "heat": 0.5,
    "clock": 0.5,
}
# Of the time of a launch that has to have been watched.
_COVERED = 0.5


def disturbers(launches: Launches, benchmark: int, watch: Watch | None) -> list[Disturber]:
    """Who and what was beside the measured launches of a benchmark, what took most of their time first.

    Nothing is told where the clock began anew between the launches, as it does when the machine starts.
    """
    roles = [ROLES.index(USED), ROLES.index(DISTURBED)]
    chosen = np.flatnonzero((np.asarray(launches.benchmark) == benchmark) & np.isin(np.asarray(launches.role), roles))
    if watch is None or not watch.stretches or not len(chosen):
        return []
    starts = launches.column("start_ns")[chosen]
    edges = watch.edges_ns
    if (np.diff(starts) < 0).any() or (np.diff(edges.reshape(-1)) < 0).any():
        return []
    spans = np.stack([starts, starts + launches.column("wall_ns")[chosen]], axis=1)
    covered = rates_within(spans, edges, edges[:, 1] - edges[:, 0]) >= _COVERED
    found = []
    for (kind, name), amounts in watch.amounts.items():
        rates = rates_within(spans, edges, amounts)
        beside = covered & (rates >= _FROM[kind])
        if beside.any():
            lost = float((rates[beside] * (spans[beside, 1] - spans[beside, 0])).sum())
            told = Disturber(
                kind=kind,
                name=name,
                launches=int(beside.sum()),
                of=int(covered.sum()),
                share=float(rates[beside].mean()),
            )
            found.append((lost, told))
    return [told for _, told in sorted(found, key=lambda one: (-one[0], one[1].kind, one[1].name))]
