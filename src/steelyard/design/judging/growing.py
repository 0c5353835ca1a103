"""Launches of a command that take ever longer, as each leaves something for the next, such as a file that grows."""

from __future__ import annotations

import numpy as np

from steelyard.model.findings import Finding
from steelyard.model.launches import FloatArray
from steelyard.model.records import Run, Weighing
from steelyard.report.figures import whole_percent
from steelyard.stats.growth import trend

_TIME_METRICS = ("active", "wall", "cpu")
# No empty processes run beside these launches, as they do in `steelyard check`, to tell what the machine does.
_MOST_GROWTH = 0.25
_MOST_BLOCKS = 10
# Fewer are in order by chance too often.
_FEWEST_BLOCKS = 6


def growing_finding(record: Weighing | Run, benchmark: int, metric: str) -> Finding | None:
    """Return a finding if the last third of the launches surely takes more than _MOST_GROWTH longer than the first."""
    if record.settings.harness is not None or metric not in _TIME_METRICS:
        return None
    times = _launch_times(record, benchmark, metric)
    blocks = min(_MOST_BLOCKS, len(times) // 2)
    if blocks < _FEWEST_BLOCKS:
        return None
    growth = trend(times, blocks, _MOST_GROWTH, record.settings.alpha)
    if growth.shown != "beyond" or growth.figure < 0:
        return None
    return Finding(
        code="growing",
        message=f"the last launches take {whole_percent(growth.figure)} longer than the first: each may leave "
        "something for the next, such as a file that grows, or the machine has become slower",
        remedy="steelyard check tells which (its rule drift); --prepare can clear away what launches leave",
    )


def _launch_times(record: Weighing | Run, benchmark: int, metric: str) -> FloatArray:
    """Return how long the judged launches take, in order; of a pair the geometric mean, whichever ran first."""
    launches = record.launches
    if isinstance(record, Run):
        times = launches.metric(metric)[launches.judged(benchmark)]
    else:
        baseline, candidate = launches.metric_of_pairs(benchmark, metric)
        times = np.sqrt(baseline * candidate)
    return times[times > 0]
