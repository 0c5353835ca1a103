"""The records that a gate is given, each read with what it tells, or why it tells nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from steelyard.design.findings import some_names
from steelyard.design.outcome import Outcome, recall
from steelyard.model.errors import NotMeasuredError, SteelyardError
from steelyard.model.findings import Finding
from steelyard.model.format import KEPT_NAME
from steelyard.model.journal import is_journal, is_still_written
from steelyard.model.limits import NEVER, Limits
from steelyard.model.records import Run, Weighing
from steelyard.model.subject import Benchmark


@dataclass(frozen=True)
class ReadRecord:
    """One record as it was read, or why it tells nothing."""

    name: str
    weighing: Weighing | None
    problem: str | None
    findings: Sequence[Finding] = ()


def read_record(name: str, path: Path, limits: Limits, largest_bytes: int | None) -> ReadRecord:
    """Read a record of at most `largest_bytes`; what is wrong with it is its problem, and no error."""
    try:
        if not path.exists():
            return ReadRecord(name, None, f"there is no record {name}: {_why_missing(path)}")
        if largest_bytes is not None and path.is_symlink() and not path.is_relative_to("/dev"):
            return ReadRecord(name, None, f"{name} is a link: it is not followed to what a stranger may have chosen")
    except OSError as error:
        return ReadRecord(name, None, f"cannot read {name}: {error.strerror}; check the path and its permissions")
    try:
        if _is_measured_now(path):
            return ReadRecord(name, None, f"{name} is still being measured: wait for its end")
        outcome = recall(path, largest_bytes)
    except NotMeasuredError:
        return ReadRecord(
            name, None, f"{name} was imported from another tool: a gate needs a weighing, by steelyard compare"
        )
    except SteelyardError as error:
        message = str(error)
        return ReadRecord(name, None, message if name in message else f"{name}: {message}")
    return from_outcome(name, outcome, limits)


def _why_missing(path: Path) -> str:
    """Say why there is no such file; a project's several weighings have one each, with the target's name added."""
    stem, dot, suffixes = path.name.partition(".")
    found = path.parent.glob(f"{escape(stem)}-*{escape(dot + suffixes)}")
    beside = sorted(one.name for one in found if one.name.isprintable())
    if beside:
        return f"a project's several weighings have one each, so name those: {some_names(beside)}"
    if KEPT_NAME.fullmatch(path.name):
        return "the store keeps the last 100, and steelyard list has their names"
    return (
        "the weighing wrote it elsewhere, or wrote none, as happens when a side does not build: its own output says why"
    )


def _is_measured_now(path: Path) -> bool:
    try:
        return path.is_file() and is_still_written(path) and is_journal(path)
    except OSError:
        return False  # reading it says so


def from_outcome(name: str, outcome: Outcome, limits: Limits) -> ReadRecord:
    """Return a record that was read already, with what failed of it."""
    record = outcome.record
    if isinstance(record, Run):
        return ReadRecord(
            name,
            None,
            f"{name} is a run of one side, without a baseline: weigh both by steelyard compare",
        )
    problem, findings = _failures(name, record, limits, outcome.error)
    if record.is_empty() and not findings:
        return ReadRecord(name, None, f"{name}: {outcome.error or 'nothing was measured'}")
    return ReadRecord(name, record, problem, findings)


def _failures(
    name: str, record: Weighing, limits: Limits, error: SteelyardError | None
) -> tuple[str | None, list[Finding]]:
    """Return what failed of a record as a problem; of benchmarks that never fail the gate, as findings."""
    if error is None:
        return None, []
    failed = failed_benchmarks(record)
    passed_over = {one.name for one in failed if _never_fails_gate(one.name, record, limits)}
    findings = [passed_over_finding(f"{one.name} failed") for one in failed if one.name in passed_over]
    failing = [one.name for one in failed if one.name not in passed_over]
    is_told_one_by_one = record.derived is not None or len(failed) == len(record.members)
    if not passed_over or not is_told_one_by_one:
        return f"{name}: {error}", findings
    return (f"{name}: {some_names(failing)} failed" if failing else None), findings


def failed_benchmarks(record: Weighing) -> list[Benchmark]:
    """Return the benchmarks that failed, except controls."""
    places = zip(record.benchmarks, record.stop, strict=True)
    return [one for one, reason in places if reason == "failed" and not one.control]


def _never_fails_gate(benchmark: str, record: Weighing, limits: Limits) -> bool:
    """Whether each limit that the gate would hold a benchmark to is one that is never exceeded."""
    metrics = enumerate(record.settings.metrics)
    applied = [limits.of(benchmark, {metric}, deciding=not place) for place, metric in metrics]
    return applied[0] is not None and all(limit is None or limit.above is None for limit in applied)


def passed_over_finding(what: str) -> Finding:
    """Return the finding on a benchmark that gave no answer and never fails the gate."""
    return Finding(code="passed-over", message=f"{what}, which the gate passes over: its limit is {NEVER!r}")
