"""Short descriptions of what is kept: records in the store, and the runs that were given names."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from steelyard.model.parts import Record


class Entry(Record):
    """One kept file; if it cannot be read, only its path is known."""

    path: str
    name: str | None = Field(default=None, description="name that the run was saved under; null for other records")
    kind: Literal["weighing", "run", "unreadable"]
    state: Literal["ended", "running", "interrupted", "failed", "unreadable"]
    created: str | None = Field(default=None, description="when the measuring began, ISO 8601 in UTC; null if unknown")
    subjects: list[str] = Field(
        default_factory=list, description="names of the subjects, in a weighing the baseline's first"
    )
    command: str | None = Field(
        default=None, description="the one command of which revisions were weighed; null for any other record"
    )
    benchmarks: int = 0
    metric: str | None = Field(default=None, description="first metric that was asked for; null if unknown")
    verdicts: dict[str, int] = Field(
        default_factory=dict, description="number of benchmarks with each verdict, in the deciding metric"
    )
