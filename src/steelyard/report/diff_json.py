"""Two records measured apart, compared for scripts: derived anew by each diff, and kept nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from steelyard.model.derived import SuiteMean
from steelyard.model.findings import VerdictName
from steelyard.model.foreign import ForeignVerdict
from steelyard.model.parts import Record

if TYPE_CHECKING:
    from steelyard.model.foreign import ForeignReport
    from steelyard.model.unpaired import UnpairedReport, UnpairedVerdict


class Compared(Record):
    """One benchmark of both records, in one metric."""

    benchmark: str
    metric: str = Field(description="metric; of results of another tool, their unit")
    higher_is_better: bool
    verdict: VerdictName
    change: float | None = Field(description="relative change from A to B, +0.01 is 1 % more; null if unknown")
    interval: tuple[float, float] | None
    baseline: float = Field(
        description="median of A, in the unit of the metric (ns, bytes, or a number); of results of another tool, "
        "in their unit"
    )
    candidate: float = Field(description="median of B, in the same unit")
    findings: list[str]


class DiffAnswer(Record):
    """What two records measured apart say about each other, with the first benchmark's verdict at the top."""

    verdict: VerdictName
    change: float | None
    interval: tuple[float, float] | None
    margin: float
    alpha: float = Field(
        description="accepted chance of a wrong verdict on each benchmark, its share of what was asked for"
    )
    verdicts: list[Compared]
    means: list[SuiteMean] = Field(
        description="geometric means of the changes of a suite's benchmarks, one for each metric or unit; empty if "
        "there are none"
    )
    findings: list[str]


def answer(report: UnpairedReport | ForeignReport) -> DiffAnswer:
    """Return the report as plain values."""
    first = report.verdicts[0]
    return DiffAnswer(
        verdict=first.verdict,
        change=first.change,
        interval=first.interval,
        margin=report.margin,
        alpha=report.alpha,
        verdicts=[_compared_of(one) for one in report.verdicts],
        means=report.means,
        findings=[finding.message for finding in report.findings],
    )


def _compared_of(one: UnpairedVerdict | ForeignVerdict) -> Compared:
    return Compared(
        benchmark=one.benchmark,
        metric=one.unit if isinstance(one, ForeignVerdict) else one.metric,
        higher_is_better=isinstance(one, ForeignVerdict) and one.higher_is_better,
        verdict=one.verdict,
        change=one.change,
        interval=one.interval,
        baseline=one.baseline.median,
        candidate=one.candidate.median,
        findings=[finding.message for finding in one.findings],
    )
