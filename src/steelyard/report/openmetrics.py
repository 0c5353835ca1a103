"""A gate as OpenMetrics text, which GitLab's metrics reports and Prometheus read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite

from steelyard.model.gate import GateReport, Judged
from steelyard.report.printable import shown

_LONGEST_LABEL = 200
_FAMILIES: tuple[tuple[str, str, Callable[[Judged], float | None]], ...] = (
    (
        "steelyard_change_ratio",
        "Relative change of the candidate; 0.01 is 1 % slower.",
        lambda one: one.verdict.change,
    ),
    (
        "steelyard_above_limit",
        "1 where the change is above its limit, 0 where it is not, or is accepted; absent where that is not known.",
        lambda one: None if one.standing == "open" else float(one.standing == "above"),
    ),
    (
        "steelyard_resolution_ratio",
        "Relative change that would have been found 9 times out of 10.",
        lambda one: one.verdict.resolution,
    ),
    (
        "steelyard_baseline_median",
        "Median of the baseline, in the metric's unit.",
        lambda one: None if one.verdict.baseline is None else one.verdict.baseline.median,
    ),
    (
        "steelyard_candidate_median",
        "Median of the candidate, in the metric's unit.",
        lambda one: None if one.verdict.candidate is None else one.verdict.candidate.median,
    ),
)


def text(report: GateReport) -> str:
    """Return the report as OpenMetrics text: a gauge for each figure, labelled by benchmark and metric."""
    return "\n".join([*_lines(report), "# EOF", ""])


def _lines(report: GateReport) -> Iterator[str]:
    several = len(report.weighings) > 1
    for name, meaning, value_of in _FAMILIES:
        yield f"# TYPE {name} gauge"
        yield f"# HELP {name} {meaning}"
        seen: set[str] = set()
        for one in report.judged:
            value = value_of(one)
            labels = _labels(one, several=several)
            if value is not None and isfinite(value) and labels not in seen:
                seen.add(labels)
                yield f"{name}{{{labels}}} {value:.9g}"


def _labels(one: Judged, *, several: bool) -> str:
    labels = {"benchmark": one.verdict.benchmark, "metric": one.verdict.metric}
    if several:
        labels["record"] = one.source
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())


def _escaped(value: str) -> str:
    # Cut in the middle, since both ends tell names apart.
    return shown(value, _LONGEST_LABEL).replace("\\", "\\\\").replace('"', '\\"')
