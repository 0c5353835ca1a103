"""What was measured of a sweep, and the points that follow from it."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from steelyard.design.calibration.sweep import COUNTED_ITERATIONS, TIMED_ITERATIONS, WALK, WARM_UP, SweepPoint
from steelyard.model.calibration import Point, PointTimes
from steelyard.model.counting import Caches
from steelyard.model.errors import MeasurementError
from steelyard.stats.cost import hits

Times = tuple[list[int], list[int]]
"""The CPU times of a point in ns, one per repeat: up to the walk, and with it."""
Counts = dict[tuple[int, int], dict[str, int]]
"""Valgrind's counts, by the number of the point and which of its launches it is."""


@dataclass
class Results:
    """What was measured of a sweep so far."""

    sweep: Sequence[SweepPoint]
    times: list[Times] = field(init=False)
    """The times of each point."""
    counts: list[tuple[Caches, Counts]] = field(default_factory=list)
    """With one set of caches after the other, once all is timed."""

    def __post_init__(self) -> None:
        self.times = [([], []) for _ in self.sweep]

    def check_times(self) -> None:
        """Raise MeasurementError if a walk took no time: nothing can be fitted to that."""
        for point, times in zip(self.sweep, self.times, strict=True):
            if _walk_ns(times) <= 0:
                raise MeasurementError(
                    f"the walk {point.pattern} over {point.size_bytes >> 10} KiB took no time beside its set-up: "
                    "this machine is too busy to calibrate; wait until it is quiet, or give more --launches"
                )

    def points(self, number: int) -> list[Point]:
        """Return the points that were counted with the caches of that number."""
        _, counts = self.counts[number]
        whole = [place for place in range(len(self.sweep)) if {(place, WARM_UP), (place, WALK)} <= counts.keys()]
        return [self._point(place, counts) for place in whole]

    def timed(self) -> list[PointTimes]:
        """Return the times of each point that has some."""
        return [
            PointTimes(**_point_fields(point), cpu_before_ns=times[WARM_UP], cpu_with_ns=times[WALK])
            for point, times in zip(self.sweep, self.times, strict=True)
            if any(times)
        ]

    def _point(self, place: int, counts: Counts) -> Point:
        times = self.times[place]
        before = counts[place, WARM_UP]
        # The end of the process may miss a few times less after a walk than without one.
        events = {name: max(0, count - before.get(name, 0)) for name, count in counts[place, WALK].items()}
        l1, ll, ram = (max(0, each) / COUNTED_ITERATIONS for each in hits(events))
        return Point(
            **_point_fields(self.sweep[place]),
            cpu_before_ns=times[WARM_UP],
            cpu_with_ns=times[WALK],
            counted_iterations=COUNTED_ITERATIONS,
            ns=_walk_ns(times),
            events=events,
            l1=l1,
            ll=ll,
            ram=ram,
        )


def _walk_ns(times: Times) -> float:
    """Return the CPU time of an iteration of the walk, in ns."""
    # Each repeat's two launches ran next to each other; the median of their differences tolerates a few disturbed ones.
    walks = [end - begin for begin, end in zip(*times, strict=True)]
    return statistics.median(walks) / TIMED_ITERATIONS


def _point_fields(point: SweepPoint) -> dict[str, Any]:
    return {
        "pattern": point.pattern,
        "elements": point.elements,
        "size_bytes": point.size_bytes,
        "before": point.before,
        "timed_iterations": TIMED_ITERATIONS,
    }
