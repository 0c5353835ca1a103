"""A gate as what scripts read of it."""

from __future__ import annotations

from steelyard.model.gate import GateReport, Judged
from steelyard.model.gate_answer import GateAnswer, Held
from steelyard.report import gate_words


def answer(report: GateReport, status: int) -> GateAnswer:
    """The report as plain values, with the exit status that it has."""
    return GateAnswer(
        verdict=report.verdict,
        status=status,
        headline=gate_words.headline(report),
        problems=report.problems,
        findings=[finding.message for finding in report.findings],
        judged=[_held(one) for one in report.judged],
    )


def _held(one: Judged) -> Held:
    return Held(
        record=one.source,
        benchmark=one.verdict.benchmark,
        metric=one.verdict.metric,
        verdict=one.verdict.verdict,
        change=one.verdict.change,
        interval=one.verdict.interval,
        limit=one.above,
        standing=one.standing,
        deciding=one.deciding,
    )
