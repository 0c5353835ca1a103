"""A calibration: what a hit of each level takes on one machine, with the measurements that say so.

And one that was interrupted, or failed: the measurements until then, which say nothing yet.
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

    Each was run up to the beginning of the walk and beyond it; the walk is the difference.
    """

    pattern: str
    elements: _Positive
    size_bytes: _Positive = Field(description="of all that the walk goes over")
    before: Count = Field(description="iterations before the walk, which fill the caches")
    timed_iterations: _Positive = Field(description="of the walk, natively")
    cpu_before_ns: list[Count] = Field(description="CPU time up to the walk, one a repeat, ns")
    cpu_with_ns: list[Count] = Field(description="CPU time with the walk, one a repeat, ns")


class Point(PointTimes):
    """The same, counted as well, with this machine's cache sizes."""

    counted_iterations: _Positive = Field(description="of the walk, under Valgrind")
    ns: float = Field(gt=0, allow_inf_nan=False, description="CPU time of an iteration, from the lists above")
    events: dict[str, Difference] = Field(description="Valgrind's counts of the walk")
    l1: float = Field(ge=0, allow_inf_nan=False, description="hits of the first level, an iteration")
    ll: float = Field(ge=0, allow_inf_nan=False, description="hits of the last level, an iteration")
    ram: float = Field(ge=0, allow_inf_nan=False, description="hits of main memory, an iteration")


class Fit(Record):
    """Weights, as fitted to points: in hits of the first level, and what such a hit takes."""

    l1_ns: float = Field(ge=0, allow_inf_nan=False)
    ll_ns: float = Field(ge=0, allow_inf_nan=False)
    ram_ns: float = Field(ge=0, allow_inf_nan=False)
    weights: Weights | None = Field(default=None, description="the same over l1_ns; null where that is 0")

    def predicted_ns(self, point: Point) -> float:
        """What an iteration of a point's walk would take."""
        return self.l1_ns * point.l1 + self.ll_ns * point.ll + self.ram_ns * point.ram


class PatternFit(Record):
    """What the points of one pattern say, and how well each cost follows its CPU time (Pearson's correlation)."""

    pattern: str
    fit: Fit = Field(description="to this pattern alone")
    by_default: float | None = Field(ge=-1, le=1, description="correlation of the cost at the default weights")
    by_calibrated: float | None = Field(ge=-1, le=1, description="at the weights fitted to all patterns")
    by_own: float | None = Field(ge=-1, le=1, description="at the weights fitted to this pattern")


class LastLevel(Record):
    """A size of the last level that was simulated, and how well weights can explain the times with it."""

    size_bytes: _Positive
    error: float = Field(ge=0, allow_inf_nan=False, description="root mean square of predicted / measured - 1")


class Calibration(Record):
    """All that one calibration measured, and the weights that came of it."""

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
    """What was counted with some caches: points that were timed in all their repeats before."""

    caches: Caches
    points: list[Point]


class InterruptedCalibration(Record):
    """What one calibration had measured when the user stopped it, or it failed: no weights can be fitted to a part."""

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
        """How many launches it is made of."""
        counts = [point for each in self.counted for point in each.points]
        timed = {(point.pattern, point.elements): point for point in [*self.times, *counts]}.values()
        return sum(len(point.cpu_before_ns) + len(point.cpu_with_ns) for point in timed) + 2 * len(counts)
