"""Decides when a pair is repeated: from the covariates alone, blind to the values and equal for both sides."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.model.metrics import METRICS
from steelyard.model.rows import DISTURBED_SHARE, IN_TANDEM, LaunchRow, is_active_known, waited_ns

# Repeats are worth their time on a machine that is quiet now and then; on one that never is, they only cost the budget.
# Judged by wall time, they take +1 % on the `bursts` trace from 45 pairs to 38, repeats included, and leave 4 % instead
# of 13 % of identical pairs undecided; on `ambient` 29 to 24 (benchmarks/repeats_on_traces.py).
REPEATS_PER_PAIR = 0.25
# Most waits of a program that nearly always waits are its own doing: its threads wait for each other's processor.
MOST_DISTURBED = 0.5
# The kernel tells stolen time in ticks of this length: USER_HZ is 100 on every architecture that Steelyard runs on.
STEAL_TICK_NS = 10_000_000

Still = tuple[float, float]
"""How long nothing of ours ran during each launch of a pair, in ns, as far as that was seen in time."""
NEVER_STILL: Still = (0.0, 0.0)


def is_disturbed(
    first: LaunchRow, second: LaunchRow, metric: str, processors: int, still_ns: Still = NEVER_STILL
) -> bool:
    """Whether the pair lost too much time to others: stolen time, and waiting where it is part of the metric.

    `still_ns` of each launch is time in which nothing of ours ran, which no processor time includes. A metric that is
    not a time loses none; one that is the waiting itself would be judged by its own values.
    """
    if METRICS[metric].unit != "ns":
        return False
    combine = max if first.order >= IN_TANDEM else sum  # at the same time both see the same
    lost_ns = surely_stolen_ns(combine((first.steal_ns or 0, second.steal_ns or 0)), processors)
    if metric == "wall" and first.order < IN_TANDEM:  # in tandem the partner's turns are most of it
        lost_ns += (waited_ns(first) or 0) + (waited_ns(second) or 0)
    if metric in ("wall", "active"):
        lost_ns += combine(still_ns)
    return lost_ns > DISTURBED_SHARE * combine((first.wall_ns, second.wall_ns))


def surely_stolen_ns(counted_ns: float, processors: int) -> float:
    """Return what one processor surely lost while the machine's counter of stolen time grew by this much.

    The counter covers all processors and grows by ticks, the first of which may have been lost long before: n ticks
    prove only that more than n - 1 passed meanwhile.
    """
    return max(0.0, counted_ns - STEAL_TICK_NS) / max(1, processors)


@dataclass
class Repeats:
    """Decides which pairs of one benchmark, in their order, are repeated; `metric` is the one that judges them."""

    metric: str
    processors: int
    kept: int = 0
    repeated: int = 0
    _disturbed: int = 0

    def is_to_repeat(self, first: LaunchRow, second: LaunchRow, still_ns: Still = NEVER_STILL) -> bool:
        """Whether the next pair is to be repeated, in whose launches nothing of ours ran for so long."""
        pairs = self.kept + self.repeated
        may_repeat = self.repeated < 1 + REPEATS_PER_PAIR * self.kept and self._disturbed <= MOST_DISTURBED * pairs
        repeated = may_repeat and self._is_disturbed(first, second, still_ns)
        return self.count(first, second, still_ns, repeated=repeated)

    def count(self, first: LaunchRow, second: LaunchRow, still_ns: Still = NEVER_STILL, *, repeated: bool) -> bool:
        """Count the next pair as `repeated` or kept, and return which."""
        self._disturbed += self._is_disturbed(first, second, still_ns)
        if repeated:
            self.repeated += 1
        else:
            self.kept += 1
            self.metric = self._metric_with(first, second)
        return repeated

    def set_aside(self) -> None:
        """Take back that a pair was kept."""
        self.kept -= 1

    def _is_disturbed(self, first: LaunchRow, second: LaunchRow, still_ns: Still) -> bool:
        return is_disturbed(first, second, self._metric_with(first, second), self.processors, still_ns)

    def _metric_with(self, first: LaunchRow, second: LaunchRow) -> str:
        """Return the metric that judges all pairs if this one is kept: `active` becomes `wall` where it is unknown."""
        known = self.metric != "active" or (is_active_known(first) and is_active_known(second))
        return self.metric if known else "wall"
