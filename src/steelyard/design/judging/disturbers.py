"""What went on beside the launches of a benchmark: the watch, matched to them by time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from steelyard.model.launches import FloatArray, Launches
from steelyard.model.rows import DISTURBED, USED
from steelyard.model.watch import Cause, Disturber, Kind, Watch
from steelyard.stats.overlap import rates_within
from steelyard.stats.shifts import chances_of_higher

Indices = npt.NDArray[np.intp]

# The rate from which on something counts as beside a launch, by its kind: a share of one processor, or for a limit of
# the launch's time.
_LEAST_RATES: Final[Mapping[Kind, float]] = {
    "program": 0.1,
    "hidden": 0.5,
    "steal": 0.05,
    "limit": 0.01,
    "heat": 0.5,
    "clock": 0.5,
    "speed": 0.5,
    "interrupts": 0.5,
    "still": 0.01,
}
# The kernel tells these in ticks of 10 ms, and the last stretch may be as short: two ticks may stand for less than one.
# What is hidden is what no program has of the processors' ticks, and each running one may have a tick more or less.
_LEAST_CERTAIN_NS: Final[Mapping[Kind, int]] = {"program": 25_000_000, "hidden": 55_000_000, "steal": 25_000_000}
# These tell why the processor was slower.
_SLOWING_KINDS: Final[frozenset[Kind]] = frozenset({"heat", "clock", "interrupts"})
# The share of a launch's time that has to have been watched.
_LEAST_WATCHED_SHARE = 0.5
# These are told only if launches took longer, too: by this share, and with no more than this chance that any of a kind
# does so by accident. The rate of a processor on which nothing runs is low, and which ones the launches have is not
# known.
_KINDS_WITH_SLOWDOWN: Final[frozenset[Kind]] = frozenset({"clock", "speed", "interrupts"})
_LEAST_SLOWDOWN, _MOST_CHANCE = 0.01, 0.02


def disturbers(launches: Launches, benchmark: int, watch: Watch | None) -> list[Disturber]:
    """Return who and what was beside the measured launches of a benchmark, what took most of their time first.

    Nothing is told if the clock began anew between the launches, as it does when the machine starts.
    """
    measured = np.flatnonzero(launches.of(benchmark, USED, DISTURBED))
    spans = launches.spans_ns()[measured]
    if watch is None or not watch.stretches or not len(spans) or not _is_in_order(spans, watch.edges_ns):
        return []
    lengths = watch.edges_ns[:, 1] - watch.edges_ns[:, 0]
    covered = rates_within(spans, watch.edges_ns, lengths) >= _LEAST_WATCHED_SHARE
    measured, spans = measured[covered], spans[covered]
    rates_of: dict[Cause, FloatArray] = {}
    for (kind, name), amounts in watch.amounts.items():
        told = np.where(amounts < _LEAST_CERTAIN_NS.get(kind, 0), 0.0, amounts)
        rates_of[kind, name] = rates_within(spans, watch.edges_ns, told)
    if len(watch.still_ns):
        rates_of["still", ""] = rates_within(spans, watch.still_ns, watch.still_ns[:, 1] - watch.still_ns[:, 0])
    for kind in _KINDS_WITH_SLOWDOWN:
        _replace_by_slowdowns(rates_of, kind, launches, measured)
    found = []
    for (kind, name), rates in rates_of.items():
        beside = rates >= (_LEAST_SLOWDOWN if kind in _KINDS_WITH_SLOWDOWN else _LEAST_RATES[kind])
        if beside.any():
            count, share = int(beside.sum()), float(rates[beside].mean())
            lost_ns = float((rates * (spans[:, 1] - spans[:, 0]))[beside].sum())
            found.append((lost_ns, Disturber(kind=kind, name=name, launches=count, of=len(spans), share=share)))
    if any(told.kind in _SLOWING_KINDS for _, told in found):
        found = [one for one in found if one[1].kind != "speed"]
    return [told for _, told in sorted(found, key=lambda one: (-one[0], one[1].kind, one[1].name))]


def _replace_by_slowdowns(rates_of: dict[Cause, FloatArray], kind: Kind, launches: Launches, measured: Indices) -> None:
    """Replace a kind's rates by how much longer launches beside it took; by 0 where that may be chance.

    It compares the launches' own times, without waits, with the median of their side.
    """
    beside = {cause: rates >= _LEAST_RATES[kind] for cause, rates in rates_of.items() if cause[0] == kind}
    if not beside:
        return
    waits = np.where(launches.knows_waits(), launches.waited_ns(), 0.0)
    logs = np.log(np.maximum(launches.column("wall_ns") - waits, 1.0))[measured]
    sides = np.asarray(launches.side, dtype=int)[measured]
    for side in np.unique(sides):
        logs[sides == side] -= np.median(logs[sides == side])
    for (cause, marked), chance in zip(beside.items(), chances_of_higher([*beside.values()], logs), strict=True):
        is_clear = chance <= _MOST_CHANCE
        slowdown = np.expm1(np.median(logs[marked]) - np.median(logs[~marked])) if is_clear else 0.0
        rates_of[cause] = np.where(marked, slowdown, 0.0)


def _is_in_order(spans: FloatArray, edges: FloatArray) -> bool:
    # Of two launches in tandem either may be let go first.
    return bool((spans[1:, 1] >= spans[:-1, 0]).all() and (np.diff(edges.reshape(-1)) >= 0).all())
