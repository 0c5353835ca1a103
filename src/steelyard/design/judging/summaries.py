"""From the launches of a run, which has one side, to the summaries of its benchmarks."""

from __future__ import annotations

from typing import Literal

import numpy as np

from steelyard.design.counting.judgement import count_summary
from steelyard.design.judging.common import by_benchmark, common_fields
from steelyard.design.judging.fallbacks import with_corrected_fallbacks
from steelyard.design.judging.findings import data_findings
from steelyard.design.judging.pairs import hidden_by_clock, why_unknown
from steelyard.model.derived import Summary
from steelyard.model.errors import MeasurementError
from steelyard.model.findings import Finding
from steelyard.model.launches import FloatArray
from steelyard.model.metrics import is_counted, of_one_process
from steelyard.model.records import Run
from steelyard.stats.level import level_interval
from steelyard.stats.modes import modes
from steelyard.stats.summary import centre


def summaries(record: Run) -> list[Summary]:
    """Return a run's benchmarks in its metrics; raises MeasurementError where the first metric is undefined.

    A benchmark that was interrupted before it had a number is left out; so is an undefined one of a harness, or one
    that the time was up before, if any other has a number.
    """
    found: list[Summary] = []
    unknown: MeasurementError | None = None
    for benchmark, (reason, view) in enumerate(zip(record.stop, by_benchmark(record), strict=True)):
        if reason == "failed" or (reason == "interrupted" and _is_unmeasured(view, benchmark)):
            continue
        try:
            found += _benchmark_summaries(view, benchmark)
        except MeasurementError as error:
            unknown = unknown or error
            is_unreached = reason == "time" and _is_unmeasured(view, benchmark)
            if record.settings.harness is None and not is_unreached:
                raise
    if unknown is not None and not found:
        raise unknown
    return with_corrected_fallbacks(record, found)


def _is_unmeasured(record: Run, benchmark: int) -> bool:
    """Whether a benchmark whose first metric is timed has no launch that is judged."""
    if is_counted(record.settings.metrics[0]):
        return False
    return not len(record.launches.judged(benchmark))


def _benchmark_summaries(record: Run, benchmark: int) -> list[Summary]:
    first, *others = record.settings.metrics
    found = [_metric_summary(record, benchmark, first)]
    for metric in others:
        try:
            found.append(_metric_summary(record, benchmark, metric))
        except MeasurementError as error:
            findings = [*found[0].findings, Finding(code="undefined", message=str(error))]
            found[0] = found[0].model_copy(update={"findings": findings})
    return found


def _metric_summary(record: Run, benchmark: int, metric: str) -> Summary:
    if is_counted(metric):
        return count_summary(record, benchmark, metric)
    return _timed_summary(record, benchmark, metric)


def _timed_summary(record: Run, benchmark: int, metric: str) -> Summary:
    used = record.launches.judged(benchmark)
    if not len(used):
        raise MeasurementError("nothing was measured before the run stopped")
    values, used_metric = record.launches.metric(metric)[used], metric
    if metric == "active" and np.isnan(values).any():
        values, used_metric = record.launches.metric("wall")[used], "wall"
    if np.isnan(values).any():
        raise MeasurementError(why_unknown(record.launches, metric))
    values = of_one_process(values, used_metric, record.settings.repeat)
    described, common = centre(values), common_fields(record, benchmark, used)
    return Summary(
        metric=used_metric,
        median=described.median,
        spread=described.spread,
        interval=_interval(record, int(used[0]), used_metric, values),
        lowest=float(values.min()),
        highest=float(values.max()),
        modes=modes(values),
        launches=len(values),
        quality=_quality(described.spread, common["worst_delay"]),
        findings=data_findings(record, benchmark, metric, used_metric, None),
        **common,
    )


def _interval(record: Run, place: int, metric: str, values: FloatArray) -> tuple[float, float] | None:
    """Return the interval of the median, as much wider as a clock's ticks may make each value wrong."""
    bounds = level_interval(values, record.settings.alpha)
    if bounds is None or not (values > 0).all():
        return bounds
    # A value has two readings of the clock, and so one tick; the distance of two values has both.
    hidden = hidden_by_clock(record.launches, place, metric, values[::2], values[1::2])
    tick = hidden / 2 * float(np.median(values))
    return max(0.0, bounds[0] - tick), bounds[1] + tick


def _quality(spread: float, worst_delay: float | None) -> Literal["quiet", "noisy", "disturbed"]:
    if worst_delay is not None and worst_delay > 0.1:
        return "disturbed"
    return "noisy" if spread > 0.02 else "quiet"
