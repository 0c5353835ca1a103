"""A gate: whether what records of weighings say keeps to its limits."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from steelyard.design.findings import some_names
from steelyard.design.gate import accepting
from steelyard.design.gate.copies import counted_once_finding, without_copies
from steelyard.design.gate.reading import ReadRecord, failed_benchmarks, from_outcome, passed_over_finding, read_record
from steelyard.design.identical import EVERY_BENCHMARK
from steelyard.design.outcome import Outcome
from steelyard.model.derived import Verdict
from steelyard.model.findings import Finding
from steelyard.model.gate import GateReport, Judged, Standing
from steelyard.model.limits import Limit, Limits, that_applies
from steelyard.model.patterns import fits
from steelyard.model.records import Weighing
from steelyard.report.budgets import is_withheld
from steelyard.report.figures import count
from steelyard.stats.verdict import against_limit, log_ratio

_MISSING = "{}; give the records of all parts, or --part where the others have gates of their own"

_Suite = tuple[tuple[str, ...], int]
"""The names of its benchmarks, and the number of parts in which it was measured."""


def gate(
    records: Sequence[tuple[str, Path]], limits: Limits, *, largest_bytes: int | None = None, of_parts: bool = False
) -> GateReport:
    """Hold the records, each with the name that it goes by, to the limits.

    A record that is missing, is none, is larger than `largest_bytes` or tells nothing is a problem of the report: a
    gate without data is not passed. So is a part of a suite whose other parts are missing, unless the gate is
    `of_parts` alone.
    """
    records_read = [read_record(name, path, limits, largest_bytes) for name, path in dict.fromkeys(records)]
    twice = [counted_once_finding(name) for name, times in Counter(name for name, _ in records).items() if times > 1]
    return _report([*without_copies(records_read)], limits, of_parts=of_parts, findings=twice)


def gate_outcome(name: str, outcome: Outcome, limits: Limits) -> GateReport:
    """Hold one record, which was read already, to the limits, whatever it is a part of."""
    return _report([from_outcome(name, outcome, limits)], limits, of_parts=True)


def _report(
    records_read: Sequence[ReadRecord], limits: Limits, *, of_parts: bool = False, findings: Sequence[Finding] = ()
) -> GateReport:
    weighings = {one.name: one.weighing for one in records_read if one.weighing is not None}
    expired = {name: accepting.expired_entries(limits, weighing) for name, weighing in weighings.items()}
    judged = [
        one for name, weighing in weighings.items() for one in _judge_verdicts(name, weighing, limits, expired[name])
    ]
    report = GateReport(limits, list(weighings), list(weighings.values()), judged)
    problems = [one.problem for one in records_read if one.problem is not None]
    without_data = [one for one in report.deciding if one.has_no_data]
    problems += [_no_data_message(one) for one in without_data if one.above is not None]
    problems += _interrupted_problems(report)
    # Other parts, with gates of their own, may have what this one lacks.
    is_unmeasured = not (judged or report.is_all_new or (report.is_all_skipped and of_parts))
    problems += _unmeasured_problems(report) if is_unmeasured and not problems else []
    problems += _missing_problems(report) if weighings else []
    alone = list(_incomplete_suite_findings(weighings))
    problems += [] if of_parts else [_MISSING.format(one.message) for one in alone]
    findings = [*findings, *(finding for one in records_read for finding in one.findings)]
    findings += [
        *(passed_over_finding(_no_data_message(one)) for one in without_data if one.above is None),
        *_unused_limit_findings(report, expired),
        *_not_asked_for_findings(report),
        *(alone if of_parts else []),
    ]
    findings += accepting.findings(report, expired)
    return replace(report, problems=problems, findings=findings)


def _judge_verdicts(name: str, weighing: Weighing, limits: Limits, expired: accepting.Expired) -> list[Judged]:
    metrics, limits_in_force = weighing.settings.metrics, accepting.limits_in_force(limits, expired)
    places: Counter[int] = Counter()
    judged = []
    for verdict in weighing.verdicts:
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
    acceptable = limits.accepted_of(verdict.benchmark, metrics, deciding=first)
    accepted = that_applies(acceptable) if standing == "above" else None
    if accepted is not None:
        standing = "accepted" if (stands := _standing(verdict, accepted)) == "within" else stands
    return Judged(
        source=name,
        weighing=weighing,
        verdict=verdict,
        limit=limit,
        standing=standing,
        deciding=deciding,
        acceptable=acceptable,
        accepted=accepted,
    )


def _standing(verdict: Verdict, limit: Limit | None) -> Standing:
    if limit is None:
        return "above" if verdict.verdict == "slower" else "open" if verdict.verdict == "undecided" else "within"
    if limit.above is None:
        return "within"
    if is_withheld(verdict) or verdict.change is None or verdict.interval is None:
        return "open"
    interval = (log_ratio(verdict.interval[0]), log_ratio(verdict.interval[1]))
    return against_limit(log_ratio(verdict.change), interval, limit.above, is_change=verdict.is_change)


def _no_data_message(judged: Judged) -> str:
    verdict = judged.verdict
    what = "nothing" if verdict.change is None else "only the warm-up"
    undefined = [f" ({finding.message})" for finding in verdict.findings if finding.code == "undefined"]
    return f"{verdict.benchmark}: {what} was measured for {verdict.metric}{''.join(undefined[:1])}"


def _interrupted_problems(report: GateReport) -> list[str]:
    """Return which weighings ended before some of their benchmarks: that these stayed open is no answer."""
    undecided = (one for one in report.undecided_with_data if one.reason == "interrupted")
    open_counts = Counter(source for source, _ in {(one.source, one.verdict.index): None for one in undecided})
    return [
        f"{source} was interrupted with {count(number, 'benchmark')} open: "
        f"steelyard compare --resume {'FILE' if source == '-' else shlex.quote(source)} carries it on"
        for source, number in open_counts.items()
    ]


def _unmeasured_problems(report: GateReport) -> list[str]:
    """Return why nothing was measured: what skips itself says it."""
    skipped = [one.skipped_part.message for one in report.weighings if one.skipped_part is not None]
    return skipped or ["no benchmark was measured"]


def _missing_problems(report: GateReport) -> list[str]:
    """Return the required benchmarks that are missing, and the metrics with a limit that were not measured."""
    names = {one.verdict.benchmark for one in report.deciding if one.verdict.change is not None}
    in_suites = names | _benchmarks_of_other_parts(report)
    why = "it is new, was renamed or removed, failed, or there was no time for it"
    if report.is_all_new:
        why = "the baseline has no benchmark yet, so require it from the next change on"
    missing = [
        f"required benchmark {pattern} has no verdict: {why}{_similar_names_hint(pattern, names)}"
        for pattern in ([] if _covers_every_benchmark(report) else report.limits.require)
        if not fits(in_suites, [pattern])
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


def _unused_limit_findings(report: GateReport, expired: Mapping[str, accepting.Expired]) -> list[Finding]:
    """Return findings on limits, and on accepted slowdowns, that fit no benchmark."""
    if not report.judged or _covers_every_benchmark(report):
        return []
    names = {one.verdict.benchmark for one in report.judged} | _benchmarks_of_other_parts(report)
    names |= {one.name for weighing in report.weighings for one in failed_benchmarks(weighing)}
    patterns = [(f"the limit {limit}", limit.benchmark) for limit in report.limits.limits if limit.benchmark]
    patterns += [(accepting.entry_text(entry), entry.benchmark) for entry in accepting.unexpired(report, expired)]
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


# --- parts of suites whose other parts are not here


def _incomplete_suite_findings(weighings: Mapping[str, Weighing]) -> Iterator[Finding]:
    """Yield findings on suites of which only some parts are here.

    What was measured of other programs, such as those of an earlier commit, is no part of theirs.
    """
    suites: dict[_Suite, dict[Hashable, dict[str, int]]] = {}
    for name, weighing in weighings.items():
        if (shard := weighing.settings.shard) is not None:
            by_programs = suites.setdefault((tuple(shard.suite), shard.of), {})
            by_programs.setdefault(_programs_identity(weighing), {})[name] = shard.number
    for (_, number_of_parts), by_programs in suites.items():
        part_groups = [*by_programs.values()]
        for parts in part_groups:
            here, others = {*parts.values()}, [name for other in part_groups if other is not parts for name in other]
            if missing := [str(number) for number in range(1, number_of_parts + 1) if number not in here]:
                yield _missing_parts_finding(next(iter(parts)), missing, number_of_parts, others)


def _programs_identity(weighing: Weighing) -> Hashable:
    """Return what tells a weighing's programs from others: their revision, which each machine builds, or their file."""
    return tuple((one.command, one.digest if one.revision is None else one.revision.tree) for one in weighing.subjects)


def _missing_parts_finding(name: str, missing: list[str], number_of_parts: int, others: list[str]) -> Finding:
    which = f"{'part' if len(missing) == 1 else 'parts'} {some_names(missing)} of {number_of_parts}"
    verb, whose = ("is", "its") if len(missing) == 1 else ("are", "their")
    beside = f"; {some_names(others)} {'has' if len(others) == 1 else 'have'} other programs" if others else ""
    return Finding(
        code="part-alone",
        message=f"{which} of the suite of {name} {verb} not here: nothing is said of {whose} benchmarks{beside}",
        remedy="steelyard merge makes one record of all parts",
    )
