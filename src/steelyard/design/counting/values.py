"""What a count says in each metric."""

from __future__ import annotations

from steelyard.model.counting import INSTRUCTIONS, Count, Weights
from steelyard.model.errors import MeasurementError
from steelyard.model.records import Run, Weighing
from steelyard.stats.cost import hit_metrics


def value_of(record: Weighing | Run, count: Count, metric: str) -> float:
    """Return a count in a metric, per iteration if it is of several; raises MeasurementError if it was not counted."""
    return _launch_value(record, count, metric) / _iterations(record, count.benchmark)


def _launch_value(record: Weighing | Run, count: Count, metric: str) -> float:
    if metric == "instructions":
        return float(count.events[INSTRUCTIONS])
    weights = record.settings.counting.weights if record.settings.counting else Weights()
    try:
        return hit_metrics(count.events, weights.l1, weights.ll, weights.ram)[metric]
    except ValueError as error:
        raise MeasurementError(f"{metric} was not counted: {error}; count again with --metric {metric}") from error


def _iterations(record: Weighing | Run, benchmark: int) -> int:
    """Return how many iterations a count is of, if it is told per iteration; a command's counts are of the launch."""
    loops = record.benchmarks[benchmark].loops
    return loops if record.settings.harness is not None and loops else 1
