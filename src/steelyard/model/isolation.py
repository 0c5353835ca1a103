"""What a weighing's control group was, and how long its launches waited there."""

from __future__ import annotations

from pydantic import Field

from steelyard.model.numbers import Count, Seconds
from steelyard.model.parts import Record


class Isolation(Record):
    """The control group of a weighing's launches; each weighing has its own."""

    group: str | None = Field(description="its folder; null where there could be none")
    processors: list[Count] = Field(default_factory=list, description="those that it is confined to; empty: to none")
    alone: bool = Field(default=False, description="nothing outside of it may run on these")
    seconds: Seconds = Field(default=0, description="how long it was there")
    waited_us: Count | None = Field(default=None, description="for which some task in it waited for a processor")
    stalled_us: Count | None = Field(default=None, description="for which all tasks in it that could run did")
    missing: str | None = Field(default=None, description="what could not be had, and why")
