"""Which slowdowns a gate accepts: an entry of the project's file holds in the change that brings it, and no longer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from steelyard.design.findings import some_names
from steelyard.model.derived import Verdict
from steelyard.model.findings import Finding
from steelyard.model.gate import GateReport, Judged
from steelyard.model.limits import Accepted, Limits
from steelyard.model.records import Weighing

Expired = Sequence[frozenset[Accepted]]
"""The entries that have expired for each subject of a weighing as a baseline."""


def expired_entries(limits: Limits, weighing: Weighing) -> Expired:
    """Return the entries that a subject's own file has already; of two commands nobody knows, so none has expired."""
    files = [subject.revision.accepted if subject.revision else [] for subject in weighing.subjects]
    return [frozenset(entry for entry in limits.accepted if entry in of_file) for of_file in files]


def limits_in_force(limits: Limits, expired: Expired) -> list[Limits]:
    """Return the limits without what has expired, for each subject as a baseline."""
    return [
        limits.model_copy(update={"accepted": [entry for entry in limits.accepted if entry not in gone]})
        for gone in expired
    ]


def findings(report: GateReport, known: Mapping[str, Expired]) -> Iterator[Finding]:
    """Yield a finding for each entry that has expired, that is of no metric here, or that was not needed.

    `known` is what has expired, by the names of the records.
    """
    metrics = {name for one in report.judged for name in (one.verdict.metric, *one.weighing.settings.metrics)}
    for entry in report.limits.accepted:
        gone = dict.fromkeys(one.source for one in report.judged if _has_expired(entry, one, known))
        held = [one for one in report.judged if _is_tried(entry, one)]
        if gone:
            yield _expired_finding(entry, [*gone] if held else [])
        elif metrics and entry.metric is not None and entry.metric not in metrics:
            yield Finding(
                code="unused-limit",
                message=f"{entry_text(entry)} is of a metric that was not measured",
                remedy=f"weigh with --metric {entry.metric}, or correct its metric",
            )
        elif held and all(one.standing == "within" for one in held):
            yield Finding(
                code="not-needed",
                message=f"{entry_text(entry)} was not needed: nothing that it fits was found above its limit",
            )


def _expired_finding(entry: Accepted, sources: Sequence[str]) -> Finding:
    """Return the finding that an entry has expired, for all records or those of these names."""
    of = f" of {some_names(sources)}" if sources else ""
    return Finding(
        code="accepted-before",
        message=f"{entry_text(entry)} is passed over: the baseline{of} has it already",
        remedy="remove its [[gate.accepted]] from the project's file; accept another slowdown with another reason or "
        "change",
    )


def entry_text(entry: Accepted) -> str:
    """Call an entry by what stands in the file."""
    return f"the accepted slowdown {entry} ({entry.reason})"


def unexpired(report: GateReport, known: Mapping[str, Expired]) -> list[Accepted]:
    """Return the entries that no baseline's own file has."""
    return [
        entry for entry in report.limits.accepted if not any(_has_expired(entry, one, known) for one in report.judged)
    ]


def _has_expired(entry: Accepted, one: Judged, known: Mapping[str, Expired]) -> bool:
    return entry in known[one.source][_baseline(one.weighing, one.verdict)]


def _is_tried(entry: Accepted, one: Judged) -> bool:
    """Whether an entry fits a result that decides, and whose baseline is known to lack it."""
    baseline = one.weighing.subjects[_baseline(one.weighing, one.verdict)]
    return one.deciding and entry in one.acceptable and baseline.revision is not None


def _baseline(weighing: Weighing, verdict: Verdict) -> int:
    return weighing.benchmarks[verdict.index].baseline
