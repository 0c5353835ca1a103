"""A gate for scripts: derived anew by each gate, and kept nowhere else."""

from __future__ import annotations

from pydantic import Field

from steelyard.model.findings import VerdictName
from steelyard.model.gate import GateReport, GateVerdict, Judged, Standing
from steelyard.model.parts import Record
from steelyard.report import gate_words


class Held(Record):
    """One benchmark in one metric, held to its limit."""

    record: str = Field(description="name of the record, as it was given to the gate")
    benchmark: str
    metric: str
    verdict: VerdictName = Field(description="verdict by the margin of the weighing")
    change: float | None = Field(
        description="relative change from the baseline to the candidate, +0.01 is 1 % slower (1 % more); null if "
        "unknown"
    )
    interval: tuple[float, float] | None
    limit: float | None = Field(
        description="relative change above which the gate fails; null if it never does, whatever the change"
    )
    standing: Standing
    deciding: bool = Field(description="whether the gate's answer depends on it")
    accepted: float | None = Field(
        description="relative change up to which a slowdown above the limit is accepted; null if none is, or if "
        "nothing is above the limit"
    )
    reason: str | None = Field(description="why it is accepted, as the project's file says; null where `accepted` is")


class GateAnswer(Record):
    """A gate's whole answer."""

    verdict: GateVerdict
    status: int = Field(description="exit status that belongs to the answer")
    headline: str
    problems: list[str] = Field(description="why there is no answer, or only part of one; otherwise empty")
    findings: list[str]
    judged: list[Held]


def answer(report: GateReport, status: int) -> GateAnswer:
    """Return the report as plain values, with its exit status."""
    return GateAnswer(
        verdict=report.verdict,
        status=status,
        headline=gate_words.headline(report),
        problems=report.problems,
        findings=[finding.message for finding in report.findings],
        judged=[_held_of(one) for one in report.judged],
    )


def _held_of(one: Judged) -> Held:
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
        accepted=None if one.accepted is None else one.accepted.above,
        reason=None if one.accepted is None else one.accepted.reason,
    )
