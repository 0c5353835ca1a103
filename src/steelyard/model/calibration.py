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
    size_bytes: _Positive = Field(description="size of all that the walk goes over, in bytes")
    before: Count = Field(description="number of iterations before the walk, which fill the caches")
    timed_iterations: _Positive = Field(description="number of iterations of the walk when it is timed, natively")
    cpu_before_ns: list[Count] = Field(description="processor time up to the walk in each repeat, in ns")
    cpu_with_ns: list[Count] = Field(description="processor time up to the end of the walk in each repeat, in ns")


class Point(PointTimes):
    """One pattern at one size, timed and also counted, with this machine's cache sizes."""

    counted_iterations: _Positive = Field(
        description="number of iterations of the walk when it is counted under Valgrind"
    )
    ns: float = Field(
        gt=0,
        allow_inf_nan=False,
        description="processor time of one iteration, in ns: the median difference of `cpu_with_ns` and "
        "`cpu_before_ns` over `timed_iterations`",
    )
    events: dict[str, Difference] = Field(description="Valgrind's counts of the walk alone, by event")
    l1: float = Field(ge=0, allow_inf_nan=False, description="hits of the first level in an iteration")
    ll: float = Field(ge=0, allow_inf_nan=False, description="hits of the last level in an iteration")
    ram: float = Field(ge=0, allow_inf_nan=False, description="hits of main memory in an iteration")


class Fit(Record):
    """Weights fitted to points: the time of a hit of each level, and their ratios to that of the first level."""

    l1_ns: float = Field(ge=0, allow_inf_nan=False)
    ll_ns: float = Field(ge=0, allow_inf_nan=False)
    ram_ns: float = Field(ge=0, allow_inf_nan=False)
    weights: Weights | None = Field(
        default=None, description="these times as multiples of `l1_ns`; null where that is 0"
    )

    def predicted_ns(self, point: Point) -> float:
        """The predicted time of an iteration of a point's walk."""
        return self.l1_ns * point.l1 + self.ll_ns * point.ll + self.ram_ns * point.ram


class PatternFit(Record):
    """The fit to one pattern's points, and how well each cost follows its CPU time (Pearson's correlation)."""

    pattern: str
    fit: Fit = Field(description="weights fitted to the points of this pattern alone")
    by_default: float | None = Field(
        ge=-1,
        le=1,
        description="correlation of the CPU times with the cost at the default weights; null if either does not vary",
    )
    by_calibrated: float | None = Field(
        ge=-1,
        le=1,
        description="correlation of the CPU times with the cost at the weights fitted to all patterns; null if "
        "either does not vary",
    )
    by_own: float | None = Field(
        ge=-1,
        le=1,
        description="correlation of the CPU times with the cost at the weights fitted to this pattern; null if "
        "either does not vary",
    )


class LastLevel(Record):
    """A simulated size of the last level, and how well weights explain the times with it."""

    size_bytes: _Positive
    error: float = Field(
        ge=0,
        allow_inf_nan=False,
        description="how far the fitted times are off: root mean square of predicted / measured - 1",
    )


class Calibration(Record):
    """All that one calibration measured, and the resulting weights."""

    format: Literal["steelyard-calibration"] = "steelyard-calibration"
    version: Literal[1] = 1
    tool: str = Field(description="version of Steelyard that calibrated")
    created: str
    machine: str = Field(description="key of the machine")
    processor: str
    caches: Caches
    last_levels: list[LastLevel] = Field(
        default_factory=list,
        description="all last levels that were simulated; the first is the one that the machine, or the user, says",
    )
    valgrind: str = Field(description="version of Valgrind")
    repeats: _Positive
    seed: Count = Field(description="seed of the random order")
    seconds: Seconds
    points: list[Point] = Field(min_length=1)
    fit: Fit = Field(description="weights fitted to all patterns together")
    weights: Weights = Field(description="weights of `fit`, named calibrated")
    patterns: list[PatternFit]


class CountedPoints(Record):
    """Points counted with some caches, after all their repeats had been timed."""

    caches: Caches
    points: list[Point]


class InterruptedCalibration(Record):
    """What one calibration had measured when the user stopped it or it failed: weights cannot be fitted to a part."""

    format: Literal["steelyard-interrupted-calibration"] = "steelyard-interrupted-calibration"
    version: Literal[1] = 1
    tool: str = Field(description="version of Steelyard that calibrated")
    created: str
    machine: str = Field(description="key of the machine")
    processor: str
    valgrind: str = Field(description="version of Valgrind")
    repeats: _Positive = Field(description="number of repeats of each point that were asked for")
    seed: Count = Field(description="seed of the random order")
    seconds: Seconds
    counted: list[CountedPoints] = Field(
        description="counted points, by the simulated caches, in the order in which these were simulated"
    )
    times: list[PointTimes] = Field(description="times of the points that were timed and not counted yet")

    def measurements(self) -> int:
        """The number of launches that it consists of."""
        counts = [point for each in self.counted for point in each.points]
        timed = {(point.pattern, point.elements): point for point in [*self.times, *counts]}.values()
        return sum(len(point.cpu_before_ns) + len(point.cpu_with_ns) for point in timed) + 2 * len(counts)
