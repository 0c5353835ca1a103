"""Made-up calibrations, whose points lie where a test wants them."""

from __future__ import annotations

import os
from collections.abc import Mapping

from steelyard.history.calibrations import load_calibration
from steelyard.model.calibration import (
    Calibration,
    CountedPoints,
    Fit,
    InterruptedCalibration,
    PatternFit,
    Point,
    PointTimes,
)
from steelyard.model.counting import Caches, Weights

KEY = "0123456789abcdef"
TIMES: Mapping[str, tuple[float, ...]] = {
    "linear-i32": (4.1, 4.2, 4.6),
    "random-i32": (4.2, 6.2, 38.0),
    "chase": (1.4, 11.0, 186.0),
}


def point(pattern: str, ns: float, *, l1: float = 20.0, ll: float = 0.0, ram: float = 0.0) -> Point:
    return Point(
        pattern=pattern,
        elements=499,
        size_bytes=7984,
        before=499,
        timed_iterations=1000,
        counted_iterations=100,
        cpu_before_ns=[1000],
        cpu_with_ns=[1000 + round(1000 * ns)],
        ns=ns,
        events={"Ir": 1900},
        l1=l1,
        ll=ll,
        ram=ram,
    )


def pattern_fit(pattern: str, ram: float | None) -> PatternFit:
    weights = None if ram is None else Weights(name="calibrated", l1=1, ll=2.5, ram=ram)
    fit = Fit(l1_ns=0.2, ll_ns=0.5, ram_ns=0.2 * (ram or 0), weights=weights)
    return PatternFit(pattern=pattern, fit=fit, by_default=0.91, by_calibrated=0.934, by_own=None)


def calibration(times: Mapping[str, tuple[float, ...]] = TIMES, **changed: object) -> Calibration:
    """Return a calibration whose patterns took these times in ns; predicted are 4 ns, and 8 more for each place."""
    weights = Weights(name="calibrated", l1=1, ll=3.6, ram=40)
    points = [point(name, ns, ram=place) for name, each in times.items() for place, ns in enumerate(each)]
    rams = (16.3, None, 933.0)
    made = Calibration(
        tool="0.1.0",
        created="2026-01-01T00:00:00+00:00",
        machine=KEY,
        processor="A processor",
        caches=Caches(name="host"),
        valgrind="3.19.0",
        repeats=5,
        seed=1,
        seconds=63.2,
        points=points,
        fit=Fit(l1_ns=0.2, ll_ns=0.72, ram_ns=8.0, weights=weights),
        weights=weights,
        patterns=[pattern_fit(name, rams[place % 3]) for place, name in enumerate(times)],
    )
    return made.model_copy(update=changed)


def interrupted_calibration(**changed: object) -> InterruptedCalibration:
    """Return an interrupted calibration with a counted point, and one that was timed once and begun again."""
    begun = PointTimes(
        pattern="chase",
        elements=499,
        size_bytes=31936,
        before=499,
        timed_iterations=1000,
        cpu_before_ns=[1000, 1001],
        cpu_with_ns=[2000],
    )
    made = InterruptedCalibration(
        tool="0.1.0",
        created="2026-01-01T00:00:00+00:00",
        machine=KEY,
        processor="A processor",
        valgrind="3.19.0",
        repeats=5,
        seed=1,
        seconds=7.2,
        counted=[
            CountedPoints(caches=Caches(name="host"), points=[point("linear-i32", 4.1)]),
            CountedPoints(caches=Caches(name="fit"), points=[point("linear-i32", 4.1)]),
        ],
        times=[begun],
    )
    return made.model_copy(update=changed)


def kept_weights(key: str, environment: Mapping[str, str] = os.environ) -> Weights | None:
    """Return the weights of a machine's stored calibration, or None if it has none."""
    kept = load_calibration(key, environment)
    return None if kept is None else kept.weights
