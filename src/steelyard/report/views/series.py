"""What a view draws: the values of one benchmark of a record in one metric."""

from __future__ import annotations

from collections.abc import Iterator
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
from steelyard.report.named import benchmark_row
from steelyard.report.sheet import Sheet
from steelyard.report.verdicts import STYLES


@dataclass(frozen=True)
class Scale:
    """The unit of a view's values: its kind, or the name of a unit of no such kind."""

    kind: Unit
    name: str = ""

    def shown(self, value: float) -> str:
        """Write a value with its unit."""
        if self.name:
            return f"{figures.quantity(value, '')} {self.name}"
        if self.kind == "count":
            return figures.quantity(value, "")
        return figures.duration(value) if self.kind == "ns" else figures.size(value)

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
class Drawn:
    """One benchmark in one metric."""

    benchmark: str
    index: int
    metric: str
    scale: Scale
    sides: list[Side]
    derived: Verdict | Summary | None = None


def drawn(record: Weighing | Run | ForeignResults, derived: Derived, patterns: list[str], view: str) -> list[Drawn]:
    """Return what a `view`, named by its option, draws: the first timed metric of each benchmark that fits a pattern.

    Raises UsageError if there is nothing to draw.
    """
    if isinstance(record, ForeignResults):
        found = [_foreign(benchmark, place) for place, benchmark in enumerate(record.benchmarks)]
    else:
        _check_launches(record, view)
        found = [one for one in _measured(record, derived) if any(np.isfinite(side.values).any() for side in one.sides)]
    if not found:
        raise UsageError(f"{view} is drawn of launches that are judged, and none was measured to its end")
    if patterns:
        chosen = [one for one in found if is_chosen([one.benchmark], patterns)]
        if not chosen:
            none = "not the one benchmark" if len(found) == 1 else f"none of the {len(found)} benchmarks"
            raise UsageError(f"--benchmark {', '.join(patterns)} fits {none} of this record")
        return chosen
    return found


def heading(sheet: Sheet, one: Drawn, *, first: bool) -> None:
    """Print which benchmark comes next, and its verdict if it has one."""
    if not first:
        sheet.blank()
    said, behind = Text(), None
    if isinstance(one.derived, Verdict):
        measured = min(int(np.isfinite(side.values).sum()) for side in one.sides)
        behind = sentences.behind_last_look(one.derived, measured)
        said.append(one.derived.verdict, STYLES[one.derived.verdict])
        if one.derived.change is not None:
            said.append(f" {sentences.estimate(one.derived)}")
    benchmark_row(sheet, one.benchmark, *([said] if said.plain else []), *([Text(behind)] if behind else []))


def _check_launches(record: Weighing | Run, view: str) -> None:
    if record.identical is not None:
        raise UsageError(f"{view} is drawn of launches, and here are none: both sides are one program")
    if not len(record.launches):
        what = "counted" if record.counting is not None else "watched" if record.heap is not None else ""
        why = f"this was {what}, not timed" if what else "nothing was measured"
        raise UsageError(f"{view} is drawn of timed launches, and here are none: {why}")


def _measured(record: Weighing | Run, derived: Derived) -> Iterator[Drawn]:
    seen: set[int] = set()
    launches, repeat = record.launches, record.settings.repeat
    every: list[Verdict | Summary] = [*derived.verdicts, *derived.summaries]
    for one in every:
        if one.index in seen or is_counted(one.metric):
            continue
        seen.add(one.index)
        if isinstance(one, Verdict):
            values = launches.pair_values(one.index, one.metric)
            sides = [
                Side(label, of_one_process(of, one.metric, repeat)) for label, of in zip(SIDES, values, strict=True)
            ]
        else:
            used = launches.metric(one.metric)[launches.judged(one.index)]
            sides = [Side("launches", of_one_process(used, one.metric, repeat))]
        yield Drawn(one.benchmark, one.index, one.metric, Scale(METRICS[one.metric].unit), sides, one)


def _foreign(benchmark: ForeignBenchmark, place: int) -> Drawn:
    values = np.frombuffer(concatenated(benchmark.values))
    if (ns := ns_of(benchmark.unit)) is not None:
        scale, values = Scale("ns"), values * ns
    else:
        is_size = benchmark.unit.removesuffix(PER_OPERATION) == "B"
        scale = Scale("bytes") if is_size else Scale("count", benchmark.unit)
    return Drawn(benchmark.name, place, "value", scale, [Side("samples", values, "sample")])
