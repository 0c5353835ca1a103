"""The pairing and the processor that are worth choosing on this machine, told from pairs run either way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt

from steelyard.design.noise.spreads import Kind
from steelyard.design.runner.tandem import MOST_SLOWDOWN_IN_TANDEM
from steelyard.model.noise import Spread, Way, Work

# An option has to take less than this part of the time to be worth it.
_WORTHWHILE_PART = 0.6
# The root of 2 / n is the error of a variance's logarithm, told from n normal differences. Real noise has longer tails,
# and there are two processors to try: chance brings two such errors less than once in forty times.
_TAILS, _ERRORS = 2.0, 2.0
_LONG_MS = 50.0


@dataclass(frozen=True)
class Cost:
    """What a verdict takes one way, as a part of the time of the usual way; and how many pairs tell of each."""

    part: float
    pairs: int
    usual_pairs: int
    is_crowded: bool = False
    """Whether launches take so much longer that way that `auto` avoids it."""

    @property
    def is_less(self) -> bool:
        """Whether it is clearly less, as far as so few pairs tell."""
        return self.part < _WORTHWHILE_PART and self._log_part < -self._log_by_chance

    @property
    def may_be_less(self) -> bool:
        """Whether it would be worth an option, though so few pairs may show that by chance."""
        return self.part < _WORTHWHILE_PART and not self.is_less

    @property
    def is_more(self) -> bool:
        """Whether it is clearly more."""
        return self.part > 1 / _WORTHWHILE_PART and self._log_part > self._log_by_chance

    @property
    def _log_part(self) -> float:
        return log(max(self.part, 1e-9))

    @property
    def _log_by_chance(self) -> float:
        """How large a logarithm chance alone may bring."""
        return _ERRORS * _TAILS * sqrt(2 / self.pairs + 2 / self.usual_pairs)


def pairing_of(kinds: Mapping[tuple[Work, Way], Kind], *, begins_beside: bool) -> dict[Work, Way]:
    """Return the way in which `auto`, the default for commands, goes on with programs of some length.

    If it `begins_beside`, it stays in tandem unless that takes clearly more time; else it changes if that takes less.
    """
    costs = tandem_costs(kinds)
    gains = any(one.is_less for one in costs.values()) and all(one.part < 1 for one in costs.values())
    beside = {
        work for work, one in costs.items() if not one.is_crowded and (not one.is_more if begins_beside else gains)
    }
    return {work: "tandem" if work in beside else "adjacent" for work, _ in kinds}


def tandem_costs(kinds: Mapping[tuple[Work, Way], Kind]) -> dict[Work, Cost]:
    """Return what verdicts take in tandem, for programs of some length."""
    return {
        work: Cost(
            _verdict_cost(kind) / _verdict_cost(usual),
            kind.pairs,
            usual.pairs,
            _share_longer(kind, usual) > MOST_SLOWDOWN_IN_TANDEM,
        )
        for (work, way), kind in kinds.items()
        if way == "tandem" and (usual := kinds.get((work, "adjacent"))) is not None
    }


def _share_longer(kind: Kind, usual: Kind) -> float:
    """Return by what share launches take longer than the usual ones, for the longest programs measured both ways."""
    lengths = {one.wanted_ms: one.median_ns for one in usual.spreads}
    both = [one for one in kind.spreads if one.wanted_ms in lengths]
    return both[-1].median_ns / lengths[both[-1].wanted_ms] - 1 if both else 0.0


def _verdict_cost(kind: Kind) -> float:
    return max(kind.deviation(_LONG_MS) ** 2, 1e-18) * kind.seconds_per_pair(_LONG_MS)


def pinned_costs(found: Sequence[Spread]) -> dict[int, Cost]:
    """Return what verdicts take on each processor that was tried, compared with where the scheduler puts launches."""
    usual = {(one.work, one.wanted_ms): one for one in found if one.cpu is None and one.pairing == "adjacent"}
    return {
        one.cpu: Cost(_spread_cost(one) / _spread_cost(other), len(one.differences), len(other.differences))
        for one in found
        if one.cpu is not None and (other := usual.get((one.work, one.wanted_ms))) is not None
    }


def processor_of(found: Sequence[Spread]) -> int | None:
    """Return the processor on which verdicts take clearly less time than where the scheduler puts launches, if any."""
    clear = {cpu: one.part for cpu, one in pinned_costs(found).items() if one.is_less}
    return min(clear, key=lambda cpu: clear[cpu], default=None)


def _spread_cost(one: Spread) -> float:
    return max(one.deviation**2, 1e-18) * one.seconds_per_pair
