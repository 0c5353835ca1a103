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
from steelyard.design.gate.parts import parts_alone
from steelyard.design.identical import EVERY_BENCHMARK
from steelyard.design.outcome import Outcome, recall
from steelyard.model.derived import Verdict
from steelyard.model.errors import NotMeasuredError, SteelyardError
from steelyard.model.gate import GateReport, Judged, Standing
from steelyard.model.journal import is_journal, is_still_written
from steelyard.model.kept import CONTROL_ALARM, KEPT_NAME, Finding
from steelyard.model.limits import NEVER, Limit, Limits, that_applies
from steelyard.model.patterns import fits
from steelyard.model.records import Part, Run, Weighing
from steelyard.model.subject import Benchmark
from steelyard.report.figures import count
from steelyard.stats.verdict import against_limit

_MISSING = "{}; give the records of all parts, or --part where the others have gates of their own"


@dataclass(frozen=True)
class _Read:
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
    read = [_read(name, path, limits, largest_bytes) for name, path in dict.fromkeys(records)]
    twice = [_once(name) for name, times in Counter(name for name, _ in records).items() if times > 1]
    return _report([*_without_copies(read)], limits, of_parts=of_parts, findings=twice)


def of_one(name: str, outcome: Outcome, limits: Limits) -> GateReport:
    """Hold one record, which was read already, to the limits, whatever it is a part of."""
    return _report([_of_outcome(name, outcome, limits)], limits, of_parts=True)


def _report(
    read: Sequence[_Read], limits: Limits, *, of_parts: bool = False, findings: Sequence[Finding] = ()
) -> GateReport:
    weighings = {one.name: one.weighing for one in read if one.weighing is not None}
    judged = [one for name, weighing in weighings.items() for one in _judged(name, weighing, limits)]
    report = GateReport(limits, list(weighings), list(weighings.values()), judged)
    problems = [one.problem for one in read if one.problem is not None]
    problems += [*_without_data(report), *_interrupted(report)]
    problems += [] if judged or problems or report.is_all_new else ["no benchmark was measured"]
    problems += _unheld(report) if weighings else []
    alone = list(parts_alone(weighings))
    problems += [] if of_parts else [_MISSING.format(one.message) for one in alone]
    findings = [*findings, *(finding for one in read for finding in one.findings)]
    findings += [*_passed_over(report), *_unused(report), *_unasked(report), *(alone if of_parts else [])]
    findings += accepting.findings(report)
    return replace(report, problems=problems, findings=findings)


def _without_copies(read: Sequence[_Read]) -> Iterator[_Read]:
    """Yield the same, with the first record only of each weighing; of one that was carried on or merged, the whole."""
    firsts: dict[Hashable, str] = {}
    merged = _merged(read)
    akin: dict[Hashable, list[_Read]] = {}
    for one in read:
        if (begun := _beginning(one.weighing)) is not None:
            akin.setdefault(begun, []).append(one)
    for one in read:
        first = one.name if one.weighing is None else firsts.setdefault(_identity(one.weighing), one.name)
        alike = akin.get(_beginning(one.weighing), [])
        whole = max((other for other in alike if _goes_on_from(one, other)), default=one, key=_launches)
        if first != one.name:
            yield _Read(one.name, None, None, [_once(one.name, f"holds the same weighing as {first}")])
        elif one.weighing is not None and (all_parts := merged.get(_measuring(one.weighing))):
            yield _Read(one.name, None, None, [_once(one.name, f"is part of what was merged as {all_parts}")])
        elif whole is not one:
            yield _Read(one.name, None, None, [_once(one.name, f"was carried on as {whole.name}")])
        else:
            yield one


def _merged(read: Sequence[_Read]) -> dict[Hashable, str]:
    """Return which of these records each part of a suite was merged into."""
    wholes = [(one.name, one.weighing) for one in read if one.weighing is not None]
    return {_measuring(part): name for name, whole in wholes for part in whole.parts}


def _measuring(one: Weighing | Part) -> Hashable:
    """Return what identifies a part in a merged record."""
    seed = one.seed if isinstance(one, Part) else one.settings.seed
    return one.created, one.machine.key, seed, one.seconds


def _beginning(weighing: Weighing | None) -> Hashable:
    """Return what a weighing and those that it was carried on as have in common; None if it has no launches."""
    if weighing is None or not len(weighing.launches):
        return None
    launches, settings = weighing.launches, weighing.settings
    return weighing.created, weighing.machine.key, settings.seed, launches.start_ns[0], launches.wall_ns[0]


def _goes_on_from(part: _Read, whole: _Read) -> bool:
    """Whether one record has the other's launches and more; of two that went on from a third, neither has."""
    if whole.weighing is None or part.weighing is None or _launches(whole) <= _launches(part):
        return False
    measured = np.asarray(part.weighing.launches.wall_ns)
    return np.array_equal(np.asarray(whole.weighing.launches.wall_ns)[: len(measured)], measured)


def _launches(read: _Read) -> int:
    return 0 if read.weighing is None else len(read.weighing.launches)


def _identity(weighing: Weighing) -> Hashable:
    """Return what no two weighings have in common, whatever their files are called and however they were written."""
    asked = repr((weighing.created, weighing.machine, weighing.settings, weighing.subjects, weighing.benchmarks))
    return asked, weighing.seconds, tuple(weighing.stop), np.asarray(weighing.launches.wall_ns).tobytes()


def _once(name: str, why: str = "is named twice") -> Finding:
    return Finding(code="counted-once", message=f"{name} {why}, and counts once", remedy="name each weighing once")


def _read(name: str, path: Path, limits: Limits, largest_bytes: int | None) -> _Read:
    try:
        if not path.exists():
            return _Read(name, None, f"there is no record {name}: {_why_missing(path)}")
        if largest_bytes is not None and path.is_symlink() and not path.is_relative_to("/dev"):
            return _Read(name, None, f"{name} is a link: it is not followed to what a stranger may have chosen")
    except OSError as error:
        return _Read(name, None, f"cannot read {name}: {error.strerror}; check the path and its permissions")
    try:
        if _is_measured_now(path):
            return _Read(name, None, f"{name} is still being measured: wait for its end")
        outcome = recall(path, largest_bytes)
    except NotMeasuredError:
        return _Read(
            name, None, f"{name} was imported from another tool: a gate needs a weighing, by steelyard compare"
        )
    except SteelyardError as unread:
        said = str(unread)
        return _Read(name, None, said if name in said else f"{name}: {said}")
    return _of_outcome(name, outcome, limits)


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


def _of_outcome(name: str, outcome: Outcome, limits: Limits) -> _Read:
    record = outcome.record
    if isinstance(record, Run):
        return _Read(
            name,
            None,
            f"{name} is a run of one side, without a baseline: weigh both by steelyard compare",
        )
    if record.is_empty():
        return _Read(name, None, f"{name}: {outcome.error or 'nothing was measured'}")
    return _Read(name, record, *_failures(name, record, limits, outcome.error))


def _failures(
    name: str, record: Weighing, limits: Limits, error: SteelyardError | None
) -> tuple[str | None, list[Finding]]:
    """Return what failed of a record as a problem; of benchmarks that never fail the gate, as findings."""
    if error is None:
        return None, []
    failed = _failed(record)
    kept = {one.name for one in failed if _never_fails(one.name, record, limits)}
    found = [_never(f"{one.name} failed") for one in failed if one.name in kept]
    if not kept or record.derived is None:
        return f"{name}: {error}", found
    left = [one.name for one in failed if one.name not in kept]
    return (f"{name}: {some_names(left)} failed" if left else None), found


def _failed(record: Weighing) -> list[Benchmark]:
    places = zip(record.benchmarks, record.stop, strict=True)
    return [one for one, reason in places if reason == "failed" and not one.control]


def _never_fails(benchmark: str, record: Weighing, limits: Limits) -> bool:
    """Whether each limit that the gate would hold a benchmark to is one that is never exceeded."""
    metrics = enumerate(record.settings.metrics)
    held = [limits.of(benchmark, {metric}, deciding=not place) for place, metric in metrics]
    return held[0] is not None and all(limit is None or limit.above is None for limit in held)


def _never(what: str) -> Finding:
    return Finding(code="passed-over", message=f"{what}, which the gate passes over: its limit is {NEVER!r}")


def _judged(name: str, weighing: Weighing, limits: Limits) -> list[Judged]:
    verdicts = weighing.derived.verdicts if weighing.derived else []
    asked = weighing.settings.metrics
    places: Counter[int] = Counter()
    judged = []
    for verdict in verdicts:
        if not verdict.control:
            place = places[verdict.index]
            places[verdict.index] += 1
            metric = asked[min(place, len(asked) - 1)]
            judged.append(_held(name, weighing, verdict, limits, metric=metric, first=place == 0))
    return judged


def _held(name: str, weighing: Weighing, verdict: Verdict, limits: Limits, *, metric: str, first: bool) -> Judged:
    """Hold a verdict to the limit of the `metric` that was asked for, which may not be the one that it is of."""
    metrics = {metric, verdict.metric}
    limit = limits.of(verdict.benchmark, metrics, deciding=first)
    deciding = first or limit is not None
    standing = _standing(verdict, limit) if deciding else "within"
    accepted = None
    if standing == "above":
        held = accepting.that_hold(limits, weighing, verdict)
        accepted = that_applies(held, verdict.benchmark, metrics, deciding=first)
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
    interval = (_log(verdict.interval[0]), _log(verdict.interval[1]))
    return against_limit(_log(verdict.change), interval, limit.above, is_change=verdict.is_change)


def _log(change: float) -> float:
    return log1p(change) if change > -1 else float("-inf")


def _without_data(report: GateReport) -> list[str]:
    """Return the problems of what has to be decided and has no number at all."""
    return [_said_of_none(one) for one in report.deciding if _has_no_data(one) and one.above is not None]


def _passed_over(report: GateReport) -> list[Finding]:
    """Return the same for those that never fail the gate."""
    return [_never(_said_of_none(one)) for one in report.deciding if _has_no_data(one) and one.above is None]


def _said_of_none(one: Judged) -> str:
    verdict = one.verdict
    what = "nothing" if verdict.change is None else "only the warm-up"
    return f"{verdict.benchmark}: {what} was measured for {verdict.metric}{_why(one)}"


def _has_no_data(one: Judged) -> bool:
    measured = one.verdict.pairs or one.weighing.identical is not None
    return one.verdict.change is None or not measured


def _interrupted(report: GateReport) -> list[str]:
    """Return which weighings ended before some of their benchmarks: that these stayed open is no answer."""
    left = (one for one in report.undecided if one.reason == "interrupted" and not _has_no_data(one))
    ended = Counter(source for source, _ in {(one.source, one.verdict.index): None for one in left})
    return [
        f"{source} was interrupted with {count(many, 'benchmark')} open: "
        f"steelyard compare --resume {'FILE' if source == '-' else shlex.quote(source)} carries it on"
        for source, many in ended.items()
    ]


def _why(one: Judged) -> str:
    undefined = [finding.message for finding in one.verdict.findings if finding.code == "undefined"]
    return f" ({undefined[0]})" if undefined else ""


def _unheld(report: GateReport) -> list[str]:
    """Return the required benchmarks that are missing, and the metrics with a limit that were not measured."""
    names = {one.verdict.benchmark for one in report.deciding if one.verdict.change is not None}
    why = "it is new, was renamed or removed, failed, or there was no time for it"
    if report.is_all_new:
        why = "the baseline has no benchmark yet, so require it from the next change on"
    wanted = [
        f"required benchmark {pattern} has no verdict: {why}{_like(pattern, names)}"
        for pattern in ([] if _stands_for_all(report) else report.limits.require)
        if not fits(names | _elsewhere(report), [pattern])
    ]
    measured = {one.verdict.metric for one in report.judged}
    # Where `active` is undefined, the verdict is of another metric, and the limit on `active` still has to hold.
    asked = {metric for weighing in report.weighings for metric in weighing.settings.metrics}
    limited = dict.fromkeys(limit.metric for limit in report.limits.limits if limit.metric and limit.above is not None)
    lacking = [metric for metric in limited if metric not in measured | asked]
    return wanted + [f"{metric} has a limit and was not measured: weigh with --metric {metric}" for metric in lacking]


def _stands_for_all(report: GateReport) -> bool:
    """Whether a verdict is of one program on both sides, not asked for its benchmarks: any may be among them."""
    return any(one.verdict.benchmark == EVERY_BENCHMARK and one.weighing.identical for one in report.judged)


def _unasked(report: GateReport) -> list[Finding]:
    """Return a finding on required benchmarks that were not judged, and may be such a program's, or gone."""
    names = {one.verdict.benchmark for one in report.judged} - {EVERY_BENCHMARK} | _elsewhere(report)
    lacking = [pattern for pattern in report.limits.require if not fits(names, [pattern])]
    if not (names and lacking and _stands_for_all(report)):
        return []
    message = (
        f"required, and not among what was measured: {some_names(lacking)}; taken for benchmarks of a program that is "
        "one on both sides, which was not asked for its own"
    )
    return [Finding(code="not-asked-for", message=message)]


def _elsewhere(report: GateReport) -> set[str]:
    """Return the benchmarks of the suites whose parts are here that are in none of these parts."""
    suites = {name for one in report.weighings if one.settings.shard for name in one.settings.shard.suite}
    return suites - {one.name for weighing in report.weighings for one in weighing.benchmarks}


def _unused(report: GateReport) -> list[Finding]:
    """Return findings on limits, and on accepted slowdowns, that fit no benchmark."""
    if not report.judged or _stands_for_all(report):
        return []
    names = {one.verdict.benchmark for one in report.judged} | _elsewhere(report)
    names |= {one.name for weighing in report.weighings for one in _failed(weighing)}
    patterns = [(f"the limit {limit}", limit.benchmark) for limit in report.limits.limits if limit.benchmark]
    patterns += [(accepting.said(entry), entry.benchmark) for entry in accepting.without_expired(report)]
    return [
        Finding(
            code="unused-limit",
            message=f"{limit} fits no benchmark{_like(pattern, names)}",
            remedy="correct its pattern",
        )
        for limit, pattern in patterns
        if not fits(names, [pattern])
    ]


def _like(pattern: str, names: set[str]) -> str:
    """Say which names hold the text of a pattern that fits none: in a suite, names often begin with a file's."""
    part = pattern.strip("*")
    holding = sorted(name for name in names if part and part in name)
    if not holding:
        return ""
    are, them = ("is", "it") if len(holding) == 1 else ("are", "them")
    return f"; there {are} {some_names(holding)}: '*{part}*' fits {them}"
