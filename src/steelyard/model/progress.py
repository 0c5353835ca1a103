"""What a weighing tells whoever watches it, between two launches."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """The state after a pair (or after a launch of a run); `change` and `interval` are those of the last look."""

    benchmark: str
    done: int
    limit: int | None
    change: float | None = None
    interval: tuple[float, float] | None = None
    seconds_left: float | None = None
    allowance: str | None = None
    """What the budget allows, where the user should know before it is spent: said once, to stay."""
    noun: str | None = None
    """What is `done`, if that is not what the watcher counts."""
