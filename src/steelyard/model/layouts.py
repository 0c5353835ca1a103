"""What several builds of each side show beside the verdict: how they differ, and where more measuring would help."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from steelyard.model.parts import Record

MOST_LAYOUTS: Final = 1000
# With a p-value below this, layouts are said to differ by more than equal builds do by chance.
UNLIKE_BELOW: Final = 0.05
Level = Literal["layout", "launch", "sample"]


class VariancePart(Record):
    """One level's part of the variance of a pair's change."""

    level: Level
    spread: float = Field(
        description="standard deviation that one unit of the level (a layout, a launch, a sample) adds by itself, "
        "as a relative change"
    )
    share: float = Field(
        description="share of the variance of the change in a single pair of a single layout, with one sample a launch"
    )


class LayoutFacts(Record):
    """What the pairs of several layouts show; a layout is one build of each side."""

    changes: dict[int, float] = Field(
        description="relative change in the pairs of each layout alone, by the layout's number, from 1; +0.01 is 1 "
        "% slower"
    )
    p_value: float | None = Field(
        description="p-value of the hypothesis that the layouts differ no more than identical copies; null with "
        "fewer than two pairs a layout"
    )
    parts: list[VariancePart] = Field(
        description="variance of a pair's change by level, the outermost first; empty with fewer than two pairs a "
        "layout"
    )
    most: Level | None = Field(
        default=None,
        description="level that causes at least half of the variance of the result; null if none does, or if that "
        "is unknown",
    )
    assumed_normal: bool = Field(
        description="whether the interval assumes that the layouts' effects are normally distributed"
    )
    needed: int | None = Field(
        default=None,
        description="number of layouts of each side that would decide; null if decided, or if no sensible number would",
    )
