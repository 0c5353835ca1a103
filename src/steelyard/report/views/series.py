"""What a view draws: the values of one benchmark of a record in one metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from rich.text import Text

from steelyard.model.derived import Derived, Summary, Verdict
from steelyard.model.errors import UsageError
from steelyard.model.foreign import ForeignBenchmark, ForeignResults
from steelyard.model.launches import FloatArray
from steelyard.model.metrics import METRICS, Unit, is_counted, of_one_process
from steelyard.model.patterns import is_chosen
from steelyard.model.records import Run, Weighing
from steelyard.model.samples import concatenated
from steelyard.model.sides import SIDES
from steelyard.model.units import PER_OPERATION, ns_of
from steelyard.report import figures, sentences
from steelyard.report.lockstep import pair_values
from steelyard.report.sheet import Sheet
from steelyard.report.verdicts import STYLES


@dataclass(frozen=True)
class Scale:
    """The unit of a view's values: its kind, or the name of a unit of no such kind."""

    kind: Unit
    name: str = ""

    def shown(self, value: float) -> str:
        """Write a value with its unit."""
        return f"{figures.amount(value, 'count')} {self.name}" if self.name else figures.amount(value, self.kind)

    def unit_for(self, value: float) -> tuple[str, float]:
        """Return (name, size) of one unit for several values up to `value`."""
        return (self.name, 1.0) if self.name else figures.scale_for(value, self.kind)


@dataclass(frozen=True)
class Side:
    """One side's values, in the order in which they were measured."""

    label: str
    values: FloatArray
    noun: str = "launch"


@dataclass(frozen=True)
class Series:
    """One benchmark in one metric."""

    benchmark: str
    index: int
    metric: str
    scale: Scale
    sides: list[Side]
    derived: Verdict | Summary | None = None


def series_to_draw(
    record: Weighing | Run | ForeignResults, derived: Derived, patterns: list[str], view: str
) -> list[Series]:
    """Return what a `view`, named by its option, draws: the first timed metric of each benchmark that fits a pattern.

    Raises UsageError if there is nothing to draw.
    """
    if isinstance(record, ForeignResults):
        series = [_foreign_series(benchmark, place) for place, benchmark in enumerate(record.benchmarks)]
    else:
        _check_launches(record, view)
        series = [
            one
            for one in _measured_series(record, derived)
            if any(np.isfinite(side.values).any() for side in one.sides)
        ]
    if not series:
        raise UsageError(f"{view} is drawn of launches that are judged, and none was measured to its end")
    if patterns:
        chosen = [one for one in series if is_chosen([one.benchmark], patterns)]
        if not chosen:
            description = "not the one benchmark" if len(series) == 1 else f"none of the {len(series)} benchmarks"
            raise UsageError(f"--benchmark {', '.join(patterns)} fits {description} of this record")
        return chosen
    return series


def below_headings(sheet: Sheet, drawn: Sequence[Series]) -> Iterator[Series]:
    """Yield each series after printing which benchmark it is of, and its verdict if it has one."""
    for place, series in enumerate(drawn):
        if place:
            sheet.blank()
        _print_heading(sheet, series)
        yield series


def _print_heading(sheet: Sheet, series: Series) -> None:
    verdict, unjudged = Text(), None
    if isinstance(series.derived, Verdict):
        measured = min(int(np.isfinite(side.values).sum()) for side in series.sides)
        unjudged = sentences.unjudged_pairs(series.derived, measured)
        verdict.append(series.derived.verdict, STYLES[series.derived.verdict])
        if series.derived.change is not None:
            verdict.append(f" {sentences.estimate(series.derived)}")
    sheet.title(
        "benchmark", series.benchmark, *([verdict] if verdict.plain else []), *([Text(unjudged)] if unjudged else [])
    )


def _check_launches(record: Weighing | Run, view: str) -> None:
    if record.identical is not None:
        raise UsageError(f"{view} is drawn of launches, and here are none: both sides are one program")
    if not len(record.launches):
        done = "counted" if record.counting is not None else "watched" if record.heap is not None else ""
        why = f"this was {done}, not timed" if done else "nothing was measured"
        raise UsageError(f"{view} is drawn of timed launches, and here are none: {why}")


def _measured_series(record: Weighing | Run, derived: Derived) -> Iterator[Series]:
    seen_benchmarks: set[int] = set()
    launches, repeat = record.launches, record.settings.repeat
    all_derived: list[Verdict | Summary] = [*derived.verdicts, *derived.summaries]
    for verdict in all_derived:
        if verdict.index in seen_benchmarks or is_counted(verdict.metric):
            continue
        seen_benchmarks.add(verdict.index)
        if isinstance(verdict, Verdict):
            values = pair_values(launches, launches.complete_pairs(verdict.index), verdict.metric)
            sides = [
                Side(label, of_one_process(of, verdict.metric, repeat)) for label, of in zip(SIDES, values, strict=True)
            ]
        else:
            used = launches.metric(verdict.metric)[launches.judged(verdict.index)]
            sides = [Side("launches", of_one_process(used, verdict.metric, repeat))]
        yield Series(
            verdict.benchmark, verdict.index, verdict.metric, Scale(METRICS[verdict.metric].unit), sides, verdict
        )


def _foreign_series(benchmark: ForeignBenchmark, place: int) -> Series:
    values = np.frombuffer(concatenated(benchmark.values))
    if (ns := ns_of(benchmark.unit)) is not None:
        scale, values = Scale("ns"), values * ns
    else:
        is_size = benchmark.unit.removesuffix(PER_OPERATION) == "B"
        scale = Scale("bytes") if is_size else Scale("count", benchmark.unit)
    return Series(benchmark.name, place, "value", scale, [Side("samples", values, "sample")])
