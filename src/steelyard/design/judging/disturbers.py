"""What went on beside the launches of a benchmark: the watch, tied to them by time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from steelyard.model.launches import DISTURBED, ROLES, USED, FloatArray, Launches
from steelyard.model.watch import Disturber, Kind, Watch
from steelyard.stats.overlap import rates_within

# From which rate on something was beside a launch, by its kind: of one processor, and for a limit of the launch's time.
_FROM: Final[Mapping[Kind, float]] = {
    "program": 0.1,
    "hidden": 0.5,
    "steal": 0.05,
    "limit": 0.01,
    "heat": 0.5,
    "clock": 0.5,
}
# The kernel tells these in ticks of 10 ms, and the last stretch may be as short: two of them may be less than one.
_IN_TICKS: Final[frozenset[Kind]] = frozenset({"program", "hidden", "steal"})
_FEW_TICKS_NS = 25_000_000
# Of the time of a launch that has to have been watched.
_COVERED = 0.5


def disturbers(launches: Launches, benchmark: int, watch: Watch | None) -> list[Disturber]:
    """Who and what was beside the measured launches of a benchmark, what took most of their time first.

    Nothing is told where the clock began anew between the launches, as it does when the machine starts.
    """
    spans = _spans(launches, benchmark)
    if watch is None or not watch.stretches or not len(spans) or not _is_in_order(spans[:, 0], watch.edges_ns):
        return []
    lengths = watch.edges_ns[:, 1] - watch.edges_ns[:, 0]
    spans = spans[rates_within(spans, watch.edges_ns, lengths) >= _COVERED]
    found = []
    for (kind, name), amounts in watch.amounts.items():
        told = np.where(amounts < _FEW_TICKS_NS, 0.0, amounts) if kind in _IN_TICKS else amounts
        rates = rates_within(spans, watch.edges_ns, told)
        beside = rates >= _FROM[kind]
        if beside.any():
            count, share = int(beside.sum()), float(rates[beside].mean())
            lost_ns = float((rates * (spans[:, 1] - spans[:, 0]))[beside].sum())
            found.append((lost_ns, Disturber(kind=kind, name=name, launches=count, of=len(spans), share=share)))
    return [told for _, told in sorted(found, key=lambda one: (-one[0], one[1].kind, one[1].name))]


def _spans(launches: Launches, benchmark: int) -> FloatArray:
    """Start and end of each launch that was measured, those of pairs that were repeated too, shape (n, 2)."""
    roles = [ROLES.index(USED), ROLES.index(DISTURBED)]
    of_benchmark = np.asarray(launches.benchmark, dtype=int) == benchmark
    chosen = np.flatnonzero(of_benchmark & np.isin(np.asarray(launches.role, dtype=int), roles))
    starts = launches.column("start_ns")[chosen]
    return np.stack([starts, starts + launches.column("wall_ns")[chosen]], axis=1)


def _is_in_order(starts: FloatArray, edges: FloatArray) -> bool:
    return bool((np.diff(starts) >= 0).all() and (np.diff(edges.reshape(-1)) >= 0).all())
