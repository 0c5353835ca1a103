"""What a weighing's control group was, and how long its launches waited there."""

from __future__ import annotations

from pydantic import Field

from steelyard.model.numbers import Count, Seconds
from steelyard.model.parts import Record


class Isolation(Record):
    """The control group of a weighing's launches; each weighing has its own."""

    group: str | None = Field(description="folder of the control group; null where there could be none")
    processors: list[Count] = Field(
        default_factory=list, description="processors that the group is confined to; empty if it is not confined"
    )
    alone: bool = Field(default=False, description="whether nothing outside the group may run on these processors")
    seconds: Seconds = Field(default=0, description="how long the group existed, in seconds")
    waited_us: Count | None = Field(
        default=None, description="time in which some task of the group waited for a processor, in µs; null if unknown"
    )
    stalled_us: Count | None = Field(
        default=None,
        description="time in which all tasks of the group that could run waited for a processor, in µs; null if "
        "unknown",
    )
    missing: str | None = Field(default=None, description="what could not be had, and why; null if nothing is missing")
