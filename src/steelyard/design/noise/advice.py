"""The pairing and the processor that are worth taking on this machine, told from pairs run either way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from steelyard.design.noise.spreads import Kind
from steelyard.model.noise import Spread, Way, Work

# A way has to cost clearly less time: so few pairs tell a ratio of costs no better.
CLEARLY = 0.6
_LONG_MS = 50.0


def pairing_of(kinds: Mapping[tuple[Work, Way], Kind]) -> Way:
    """Tandem, where the loop and the walk both need clearly less time that way."""
    costs = [cost for work in ("loop", "memory") if (cost := tandem_cost(kinds, work)) is not None]
    return "tandem" if costs and max(costs) < CLEARLY else "adjacent"


def tandem_cost(kinds: Mapping[tuple[Work, Way], Kind], work: Work, ms: float = _LONG_MS) -> float | None:
    """What a verdict takes in tandem, as a part of the time that it takes with pairs one after the other."""
    adjacent, tandem = kinds.get((work, "adjacent")), kinds.get((work, "tandem"))
    return None if adjacent is None or tandem is None else _cost(tandem, ms) / _cost(adjacent, ms)


def _cost(kind: Kind, ms: float) -> float:
    return kind.deviation(ms) ** 2 * kind.seconds_per_pair(ms)


def pinned_costs(found: Sequence[Spread]) -> dict[int, float]:
    """By processor, what a verdict takes when pinned to it, as a part of what it takes where the scheduler puts it."""
    pinned = [one for one in found if one.cpu is not None]
    free = {(one.work, one.wanted_ms): one for one in found if one.cpu is None and one.pairing == "adjacent"}
    return {
        one.cpu: _spread_cost(one) / cost
        for one in pinned
        if one.cpu is not None
        and (other := free.get((one.work, one.wanted_ms))) is not None
        and (cost := _spread_cost(other)) > 0
    }


def processor_of(found: Sequence[Spread]) -> int | None:
    """The processor on which verdicts take clearly less time than where the scheduler puts launches."""
    costs = pinned_costs(found)
    best = min(costs, key=lambda cpu: costs[cpu], default=None)
    return best if best is not None and costs[best] < CLEARLY else None


def _spread_cost(one: Spread) -> float:
    return one.deviation**2 * one.seconds_per_pair
