"""How much of a budget may go into trying benchmarks: half of what their listing has left of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from steelyard.model.launches import LaunchSpec

# Launches of a benchmark that is tried in full: its loops, the other side, and how many samples pay.
_FULL_TRIAL, REFINEMENT = 9, 5
# The other half is for pairs; those that were tried are to have some.
_SHARE = 0.5
_LEAST_LIMIT_S = 1.0


@dataclass
class PilotTime:
    """The time for trials, by a clock in seconds; without an `end` they take what they take."""

    clock: Callable[[], float]
    end: float | None = None
    """When the whole budget is used up."""
    has_one: bool = False
    """Whether a benchmark has been tried and can be measured."""
    _until: float = 0.0
    _listing_s: float = 0.0

    def begin(self, listings: int, begun: float) -> None:
        """Share what is left, now that so many listings have been made since `begun`."""
        now = self.clock()
        self._listing_s = (now - begun) / max(1, listings)
        self._until = now + _SHARE * max(0.0, (self.end or now) - now)

    def is_up(self) -> bool:
        """Whether no more benchmarks are to be tried."""
        return self.end is not None and self.has_one and self.clock() >= self._until

    def is_over(self) -> bool:
        """Whether the whole budget is used up."""
        return self.end is not None and self.clock() >= self.end

    def is_short(self, left: int, launches: int = _FULL_TRIAL, launch_s: float = 0.0) -> bool:
        """Whether `left` benchmarks, so many more launches each, would take longer than there is.

        A launch takes as long as one that runs nothing, or `launch_s`.
        """
        if self.end is None:
            return False
        return left * launches * max(launch_s, self._listing_s) > self._until - self.clock()

    def limited(self, spec: LaunchSpec) -> LaunchSpec:
        """A launch that ends with the budget, or soon after, once there is a benchmark to measure."""
        if self.end is None or not self.has_one:
            return spec
        left_ns = round(max(_LEAST_LIMIT_S, self.end - self.clock()) * 1e9)
        return replace(spec, timeout_ns=min(left_ns, spec.timeout_ns or left_ns))
