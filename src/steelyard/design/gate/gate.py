"""A gate: whether what records of weighings say keeps to its limits."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from glob import escape
from math import log1p
from pathlib import Path

import numpy as np

from steelyard.design.findings import some_names
from steelyard.design.gate import accepting
from steelyard.design.gate.parts import incomplete_suite_findings
from steelyard.design.identical import EVERY_BENCHMARK
from steelyard.design.outcome import Outcome, recall
from steelyard.model.derived import Verdict
from steelyard.model.errors import NotMeasuredError, SteelyardError
from steelyard.model.gate import GateReport, Judged, Standing
from steelyard.model.journal import is_journal, is_still_written
from steelyard.model.kept import CONTROL_ALARM, KEPT_NAME, Finding
from steelyard.model.limits import NEVER, Limit, Limits
from steelyard.model.patterns import fits
from steelyard.model.records import Part, Run, Weighing
from steelyard.model.subject import Benchmark
from steelyard.report.figures import count
from steelyard.stats.verdict import against_limit

_MISSING = "{}; give the records of all parts, or --part where the others have gates of their own"


@dataclass(frozen=True)
class _ReadRecord:
    """One record as it was read, or why it tells nothing."""

    name: str
    weighing: Weighing | None
    problem: str | None
    findings: Sequence[Finding] = ()


def gate(
    records: Sequence[tuple[str, Path]], limits: Limits, *, largest_bytes: int | None = None, of_parts: bool = False
) -> GateReport:
    """Hold the records, each with the name that it goes by, to the limits.

    A record that is missing, is none, is larger than `largest_bytes` or tells nothing is a problem of the report: a
    gate without data is not passed. So is a part of a suite whose other parts are missing, unless the gate is
    `of_parts` alone.
    """
    records_read = [_read_record(name, path, limits, largest_bytes) for name, path in dict.fromkeys(records)]
    twice = [_counted_once_finding(name) for name, times in Counter(name for name, _ in records).items() if times > 1]
    return _report([*_without_copies(records_read)], limits, of_parts=of_parts, findings=twice)


def gate_outcome(name: str, outcome: Outcome, limits: Limits) -> GateReport:
    """Hold one record, which was read already, to the limits, whatever it is a part of."""
    return _report([_from_outcome(name, outcome, limits)], limits, of_parts=True)


def _report(
    records_read: Sequence[_ReadRecord], limits: Limits, *, of_parts: bool = False, findings: Sequence[Finding] = ()
) -> GateReport:
    weighings = {one.name: one.weighing for one in records_read if one.weighing is not None}
    judged = [one for name, weighing in weighings.items() for one in _judge_verdicts(name, weighing, limits)]
    report = GateReport(limits, list(weighings), list(weighings.values()), judged)
    problems = [one.problem for one in records_read if one.problem is not None]
    problems += [*_no_data_problems(report), *_interrupted_problems(report)]
    problems += [] if judged or problems or report.is_all_new else ["no benchmark was measured"]
    problems += _missing_problems(report) if weighings else []
    alone = list(incomplete_suite_findings(weighings))
    problems += [] if of_parts else [_MISSING.format(one.message) for one in alone]
    findings = [*findings, *(finding for one in records_read for finding in one.findings)]
    findings += [
        *_no_data_findings(report),
        *_unused_limit_findings(report),
        *_not_asked_for_findings(report),
        *(alone if of_parts else []),
    ]
    findings += accepting.findings(report)
    return replace(report, problems=problems, findings=findings)


def _without_copies(records_read: Sequence[_ReadRecord]) -> Iterator[_ReadRecord]:
    """Yield the same, with the first record only of each weighing; of one that was carried on or merged, the whole."""
    firsts: dict[Hashable, str] = {}
    merged_by_part = _merged_names_by_part(records_read)
    by_first_launch: dict[Hashable, list[_ReadRecord]] = {}
    for record in records_read:
        if (first_launch := _first_launch_identity(record.weighing)) is not None:
            by_first_launch.setdefault(first_launch, []).append(record)
    for record in records_read:
        first = record.name if record.weighing is None else firsts.setdefault(_identity(record.weighing), record.name)
        same_first_launch = by_first_launch.get(_first_launch_identity(record.weighing), [])
        whole = max(
            (other for other in same_first_launch if _is_continued_by(record, other)), default=record, key=_launch_count
        )
        if first != record.name:
            yield _ReadRecord(
                record.name, None, None, [_counted_once_finding(record.name, f"holds the same weighing as {first}")]
            )
        elif record.weighing is not None and (all_parts := merged_by_part.get(_part_identity(record.weighing))):
            yield _ReadRecord(
                record.name,
                None,
                None,
                [_counted_once_finding(record.name, f"is part of what was merged as {all_parts}")],
            )
        elif whole is not record:
            yield _ReadRecord(
                record.name, None, None, [_counted_once_finding(record.name, f"was carried on as {whole.name}")]
            )
        else:
            yield record


def _merged_names_by_part(records_read: Sequence[_ReadRecord]) -> dict[Hashable, str]:
    """Return which of these records each part of a suite was merged into."""
    wholes = [(one.name, one.weighing) for one in records_read if one.weighing is not None]
    return {_part_identity(part): name for name, whole in wholes for part in whole.parts}


def _part_identity(measured: Weighing | Part) -> Hashable:
    """Return what identifies a part in a merged record."""
    seed = measured.seed if isinstance(measured, Part) else measured.settings.seed
    return measured.created, measured.machine.key, seed, measured.seconds


def _first_launch_identity(weighing: Weighing | None) -> Hashable:
    """Return what a weighing and those that it was carried on as have in common; None if it has no launches."""
    if weighing is None or not len(weighing.launches):
        return None
    launches, settings = weighing.launches, weighing.settings
    return weighing.created, weighing.machine.key, settings.seed, launches.start_ns[0], launches.wall_ns[0]


def _is_continued_by(part: _ReadRecord, whole: _ReadRecord) -> bool:
    """Whether one record has the other's launches and more; of two that went on from a third, neither has."""
    if whole.weighing is None or part.weighing is None or _launch_count(whole) <= _launch_count(part):
        return False
    measured = np.asarray(part.weighing.launches.wall_ns)
    return np.array_equal(np.asarray(whole.weighing.launches.wall_ns)[: len(measured)], measured)


def _launch_count(read: _ReadRecord) -> int:
    return 0 if read.weighing is None else len(read.weighing.launches)


def _identity(weighing: Weighing) -> Hashable:
    """Return what no two weighings have in common, whatever their files are called and however they were written."""
    header = repr((weighing.created, weighing.machine, weighing.settings, weighing.subjects, weighing.benchmarks))
    return header, weighing.seconds, tuple(weighing.stop), np.asarray(weighing.launches.wall_ns).tobytes()


def _counted_once_finding(name: str, why: str = "is named twice") -> Finding:
    return Finding(code="counted-once", message=f"{name} {why}, and counts once", remedy="name each weighing once")


def _read_record(name: str, path: Path, limits: Limits, largest_bytes: int | None) -> _ReadRecord:
    try:
        if not path.exists():
            return _ReadRecord(name, None, f"there is no record {name}: {_why_missing(path)}")
        if largest_bytes is not None and path.is_symlink() and not path.is_relative_to("/dev"):
            return _ReadRecord(name, None, f"{name} is a link: it is not followed to what a stranger may have chosen")
    except OSError as error:
        return _ReadRecord(name, None, f"cannot read {name}: {error.strerror}; check the path and its permissions")
    try:
        if _is_measured_now(path):
            return _ReadRecord(name, None, f"{name} is still being measured: wait for its end")
        outcome = recall(path, largest_bytes)
    except NotMeasuredError:
        return _ReadRecord(
            name, None, f"{name} was imported from another tool: a gate needs a weighing, by steelyard compare"
        )
    except SteelyardError as error:
        message = str(error)
        return _ReadRecord(name, None, message if name in message else f"{name}: {message}")
    return _from_outcome(name, outcome, limits)


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


def _from_outcome(name: str, outcome: Outcome, limits: Limits) -> _ReadRecord:
    record = outcome.record
    if isinstance(record, Run):
        return _ReadRecord(
            name,
            None,
            f"{name} is a run of one side, without a baseline: weigh both by steelyard compare",
        )
    if record.is_empty():
        return _ReadRecord(name, None, f"{name}: {outcome.error or 'nothing was measured'}")
    return _ReadRecord(name, record, *_failures(name, record, limits, outcome.error))


def _failures(
    name: str, record: Weighing, limits: Limits, error: SteelyardError | None
) -> tuple[str | None, list[Finding]]:
    """Return what failed of a record as a problem; of benchmarks that never fail the gate, as findings."""
    if error is None:
        return None, []
    failed = _failed_benchmarks(record)
    passed_over = {one.name for one in failed if _never_fails_gate(one.name, record, limits)}
    findings = [_passed_over_finding(f"{one.name} failed") for one in failed if one.name in passed_over]
    if not passed_over or record.derived is None:
        return f"{name}: {error}", findings
    failing = [one.name for one in failed if one.name not in passed_over]
    return (f"{name}: {some_names(failing)} failed" if failing else None), findings


def _failed_benchmarks(record: Weighing) -> list[Benchmark]:
    places = zip(record.benchmarks, record.stop, strict=True)
    return [one for one, reason in places if reason == "failed" and not one.control]


def _never_fails_gate(benchmark: str, record: Weighing, limits: Limits) -> bool:
    """Whether each limit that the gate would hold a benchmark to is one that is never exceeded."""
    metrics = enumerate(record.settings.metrics)
    applied = [limits.of(benchmark, {metric}, deciding=not place) for place, metric in metrics]
    return applied[0] is not None and all(limit is None or limit.above is None for limit in applied)


def _passed_over_finding(what: str) -> Finding:
    return Finding(code="passed-over", message=f"{what}, which the gate passes over: its limit is {NEVER!r}")


def _judge_verdicts(name: str, weighing: Weighing, limits: Limits) -> list[Judged]:
    verdicts = weighing.derived.verdicts if weighing.derived else []
    metrics, limits_in_force = weighing.settings.metrics, accepting.limits_in_force(limits, weighing)
    places: Counter[int] = Counter()
    judged = []
    for verdict in verdicts:
        if not verdict.control:
            place = places[verdict.index]
            places[verdict.index] += 1
            metric = metrics[min(place, len(metrics) - 1)]
            held_to = limits_in_force[weighing.benchmarks[verdict.index].baseline]
            judged.append(_judge_verdict(name, weighing, verdict, held_to, metric=metric, first=place == 0))
    return judged


def _judge_verdict(
    name: str, weighing: Weighing, verdict: Verdict, limits: Limits, *, metric: str, first: bool
) -> Judged:
    """Hold a verdict to the limit of the `metric` that was asked for, which may not be the one that it is of.

    What is above that limit is held to what is accepted.
    """
    metrics = {metric, verdict.metric}
    limit = limits.of(verdict.benchmark, metrics, deciding=first)
    deciding = first or limit is not None
    standing = _standing(verdict, limit) if deciding else "within"
    accepted = limits.accepted_of(verdict.benchmark, metrics, deciding=first) if standing == "above" else None
    if accepted is not None:
        standing = "accepted" if (stands := _standing(verdict, accepted)) == "within" else stands
    return Judged(
        source=name,
        weighing=weighing,
        verdict=verdict,
        limit=limit,
        standing=standing,
        deciding=deciding,
        reason=weighing.stop[verdict.index],
        accepted=accepted,
    )


def _standing(verdict: Verdict, limit: Limit | None) -> Standing:
    if limit is None:
        return "above" if verdict.verdict == "slower" else "open" if verdict.verdict == "undecided" else "within"
    if limit.above is None:
        return "within"
    is_withheld = any(finding.code == CONTROL_ALARM for finding in verdict.findings)
    if is_withheld or verdict.change is None or verdict.interval is None:
        return "open"
    interval = (_log_ratio(verdict.interval[0]), _log_ratio(verdict.interval[1]))
    return against_limit(_log_ratio(verdict.change), interval, limit.above, is_change=verdict.is_change)


def _log_ratio(change: float) -> float:
    return log1p(change) if change > -1 else float("-inf")


def _no_data_problems(report: GateReport) -> list[str]:
    """Return the problems of what has to be decided and has no number at all."""
    return [_no_data_message(one) for one in report.deciding if _has_no_data(one) and one.above is not None]


def _no_data_findings(report: GateReport) -> list[Finding]:
    """Return the same for those that never fail the gate."""
    return [
        _passed_over_finding(_no_data_message(one))
        for one in report.deciding
        if _has_no_data(one) and one.above is None
    ]


def _no_data_message(judged: Judged) -> str:
    verdict = judged.verdict
    what = "nothing" if verdict.change is None else "only the warm-up"
    return f"{verdict.benchmark}: {what} was measured for {verdict.metric}{_undefined_reason(judged)}"


def _has_no_data(judged: Judged) -> bool:
    measured = judged.verdict.pairs or judged.weighing.identical is not None
    return judged.verdict.change is None or not measured


def _interrupted_problems(report: GateReport) -> list[str]:
    """Return which weighings ended before some of their benchmarks: that these stayed open is no answer."""
    undecided = (one for one in report.undecided if one.reason == "interrupted" and not _has_no_data(one))
    open_counts = Counter(source for source, _ in {(one.source, one.verdict.index): None for one in undecided})
    return [
        f"{source} was interrupted with {count(number, 'benchmark')} open: "
        f"steelyard compare --resume {'FILE' if source == '-' else shlex.quote(source)} carries it on"
        for source, number in open_counts.items()
    ]


def _undefined_reason(judged: Judged) -> str:
    undefined = [finding.message for finding in judged.verdict.findings if finding.code == "undefined"]
    return f" ({undefined[0]})" if undefined else ""


def _missing_problems(report: GateReport) -> list[str]:
    """Return the required benchmarks that are missing, and the metrics with a limit that were not measured."""
    names = {one.verdict.benchmark for one in report.deciding if one.verdict.change is not None}
    why = "it is new, was renamed or removed, failed, or there was no time for it"
    if report.is_all_new:
        why = "the baseline has no benchmark yet, so require it from the next change on"
    missing = [
        f"required benchmark {pattern} has no verdict: {why}{_similar_names_hint(pattern, names)}"
        for pattern in ([] if _covers_every_benchmark(report) else report.limits.require)
        if not fits(names | _benchmarks_of_other_parts(report), [pattern])
    ]
    measured = {one.verdict.metric for one in report.judged}
    # Where `active` is undefined, the verdict is of another metric, and the limit on `active` still has to hold.
    requested = {metric for weighing in report.weighings for metric in weighing.settings.metrics}
    limited = dict.fromkeys(limit.metric for limit in report.limits.limits if limit.metric and limit.above is not None)
    unmeasured = [metric for metric in limited if metric not in measured | requested]
    return missing + [
        f"{metric} has a limit and was not measured: weigh with --metric {metric}" for metric in unmeasured
    ]


def _covers_every_benchmark(report: GateReport) -> bool:
    """Whether a verdict is of one program on both sides, not asked for its benchmarks: any may be among them."""
    return any(one.verdict.benchmark == EVERY_BENCHMARK and one.weighing.identical for one in report.judged)


def _not_asked_for_findings(report: GateReport) -> list[Finding]:
    """Return a finding on required benchmarks that were not judged, and may be such a program's, or gone."""
    names = {one.verdict.benchmark for one in report.judged} - {EVERY_BENCHMARK} | _benchmarks_of_other_parts(report)
    unmatched = [pattern for pattern in report.limits.require if not fits(names, [pattern])]
    if not (names and unmatched and _covers_every_benchmark(report)):
        return []
    message = (
        f"required, and not among what was measured: {some_names(unmatched)}; taken for benchmarks of a program that "
        "is one on both sides, which was not asked for its own"
    )
    return [Finding(code="not-asked-for", message=message)]


def _benchmarks_of_other_parts(report: GateReport) -> set[str]:
    """Return the benchmarks of the suites whose parts are here that are in none of these parts."""
    suites = {name for one in report.weighings if one.settings.shard for name in one.settings.shard.suite}
    return suites - {one.name for weighing in report.weighings for one in weighing.benchmarks}


def _unused_limit_findings(report: GateReport) -> list[Finding]:
    """Return findings on limits, and on accepted slowdowns, that fit no benchmark."""
    if not report.judged or _covers_every_benchmark(report):
        return []
    names = {one.verdict.benchmark for one in report.judged} | _benchmarks_of_other_parts(report)
    names |= {one.name for weighing in report.weighings for one in _failed_benchmarks(weighing)}
    patterns = [(f"the limit {limit}", limit.benchmark) for limit in report.limits.limits if limit.benchmark]
    patterns += [(accepting.entry_text(entry), entry.benchmark) for entry in accepting.unexpired(report)]
    return [
        Finding(
            code="unused-limit",
            message=f"{limit} fits no benchmark{_similar_names_hint(pattern, names)}",
            remedy="correct its pattern",
        )
        for limit, pattern in patterns
        if not fits(names, [pattern])
    ]


def _similar_names_hint(pattern: str, names: set[str]) -> str:
    """Say which names hold the text of a pattern that fits none: in a suite, names often begin with a file's."""
    text = pattern.strip("*")
    holding = sorted(name for name in names if text and text in name)
    if not holding:
        return ""
    verb, pronoun = ("is", "it") if len(holding) == 1 else ("are", "them")
    return f"; there {verb} {some_names(holding)}: '*{text}*' fits {pronoun}"
