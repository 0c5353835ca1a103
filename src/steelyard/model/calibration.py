"""A calibration: what a hit of each level costs on one machine, and the measurements that show it.

Also an interrupted or failed calibration: the measurements so far, from which nothing follows yet.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from steelyard.model.counting import Caches, Weights
from steelyard.model.numbers import Count, Difference, Seconds
from steelyard.model.parts import Record

_Positive = Annotated[Count, Field(gt=0)]


class PointTimes(Record):
    """One pattern at one size: iterations of its walk, timed natively.

    Each repeat was run up to the beginning of the walk and to its end; the walk is the difference.
    """

    pattern: str
    elements: _Positive
    size_bytes: _Positive = Field(description="of all that the walk goes over")
    before: Count = Field(description="iterations before the walk, which fill the caches")
    timed_iterations: _Positive = Field(description="of the walk, natively")
    cpu_before_ns: list[Count] = Field(description="CPU time up to the walk, one a repeat, ns")
    cpu_with_ns: list[Count] = Field(description="CPU time with the walk, one a repeat, ns")


class Point(PointTimes):
    """One pattern at one size, timed and also counted, with this machine's cache sizes."""

    counted_iterations: _Positive = Field(description="of the walk, under Valgrind")
    ns: float = Field(gt=0, allow_inf_nan=False, description="CPU time of an iteration, from the lists above")
    events: dict[str, Difference] = Field(description="Valgrind's counts of the walk")
    l1: float = Field(ge=0, allow_inf_nan=False, description="hits of the first level, an iteration")
    ll: float = Field(ge=0, allow_inf_nan=False, description="hits of the last level, an iteration")
    ram: float = Field(ge=0, allow_inf_nan=False, description="hits of main memory, an iteration")


class Fit(Record):
    """Weights fitted to points: the time of a hit of each level, and their ratios to that of the first level."""

    l1_ns: float = Field(ge=0, allow_inf_nan=False)
    ll_ns: float = Field(ge=0, allow_inf_nan=False)
    ram_ns: float = Field(ge=0, allow_inf_nan=False)
    weights: Weights | None = Field(default=None, description="the same over l1_ns; null where that is 0")

    def predicted_ns(self, point: Point) -> float:
        """The predicted time of an iteration of a point's walk."""
        return self.l1_ns * point.l1 + self.ll_ns * point.ll + self.ram_ns * point.ram


class PatternFit(Record):
    """The fit to one pattern's points, and how well each cost follows its CPU time (Pearson's correlation)."""

    pattern: str
    fit: Fit = Field(description="to this pattern alone")
    by_default: float | None = Field(ge=-1, le=1, description="correlation of the cost at the default weights")
    by_calibrated: float | None = Field(ge=-1, le=1, description="at the weights fitted to all patterns")
    by_own: float | None = Field(ge=-1, le=1, description="at the weights fitted to this pattern")


class LastLevel(Record):
    """A simulated size of the last level, and how well weights explain the times with it."""

    size_bytes: _Positive
    error: float = Field(ge=0, allow_inf_nan=False, description="root mean square of predicted / measured - 1")


class Calibration(Record):
    """All that one calibration measured, and the resulting weights."""

    format: Literal["steelyard-calibration"] = "steelyard-calibration"
    version: Literal[1] = 1
    tool: str = Field(description="the version of Steelyard")
    created: str
    machine: str = Field(description="the machine's key")
    processor: str
    caches: Caches
    last_levels: list[LastLevel] = Field(
        default_factory=list, description="all that were simulated; the first is what the machine, or the user, says"
    )
    valgrind: str = Field(description="its version")
    repeats: _Positive
    seed: Count = Field(description="of the random order")
    seconds: Seconds
    points: list[Point] = Field(min_length=1)
    fit: Fit = Field(description="to all patterns together")
    weights: Weights = Field(description="those of `fit`, named calibrated")
    patterns: list[PatternFit]


class CountedPoints(Record):
    """Points counted with some caches, after all their repeats had been timed."""

    caches: Caches
    points: list[Point]


class InterruptedCalibration(Record):
    """What one calibration had measured when the user stopped it or it failed: weights cannot be fitted to a part."""

    format: Literal["steelyard-interrupted-calibration"] = "steelyard-interrupted-calibration"
    version: Literal[1] = 1
    tool: str = Field(description="the version of Steelyard")
    created: str
    machine: str = Field(description="the machine's key")
    processor: str
    valgrind: str = Field(description="its version")
    repeats: _Positive = Field(description="of each point, that were asked for")
    seed: Count = Field(description="of the random order")
    seconds: Seconds
    counted: list[CountedPoints] = Field(description="in the order of the caches that were simulated")
    times: list[PointTimes] = Field(description="of the points that were timed and not counted yet")

    def measurements(self) -> int:
        """The number of launches that it consists of."""
        counts = [point for each in self.counted for point in each.points]
        timed = {(point.pattern, point.elements): point for point in [*self.times, *counts]}.values()
        return sum(len(point.cpu_before_ns) + len(point.cpu_with_ns) for point in timed) + 2 * len(counts)
