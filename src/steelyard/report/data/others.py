"""The tables of other records than weighings, runs and imports: of a check, a calibration, a bisection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from steelyard.model.bisection import Bisection, Compared
from steelyard.model.calibration import Calibration, InterruptedCalibration, Point, PointTimes
from steelyard.model.soundness import Soundness
from steelyard.report.data.table import Column, Table, numbers, texts, whole_numbers


def of_check(record: Soundness) -> Table:
    """Return a row for each rule and benchmark, and further rows for what each benchmark asks of the allocator."""
    rows: list[tuple[Any, ...]] = [
        (one.code, one.benchmark, one.outcome, one.figure, one.threshold, one.unit, one.finding, one.origin, one.remedy)
        for one in record.looked
    ]
    for one in record.allocating:
        for name in ("allocations", "bytes", "kept", "share"):
            unit = {"bytes": "bytes", "share": ""}.get(name, "count")
            rows.append((name, one.benchmark, f"of {one.each}", getattr(one, name), None, unit, one.note, "", ""))
    names = ("rule", "benchmark", "outcome", "figure", "threshold", "unit", "finding", "origin", "remedy")
    return _table_of_rows(names, rows, {"figure": numbers, "threshold": numbers})


def _table_of_rows(
    names: Sequence[str], rows: Sequence[tuple[Any, ...]], kinds: Mapping[str, Callable[..., Column]]
) -> Table:
    """Return rows as a table; columns without a kind are of texts."""
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return Table({name: kinds.get(name, texts)(values) for name, values in zip(names, columns, strict=True)})


_STEP_COLUMNS = (
    "kind", "commit", "side", "left", "alpha", "why",
    "baseline", "candidate", "metric", "verdict", "change", "change_low", "change_high", "pairs",
)  # fmt: skip


def of_bisection(record: Bisection) -> Table:
    """Return a row for each pair of commits that a step weighed, in order; one row for a step that weighed none."""
    rows = [
        (step.kind, step.commit, step.side, step.left, step.alpha, step.why, *_comparison_cells(one))
        for step in record.steps
        for one in (*step.compared, *([] if step.compared else [None]))
    ]
    kinds: dict[str, Callable[..., Column]] = dict.fromkeys(("alpha", "change", "change_low", "change_high"), numbers)
    return _table_of_rows(_STEP_COLUMNS, rows, {**kinds, "left": whole_numbers, "pairs": whole_numbers})


def _comparison_cells(compared: Compared | None) -> tuple[Any, ...]:
    if compared is None:
        return (None,) * 8
    low, high = compared.interval or (None, None)
    return (
        compared.baseline,
        compared.candidate,
        compared.metric,
        compared.verdict,
        compared.change,
        low,
        high,
        compared.pairs,
    )


_POINT_COLUMNS = ("pattern", "elements", "size_bytes", "caches", "repeat", "metric", "unit", "value")


def of_calibration(record: Calibration | InterruptedCalibration) -> Table:
    """Return a row for each timing and each count of every point; counts and the CPU time are per iteration."""
    groups: list[tuple[str | None, Sequence[PointTimes]]]
    if isinstance(record, Calibration):
        groups = [(record.caches.name, record.points)]
    else:
        groups = [*((one.caches.name, one.points) for one in record.counted), (None, record.times)]
    rows = [row for name, points in groups for point in points for row in _point_rows(point, name)]
    return _table_of_rows(
        _POINT_COLUMNS,
        rows,
        {"elements": whole_numbers, "size_bytes": whole_numbers, "repeat": whole_numbers, "value": numbers},
    )


def _point_rows(point: PointTimes, caches: str | None) -> Iterator[tuple[Any, ...]]:
    key = (point.pattern, point.elements, point.size_bytes, caches)
    for name in ("cpu_before_ns", "cpu_with_ns"):
        for repeat, value in enumerate(getattr(point, name)):
            yield (*key, repeat, name.removesuffix("_ns"), "ns", float(value))
    if isinstance(point, Point):
        yield (*key, None, "cpu", "ns", point.ns)
        for name, value in (("l1_hits", point.l1), ("ll_hits", point.ll), ("ram_hits", point.ram)):
            yield (*key, None, name, "count", value)
