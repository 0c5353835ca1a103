"""How much may still be measured: a number of pairs, a time, or both."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.design.budgets import fewest_pairs
from steelyard.model.settings import Settings


@dataclass
class Budget:
    """Counts one experiment's elapsed seconds against its settings; times come from the injected clock.

    `done` is how many pairs of a benchmark are measured. While they are fewer than can ever decide, its budget may be a
    longer one.
    """

    settings: Settings
    started: float
    spent_s: float = 0.0
    """What was used of it before `started`."""
    members: int = 1
    """How many benchmarks share alpha: the more there are, the more pairs each of them takes."""
    is_extended: bool = False
    """Whether more time was granted than the usual budget."""

    def time_left(self, now: float, done: int) -> float | None:
        """Return the seconds left, or None without a limit on time."""
        return self._left(self._limit_s(done), now)

    def usual_time_left(self, now: float) -> float | None:
        """Return the seconds left for a benchmark that has enough pairs; None without a limit on time."""
        return self._left(self.settings.max_time_s, now)

    def time_is_up(self, now: float, next_seconds: float, done: int) -> bool:
        """Whether the next pair, expected to take `next_seconds`, would end after the limit."""
        if (left := self.time_left(now, done)) is None:
            return False
        usual = self.usual_time_left(now)
        self.is_extended |= usual is not None and usual < next_seconds <= left
        return next_seconds > left

    def pairs_in_all(self, done: int, now: float, seconds_per_pair: float) -> int | None:
        """Return how many pairs will fit, those done included; None if nothing limits them."""
        limits = [] if self.settings.pairs is None else [self.settings.pairs]
        usual, longest = self.usual_time_left(now), self.time_left(now, done)
        if usual is not None and longest is not None and seconds_per_pair > 0:
            fitting, at_most = (done + max(0, int(left / seconds_per_pair)) for left in (usual, longest))
            limits.append(max(fitting, min(self.fewest, at_most)))
        return min(limits) if limits else None

    def _left(self, limit_s: float | None, now: float) -> float | None:
        return None if limit_s is None else limit_s - self.spent_s - (now - self.started)

    def _limit_s(self, done: int) -> float | None:
        longest_s = self.settings.longest_time_s
        return longest_s if longest_s is not None and done < self.fewest else self.settings.max_time_s

    @property
    def fewest(self) -> int:
        """The fewest pairs that can ever decide."""
        return fewest_pairs(self.settings.alpha, self.settings.reserve, self.members)
