"""How much may still be measured: a number of pairs, a time, or both."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.model.records import Settings


@dataclass
class Budget:
    """Counts one experiment's elapsed seconds against its settings; times come from the injected clock."""

    settings: Settings
    started: float
    spent_s: float = 0.0
    """What was used of it before that."""

    def time_left(self, now: float) -> float | None:
        """Seconds left, or None without a limit on time."""
        limit = self.settings.max_time_s
        return None if limit is None else limit - self.spent_s - (now - self.started)

    def time_is_up(self, now: float, next_seconds: float) -> bool:
        """Whether the next pair, expected to take `next_seconds`, would end after the limit."""
        left = self.time_left(now)
        return left is not None and next_seconds > left

    def pairs_in_all(self, done: int, now: float, seconds_per_pair: float) -> int | None:
        """How many pairs will fit, those done included; None if nothing limits them."""
        limits = []
        if self.settings.pairs is not None:
            limits.append(self.settings.pairs)
        left = self.time_left(now)
        if left is not None and seconds_per_pair > 0:
            limits.append(done + max(0, int(left / seconds_per_pair)))
        return min(limits) if limits else None
