"""How much of a budget may go into trying benchmarks: at most half of what their listing has left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf
from statistics import fmean

from steelyard.model.errors import LaunchError
from steelyard.model.launch_spec import LaunchSpec

# The launches of a full trial: of its loops, of the other side, and of how many samples pay.
_FULL_TRIAL_LAUNCHES, REFINEMENT_LAUNCHES = 9, 5
# At least this many launches are left once several benchmarks have been tried together: for their loops, and for a
# pair.
FEWEST_LAUNCHES_LEFT = 4
# The other half is for pairs.
_TRIALS_SHARE = 0.5
_SHORTEST_LIMIT_S, _SHORTEST_FIRST_LIMIT_S = 1.0, 10.0
# Nothing can be tried in less, and clocks and limits are rounded.
_SHORTEST_TRIAL_S = 0.001


class TooLittleTimeError(LaunchError):
    """Launches of several benchmarks leave too little of the budget for pairs of them."""


@dataclass
class PilotTime:
    """The time for trials, by a clock in seconds; without an `end`, they may take any time."""

    clock: Callable[[], float]
    end: float | None = None
    """When the whole budget is used up."""
    _trials_end: float = 0.0
    _pairs_s: list[float] = field(default_factory=list)
    """The time of a pair of each benchmark that can be measured."""
    _listing_s: float = 0.0
    _first_s: float = _SHORTEST_FIRST_LIMIT_S

    def begin(self, listings: int, begun: float) -> None:
        """Share what is left after `listings` listings since `begun`, or single runs of benchmarks made for them."""
        now = self.clock()
        self._listing_s = (now - begun) / max(1, listings)
        self._first_s = max(_SHORTEST_FIRST_LIMIT_S, 2 * ((self.end or begun) - begun))
        self._trials_end = now + _TRIALS_SHARE * max(0.0, (self.end or now) - now)

    def add_pair_time(self, pairs_s: float) -> None:
        """Keep the time of a pair, with each candidate, of a benchmark that was tried and can be measured."""
        self._pairs_s.append(pairs_s)

    def is_up(self, *, tried: bool) -> bool:
        """Whether no more benchmarks are to be tried; while none can be measured, only once the budget is used up.

        `tried` tells whether one was tried already: the first one is in any case.
        """
        if self.end is None or not tried:
            return False
        return self.clock() >= (self._deadline() if self._pairs_s else self.end) - _SHORTEST_TRIAL_S

    def is_short(self, left: int, launches: int = _FULL_TRIAL_LAUNCHES, launch_s: float = 0.0) -> bool:
        """Whether `left` benchmarks, each with `launches` more, would take longer than there is.

        A launch takes as long as one that runs nothing, or `launch_s` if that is more.
        """
        if self.end is None:
            return False
        return left * launches * max(launch_s, self._listing_s) > self._deadline() - self.clock()

    def with_limit(self, spec: LaunchSpec) -> LaunchSpec:
        """Return a launch limited to about the time left for trials, once there is a benchmark to measure.

        Until then it may take more than the whole budget, as the first pair of a command may; but a hang has to end.
        """
        if self.end is None:
            return spec
        left_s = max(_SHORTEST_LIMIT_S, self._deadline() - self.clock()) if self._pairs_s else self._first_s
        left_ns = round(left_s * 1e9)
        return replace(spec, timeout_ns=min(left_ns, spec.timeout_ns or left_ns))

    def longest_together_s(self, *, first: bool) -> float:
        """Return how long a launch of several benchmarks may take, without which each is tried by itself.

        The first one leaves time for others, and for a trial of each if one of them hangs.
        """
        if self.end is None:
            return inf
        return max(_SHORTEST_LIMIT_S, (self._deadline() - self.clock()) / (FEWEST_LAUNCHES_LEFT if first else 1))

    def _deadline(self) -> float:
        """Return when the time for trials ends, with time left for the pairs of what was tried and of one more such."""
        if self.end is None or not self._pairs_s:
            return self._trials_end
        return min(self._trials_end, self.end - sum(self._pairs_s) - fmean(self._pairs_s))
