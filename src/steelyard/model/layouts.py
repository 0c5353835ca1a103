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
    spread: float = Field(description="standard deviation of one unit of the level, as a relative change")
    share: float = Field(description="of the variance of one pair of one layout, with one sample a launch")


class LayoutFacts(Record):
    """What the pairs of several layouts show; a layout is one build of each side."""

    changes: dict[int, float] = Field(description="layout to the relative change in its pairs alone")
    p_value: float | None = Field(
        description="of layouts that differ in nothing, as identical copies; if that is known"
    )
    parts: list[VariancePart] = Field(
        description="the variance by level, the outermost first; with two pairs a layout or more"
    )
    most: Level | None = Field(default=None, description="the level with over half of the result's variance")
    assumed_normal: bool = Field(description="whether the interval takes the layouts' effects to be normal")
    needed: int | None = Field(default=None, description="layouts that would decide, if undecided")
