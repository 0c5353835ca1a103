"""The result of one launch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from steelyard.model.counters import Counters, added
from steelyard.model.numbers import ADD_UP, NUMBERS, Numbers
from steelyard.model.rows import LaunchRow


@dataclass(frozen=True, slots=True)
class Measured(Numbers):
    """What one launch measured, from outside: its numbers, how it ended, and as much of its output as was requested."""

    timed_out: bool = False
    stopped: int | None = None
    """The signal that had stopped it, if it was killed because it did not continue."""
    cancelled: bool = False
    stdout: bytes | None = None
    stdout_bytes: int | None = None
    stderr: bytes | None = None
    stderr_bytes: int | None = None
    results: bytes | None = None
    results_bytes: int | None = None
    counters: Counters = ()
    """The counts of its events, if they were requested."""
    left_behind: tuple[str, ...] = ()
    """The processes ("PID name" each) that outlived it, killed unless they ended by themselves."""
    not_killed: tuple[str, ...] = ()
    """The processes that outlived it and could not be killed."""

    @classmethod
    def of_row(cls, row: LaunchRow) -> Self:
        """Make it from what a row has: the numbers and the counters."""
        return cls(**{name: getattr(row, name) for name in NUMBERS}, counters=row.counters)

    def has_failed(self) -> bool:
        """Whether it did not end by itself with exit status 0."""
        return self.cancelled or self.timed_out or self.signal is not None or self.exit_code != 0

    def followed_by(self, later: Measured) -> Measured:
        """Combine two processes to one launch: times and counts add up, memory is the larger, either failure counts."""
        summed = {name: _sum(getattr(self, name), getattr(later, name)) for name in ADD_UP}
        return replace(
            self if self.has_failed() else later,
            start_ns=self.start_ns,
            max_rss_bytes=max(self.max_rss_bytes, later.max_rss_bytes),
            counters=added(self.counters, later.counters),
            left_behind=self.left_behind + later.left_behind,
            not_killed=self.not_killed + later.not_killed,
            **summed,
        )


def _sum(one: int | None, other: int | None) -> Any:
    return None if one is None or other is None else one + other
