"""Which slowdowns a gate accepts: an entry of the project's file holds in the change that brings it, and no longer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.design.findings import some_names
from steelyard.model.derived import Verdict
from steelyard.model.gate import GateReport, Judged
from steelyard.model.kept import Finding
from steelyard.model.limits import Accepted, Limits
from steelyard.model.records import Weighing
from steelyard.model.subject import RevisionFacts


def that_hold(limits: Limits, weighing: Weighing, verdict: Verdict) -> list[Accepted]:
    """Return the entries that hold for a verdict: its baseline's own file lacks them, as far as the record tells."""
    baseline = _baseline(weighing, verdict)
    return [one for one in limits.accepted if baseline is None or one not in baseline.accepted]


def findings(report: GateReport) -> Iterator[Finding]:
    """Yield a finding for each entry that has expired, that is of no metric here, or that was not needed."""
    known = {name for one in report.judged for name in (one.verdict.metric, *one.weighing.settings.metrics)}
    for entry in report.limits.accepted:
        expired = dict.fromkeys(one.source for one in report.judged if _has_expired(entry, one))
        held = [one for one in report.judged if _holds(entry, one)]
        if expired:
            yield _expired(entry, [*expired] if held else [])
        elif known and entry.metric is not None and entry.metric not in known:
            yield Finding(
                code="unused-limit",
                message=f"{said(entry)} is of a metric that was not measured",
                remedy=f"weigh with --metric {entry.metric}, or correct its metric",
            )
        elif held and all(one.standing == "within" for one in held):
            yield Finding(
                code="not-needed",
                message=f"{said(entry)} was not needed: nothing that it fits was found above its limit",
            )


def _expired(entry: Accepted, sources: Sequence[str]) -> Finding:
    of = f" of {some_names(sources)}" if sources else ""
    return Finding(
        code="accepted-before",
        message=f"{said(entry)} is passed over: the baseline{of} has it already",
        remedy="remove its [[gate.accepted]] from the project's file; accept another slowdown with another reason or "
        "change",
    )


def said(entry: Accepted) -> str:
    """Call an entry by what stands in the file."""
    return f"the accepted slowdown {entry} ({entry.reason})"


def without_expired(report: GateReport) -> list[Accepted]:
    """Return the entries that no baseline's own file has."""
    return [entry for entry in report.limits.accepted if not any(_has_expired(entry, one) for one in report.judged)]


def _has_expired(entry: Accepted, one: Judged) -> bool:
    baseline = _baseline(one.weighing, one.verdict)
    return baseline is not None and entry in baseline.accepted


def _holds(entry: Accepted, one: Judged) -> bool:
    """Whether an entry fits a result, whose baseline is known to lack it: of two commands nobody knows."""
    if _baseline(one.weighing, one.verdict) is None or _has_expired(entry, one) or not one.deciding:
        return False
    asked, metric = one.weighing.settings.metrics, one.verdict.metric
    is_first = metric == asked[0] or metric not in asked
    return entry.is_of(one.verdict.benchmark, {metric}, deciding=is_first)


def _baseline(weighing: Weighing, verdict: Verdict) -> RevisionFacts | None:
    """Return the revision of a verdict's baseline; None if it is none."""
    return weighing.subjects[weighing.benchmarks[verdict.index].baseline].revision
