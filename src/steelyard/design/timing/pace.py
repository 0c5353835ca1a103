"""How fast pairs come, and how many of them the budget still holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from steelyard.design.timing.benchmark import OpenBenchmark
from steelyard.design.timing.budget import Budget
from steelyard.model.records import StopReason

# Short pairs are measured several at once, for about this long.
_REQUEST_S = 0.1


@dataclass
class Pace:
    """The pairs of a weighing, of all its benchmarks together, against the clock."""

    budget: Budget
    clock: Callable[[], float]
    pairs: int
    """How many were measured."""
    visited: int = 1
    """How many benchmarks have their turn in a round."""
    _weight: float = 1.0
    """How long a pair of theirs takes, relative to all that were measured: long ones may have ended, or short ones."""

    def begin_round(self, visited: Sequence[OpenBenchmark], benchmarks: Sequence[OpenBenchmark]) -> None:
        """Note which of the benchmarks have their turn from now on."""
        self.visited = len(visited)
        means_s = [one.taken_s / one.measured for one in visited if one.measured]
        taken_s, measured = (sum(one.taken_s for one in benchmarks), sum(one.measured for one in benchmarks))
        self._weight = fmean(means_s) * measured / taken_s if means_s and taken_s else 1.0

    def note(self, benchmarks: Sequence[OpenBenchmark], pairs: int, begun: float) -> None:
        """Count so many pairs of each of the benchmarks, which were measured together since `begun`."""
        self.pairs += pairs * len(benchmarks)
        for one in benchmarks:
            one.measured += pairs
            one.taken_s += (self.clock() - begun) / len(benchmarks)

    def elapsed_s(self) -> float:
        """Return the seconds since the beginning, without those spent waiting for a quiet machine."""
        return self.clock() - self.budget.started

    def pause(self, seconds: float) -> None:
        """Leave out seconds in which nothing was measured."""
        self.budget.started += seconds

    def pair_s(self) -> float:
        """Return the elapsed seconds per pair of those that have their turn."""
        return self._weight * self.elapsed_s() / max(1, self.pairs)

    def round_s(self) -> float:
        """Return the seconds until a benchmark has its next pair: all that are still open take their turn."""
        return self.pair_s() * max(1, self.visited)

    def limit(self, benchmark: OpenBenchmark) -> int | None:
        """Return how many pairs of it there will be; None if nothing limits them."""
        return self.budget.pairs_in_all(benchmark.kept, self.clock(), self.round_s())

    def end(self, benchmark: OpenBenchmark) -> StopReason | None:
        """Return what of a benchmark's budget is used up; None if there is some left."""
        if self.budget.settings.pairs is not None and benchmark.kept >= self.budget.settings.pairs:
            return "pairs"
        return "time" if self.time_is_up(benchmark.together, benchmark.kept) else None

    def time_is_up(self, together: int, kept: int) -> bool:
        """Whether the time is up for `together` pairs at once."""
        return self.budget.time_is_up(self.clock(), self.pair_s() * together, kept)

    def seconds_left(self, benchmark: OpenBenchmark) -> float | None:
        """Return the seconds left of the budget, or for the pairs still to come if nothing else limits.

        If the budget may become a longer one, the larger of both.
        """
        limit = self.limit(benchmark)
        pairs_s = None if limit is None else max(0.0, (limit - benchmark.kept) * self.round_s())
        usual_s = self.budget.usual_time_left(self.clock())
        if usual_s is None or pairs_s is None or self.budget.settings.longest_time_s is None:
            return pairs_s if usual_s is None else usual_s
        return max(usual_s, pairs_s)

    def pairs_at_once(self, benchmark: OpenBenchmark, most_pairs: int) -> int:
        """Return how many of its pairs to measure in one go, if nothing else has to be done until its next look.

        `most_pairs` is how many pairs can be in one request.
        """
        target = min(benchmark.next_look_at, self.budget.settings.pairs or benchmark.next_look_at)
        left_s = self.budget.time_left(self.clock(), benchmark.kept)
        seconds = _REQUEST_S if left_s is None else min(_REQUEST_S, left_s)
        fitting = seconds / max(self.pair_s(), _REQUEST_S / most_pairs)
        return max(1, min(target - benchmark.kept, int(fitting)))
