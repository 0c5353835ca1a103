"""Short descriptions of what is kept: records in the store, and the runs that were given names."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from steelyard.model.parts import Record


class Entry(Record):
    """One kept file; if it cannot be read, only its path is known."""

    path: str
    name: str | None = Field(default=None, description="of a baseline that was saved by name")
    kind: Literal["weighing", "run", "unreadable"]
    state: Literal["ended", "running", "interrupted", "failed", "unreadable"]
    created: str | None = Field(default=None, description="start, ISO 8601 in UTC")
    subjects: list[str] = Field(default_factory=list, description="names; of a weighing the baseline's first")
    benchmarks: int = 0
    metric: str | None = Field(default=None, description="the first one that was asked for")
    verdicts: dict[str, int] = Field(default_factory=dict, description="how many of each, in the deciding metric")
