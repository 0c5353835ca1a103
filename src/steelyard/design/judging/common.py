"""What verdicts and summaries have in common: how a side, and how a benchmark, is described."""

from __future__ import annotations

from collections.abc import Collection
from math import inf, isfinite
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from steelyard.design.judging.disturbers import disturbers
from steelyard.model.derived import Side
from steelyard.model.launches import DISTURBED_FROM, FloatArray, Launches
from steelyard.model.records import Run, Weighing
from steelyard.model.rows import DISTURBED
from steelyard.model.sides import SIDES
from steelyard.report.figures import whole_percent
from steelyard.stats.summary import centre

Record = TypeVar("Record", Weighing, Run)


def describe_side(values: FloatArray) -> Side:
    """Describe one side's launches, in the metric's unit."""
    described = centre(values)
    return Side(median=described.median, spread=described.spread, launches=len(values))


def of_sides(record: Weighing | Run, sides: Collection[int]) -> str:
    """Return what follows a noun: ` of either side`, ` of the candidate`; empty if there is one version only."""
    if not isinstance(record, Weighing):
        return ""
    return " of either side" if len(sides) == 2 else f" of the {SIDES[next(iter(sides))]}"


def least_share(shares: Collection[float]) -> str:
    """Return a share that each side has at least: `40 %`, or `40 % or more` where they differ."""
    least, most = whole_percent(min(shares)), whole_percent(max(shares))
    return least if least == most else f"{least} or more"


def common_fields(record: Weighing | Run, benchmark: int, judged: npt.NDArray[np.intp]) -> dict[str, Any]:
    """Return what verdicts say of a benchmark, whose judged launches are at the positions `judged`."""
    launches = record.launches
    share = launches.waiting_share()[judged]
    known = share[~np.isnan(share)]
    fields: dict[str, Any] = {
        "benchmark": record.benchmarks[benchmark].name,
        "index": benchmark,
        # Without the pause of a weighing that was interrupted and carried on.
        "seconds": min(seconds_of(launches, launches.of(benchmark)), record.seconds or inf),
        "disturbed": int((known > DISTURBED_FROM).sum()),
        "worst_delay": float(known.max()) if len(known) else None,
        "disturbers": disturbers(launches, benchmark, record.watch_of(benchmark)),
        "switches_per_s": _switches_per_s(launches, judged[~launches.in_tandem()[judged]]),
    }
    if isinstance(record, Weighing):
        fields["margin"] = record.settings.margin
        fields["control"] = record.benchmarks[benchmark].control
        fields["repeated"] = int(launches.of(benchmark, DISTURBED).sum()) // 2
    return fields


def _switches_per_s(launches: Launches, chosen: npt.NDArray[np.intp]) -> float | None:
    """Return how often in a second another task was given the processor of these launches; None without any."""
    seconds = float(launches.column("wall_ns")[chosen].sum()) / 1e9
    switches = float(launches.column("involuntary_switches")[chosen].sum())
    return switches / seconds if seconds > 0 and isfinite(switches) else None


def seconds_of(launches: Launches, chosen: npt.NDArray[np.bool_] | list[int]) -> float:
    """Return the elapsed seconds from the start of the first of these launches to the end of the last; 0 if none."""
    spans = launches.spans_ns()[chosen]
    return float(spans[:, 1].max() - spans[:, 0].min()) / 1e9 if len(spans) else 0.0


def by_benchmark(record: Record) -> list[Record]:
    """Return the record once per benchmark, with only its launches and counts, so that no other is searched."""
    number = len(record.benchmarks)
    counted = [None] * number if record.counting is None else record.counting.by_benchmark(number)
    parts = zip(record.launches.by_benchmark(number), counted, strict=True)
    return [record.model_copy(update={"launches": launches, "counting": counting}) for launches, counting in parts]
