"""What two records say that were measured apart, as what scripts read of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.model.diff_answer import Compared, DiffAnswer
from steelyard.model.foreign import ForeignVerdict

if TYPE_CHECKING:
    from steelyard.model.foreign import ForeignReport
    from steelyard.model.unpaired import UnpairedReport, UnpairedVerdict


def answer(report: UnpairedReport | ForeignReport) -> DiffAnswer:
    """The report as plain values."""
    first = report.verdicts[0]
    return DiffAnswer(
        verdict=first.verdict,
        change=first.change,
        interval=first.interval,
        margin=report.margin,
        alpha=report.alpha,
        verdicts=[_compared(one) for one in report.verdicts],
        means=report.means,
        findings=[finding.message for finding in report.findings],
    )


def _compared(one: UnpairedVerdict | ForeignVerdict) -> Compared:
    return Compared(
        benchmark=one.benchmark,
        metric=one.unit if isinstance(one, ForeignVerdict) else one.metric,
        verdict=one.verdict,
        change=one.change,
        interval=one.interval,
        baseline=one.baseline.median,
        candidate=one.candidate.median,
        findings=[finding.message for finding in one.findings],
    )
