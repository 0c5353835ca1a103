"""The tables of what is no weighing, run or import: a row a rule of a check, a row a number of a calibration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from steelyard.model.calibration import Calibration, InterruptedCalibration, Point, PointTimes
from steelyard.model.soundness import Soundness
from steelyard.report.data.table import Column, Table, numbers, texts, whole


def of_check(record: Soundness) -> Table:
    """One row a rule and benchmark, and what each benchmark asks of the allocator as so many rules more."""
    rows: list[tuple[Any, ...]] = [
        (one.code, one.benchmark, one.outcome, one.figure, one.threshold, one.unit, one.finding, one.origin, one.remedy)
        for one in record.looked
    ]
    for one in record.allocating:
        for name in ("allocations", "bytes", "kept", "share"):
            unit = {"bytes": "bytes", "share": ""}.get(name, "count")
            rows.append((name, one.benchmark, f"of {one.each}", getattr(one, name), None, unit, one.note, "", ""))
    columns = list(zip(*rows, strict=True)) or [()] * 9
    names = ("rule", "benchmark", "outcome", "figure", "threshold", "unit", "finding", "origin", "remedy")
    kinds: dict[str, Any] = {"figure": numbers, "threshold": numbers}
    return Table({name: kinds.get(name, texts)(list(values)) for name, values in zip(names, columns, strict=True)})


_POINT = ("pattern", "elements", "size_bytes", "caches", "repeat", "metric", "unit", "value")


def of_calibration(record: Calibration | InterruptedCalibration) -> Table:
    """One row for each timing and each count of every point; counts, and the CPU time, are of one iteration."""
    told: list[tuple[str | None, Sequence[PointTimes]]]
    if isinstance(record, Calibration):
        told = [(record.caches.name, record.points)]
    else:
        told = [*((one.caches.name, one.points) for one in record.counted), (None, record.times)]
    rows = [row for name, points in told for point in points for row in _of_point(point, name)]
    columns = list(zip(*rows, strict=True)) or [()] * len(_POINT)
    kinds: dict[str, Any] = {"elements": whole, "size_bytes": whole, "repeat": whole, "value": numbers}
    made: dict[str, Column] = {
        name: kinds.get(name, texts)(list(values)) for name, values in zip(_POINT, columns, strict=True)
    }
    return Table(made)


def _of_point(point: PointTimes, caches: str | None) -> Iterator[tuple[Any, ...]]:
    place = (point.pattern, point.elements, point.size_bytes, caches)
    for name in ("cpu_before_ns", "cpu_with_ns"):
        for repeat, value in enumerate(getattr(point, name)):
            yield (*place, repeat, name.removesuffix("_ns"), "ns", float(value))
    if isinstance(point, Point):
        yield (*place, None, "cpu", "ns", point.ns)
        for name, value in (("l1_hits", point.l1), ("ll_hits", point.ll), ("ram_hits", point.ram)):
            yield (*place, None, name, "count", value)
