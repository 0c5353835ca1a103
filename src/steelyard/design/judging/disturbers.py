"""What went on beside the launches of a benchmark: the watch, tied to them by time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from steelyard.model.launches import DISTURBED, ROLES, USED, FloatArray, Launches
from steelyard.model.watch import Disturber, Kind, Watch
from steelyard.stats.overlap import rates_within
from steelyard.stats.shifts import chance_of_higher

Indices = npt.NDArray[np.intp]

# From which rate on something was beside a launch, by its kind: of one processor, and for a limit of the launch's time.
_FROM: Final[Mapping[Kind, float]] = {
    "program": 0.1,
    "hidden": 0.5,
    "steal": 0.05,
    "limit": 0.01,
    "heat": 0.5,
    "clock": 0.5,
    "speed": 0.5,
}
# The kernel tells these in ticks of 10 ms, and the last stretch may be as short: two of them may be less than one.
_IN_TICKS: Final[frozenset[Kind]] = frozenset({"program", "hidden", "steal"})
_FEW_TICKS_NS = 25_000_000
# They tell why the processor was slower.
_SLOWING: Final[frozenset[Kind]] = frozenset({"heat", "clock"})
# Of the time of a launch that has to have been watched.
_COVERED = 0.5
# That the processor was slower is said if launches were, too: by so much, and by chance once in so many times at most.
_LONGER, _CHANCE = 0.01, 0.02


def disturbers(launches: Launches, benchmark: int, watch: Watch | None) -> list[Disturber]:
    """Who and what was beside the measured launches of a benchmark, what took most of their time first.

    Nothing is told where the clock began anew between the launches, as it does when the machine starts.
    """
    measured = _measured(launches, benchmark)
    spans = launches.spans_ns()[measured]
    if watch is None or not watch.stretches or not len(spans) or not _is_in_order(spans[:, 0], watch.edges_ns):
        return []
    lengths = watch.edges_ns[:, 1] - watch.edges_ns[:, 0]
    covered = rates_within(spans, watch.edges_ns, lengths) >= _COVERED
    measured, spans = measured[covered], spans[covered]
    found = []
    for (kind, name), amounts in watch.amounts.items():
        told = np.where(amounts < _FEW_TICKS_NS, 0.0, amounts) if kind in _IN_TICKS else amounts
        rates = rates_within(spans, watch.edges_ns, told)
        beside = rates >= _FROM[kind]
        if kind == "speed":
            rates = np.where(beside, _longer(launches, measured, beside), 0.0)
            beside = rates >= _LONGER
        if beside.any():
            count, share = int(beside.sum()), float(rates[beside].mean())
            lost_ns = float((rates * (spans[:, 1] - spans[:, 0]))[beside].sum())
            found.append((lost_ns, Disturber(kind=kind, name=name, launches=count, of=len(spans), share=share)))
    if any(told.kind in _SLOWING for _, told in found):
        found = [one for one in found if one[1].kind != "speed"]
    return [told for _, told in sorted(found, key=lambda one: (-one[0], one[1].kind, one[1].name))]


def _longer(launches: Launches, measured: Indices, beside: npt.NDArray[np.bool_]) -> float:
    """By how much those launches took longer that were `beside` something; 0 where that may be chance.

    Compared are their own times, without waits, with the usual one of their side.
    """
    waits = np.where(launches.knows_waits(), launches.waited_ns(), 0.0)
    logs = np.log(np.maximum(launches.column("wall_ns") - waits, 1.0))[measured]
    sides = np.asarray(launches.side, dtype=int)[measured]
    for side in np.unique(sides):
        logs[sides == side] -= np.median(logs[sides == side])
    if chance_of_higher(beside, logs) > _CHANCE:
        return 0.0
    return float(np.expm1(np.median(logs[beside]) - np.median(logs[~beside])))


def _measured(launches: Launches, benchmark: int) -> Indices:
    """The launches that were measured, those of pairs that were repeated too."""
    roles = [ROLES.index(USED), ROLES.index(DISTURBED)]
    of_benchmark = np.asarray(launches.benchmark, dtype=int) == benchmark
    return np.flatnonzero(of_benchmark & np.isin(np.asarray(launches.role, dtype=int), roles))


def _is_in_order(starts: FloatArray, edges: FloatArray) -> bool:
    return bool((np.diff(starts) >= 0).all() and (np.diff(edges.reshape(-1)) >= 0).all())
