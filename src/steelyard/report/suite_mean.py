"""The geometric mean of a suite's changes, in words."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

from steelyard.report import figures

if TYPE_CHECKING:
    from steelyard.model.derived import SuiteMean
    from steelyard.model.records import Weighing


def of_weighing(record: Weighing) -> dict[str, str]:
    """Return a weighing's means by metric: `geometric mean of 12 benchmarks: +0.31 % [+0.12 %, +0.50 %] at ...`."""
    means = record.derived.means if record.derived else []
    return {mean.metric: _mean_sentence(mean, figures.at_confidence(record.settings.alpha)) for mean in means}


def of_each_metric(record: Weighing) -> list[str]:
    """Return a weighing's means, each with its metric's name if there are several metrics."""
    metrics = {verdict.metric for verdict in record.verdicts}
    return [f"{metric}: {mean}" if len(metrics) > 1 else mean for metric, mean in of_weighing(record).items()]


def of_unpaired(means: Sequence[SuiteMean], measured: Iterable[Hashable], confidence: str) -> list[str]:
    """Return the means of two records measured apart, each with its metric or unit if several were `measured`."""
    several = len({*measured}) > 1
    return [f"{f'{mean.metric}: ' if several else ''}{_mean_sentence(mean, confidence)}" for mean in means]


def _mean_sentence(mean: SuiteMean, confidence: str) -> str:
    benchmarks = figures.count(mean.benchmarks, "benchmark") + (" that have an interval" if mean.left_out else "")
    estimate = f"{figures.change(mean.change)} {figures.interval(mean.interval)}"
    return f"geometric mean of {benchmarks}: {estimate} {confidence}"
