"""From a record's counts to its verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from statistics import median
from typing import Literal

from steelyard.design.budgets import count_elsewhere
from steelyard.design.counting.findings import disagreement_finding
from steelyard.design.counting.plan import CountedSide, counts_by_side, has_set_aside, judged_counts, value_of
from steelyard.model.counting import Count
from steelyard.model.derived import Side, Summary, Verdict
from steelyard.model.errors import MeasurementError
from steelyard.model.findings import Finding
from steelyard.model.metrics import is_counted
from steelyard.model.records import Run, Weighing
from steelyard.stats.counts import CountJudgement, counts_needed, judge_counts, spread, stability
from steelyard.stats.verdict import CHANGED


def count_verdicts(record: Weighing, members: Sequence[int], metric: str) -> list[Verdict]:
    """Return the verdicts of benchmarks in one counted metric.

    Where counts do not repeat, these share alpha, with those of other parts of the suite as well.
    """
    counts, sharing = counts_by_side(record), len(members) + count_elsewhere(record)
    return [_verdict(record, counts, benchmark, metric, sharing) for benchmark in members]


def count_summary(record: Run, benchmark: int, metric: str) -> Summary:
    """Return what was counted of one benchmark of a run; raises MeasurementError if nothing was."""
    counts = counts_by_side(record).get((benchmark, 0), [])
    values = _values(record, counts, metric)
    if not values:
        raise MeasurementError("nothing was counted before the run stopped")
    quality: Literal["quiet", "noisy"] = "noisy" if stability(values, values) == "noisy" else "quiet"
    return Summary(
        benchmark=record.benchmarks[benchmark].name,
        index=benchmark,
        metric=metric,
        median=median(values),
        spread=spread(values),
        interval=None,
        lowest=min(values),
        highest=max(values),
        modes=[],
        launches=len(values),
        seconds=_elapsed_seconds(record, counts),
        quality=quality,
    )


def _elapsed_seconds(record: Weighing | Run, counts: Sequence[Count]) -> float:
    """Return how long these counts took, in s; if they ran at the same time, no longer than the whole."""
    # Beside launches, the record's time is that of the launches.
    whole_s = 0.0 if len(record.launches) else record.seconds
    return min(sum(count.seconds for count in counts), whole_s or inf)


def with_disagreements(verdicts: list[Verdict]) -> list[Verdict]:
    """Return the verdicts, with what it means where time and counts disagree about a benchmark."""
    firsts: dict[int, dict[bool, Verdict]] = {}
    for verdict in verdicts:
        if not verdict.control:
            firsts.setdefault(verdict.index, {}).setdefault(is_counted(verdict.metric), verdict)
    finding_by_index = {}
    for index, first in firsts.items():
        if len(first) == 2 and (finding := disagreement_finding(first[False], first[True])):
            finding_by_index[index] = finding
    # Said once, beside the verdict that decides.
    return [
        verdict.model_copy(update={"findings": [finding_by_index.pop(verdict.index), *verdict.findings]})
        if verdict.index in finding_by_index
        else verdict
        for verdict in verdicts
    ]


def _verdict(
    record: Weighing, counts: Mapping[CountedSide, Sequence[Count]], benchmark: int, metric: str, members: int
) -> Verdict:
    settings = record.settings.judged_by(record.benchmarks[benchmark], metric)
    places = [counts.get((benchmark, side), []) for side in (0, 1)]
    sides = [_values(record, place, metric) for place in places]
    judgement, findings = None, []
    if any(not all(side) for side in sides) and any(map(any, sides)):
        findings = [Finding(code="undefined", message=f"{metric} was 0 in some counts, so it has no relative change")]
    else:
        # No event on either side is no change, of whatever size.
        baseline, candidate = ([value or 1.0 for value in side] for side in sides)
        judgement = judge_counts(baseline, candidate, settings.margin, settings.alpha / members)
    counts_wanted = counts_needed(settings.alpha / members)
    needs_more = judgement is not None and _needs_more(
        places, judgement, counts_wanted, cut_short=record.stop[benchmark] in ("interrupted", "failed")
    )
    if judgement is not None and needs_more:
        judgement = replace(judgement, verdict="undecided", is_change=False)
    return Verdict(
        benchmark=record.benchmarks[benchmark].name,
        index=benchmark,
        metric=metric,
        margin=settings.margin,
        verdict=judgement.verdict if judgement else "undecided",
        change=judgement.change if judgement else _rough_change(sides),
        interval=judgement.interval if judgement else None,
        p_value=None,
        is_change=judgement is not None and judgement.is_change,
        pairs=min(map(len, sides)),
        looks=1 if judgement else 0,
        seconds=_elapsed_seconds(record, [count for place in places for count in place]),
        resolution=None,
        pairs_needed=counts_wanted if needs_more else None,
        baseline=_describe_side(sides[0]),
        candidate=_describe_side(sides[1]),
        stability=judgement.stability if judgement else None,
        floor=judgement.floor if judgement else None,
        findings=findings,
    )


def _rough_change(sides: Sequence[Sequence[float]]) -> float | None:
    """The change by counts that are too few to be judged; None where a side has none, or counted nothing."""
    if not all(sides) or not all(map(all, sides)):
        return None
    baseline, candidate = map(median, sides)
    return (candidate - baseline) / baseline


def _needs_more(places: Sequence[Sequence[Count]], judgement: CountJudgement, wanted: int, *, cut_short: bool) -> bool:
    """Whether a side has too few counts for a verdict: if counts differ, or once differed, a few say little.

    So do a few that are equal but unlike the other side's, if those that should confirm them are missing.
    """
    unconfirmed = cut_short and judgement.verdict in CHANGED
    return any(
        len(judged_counts(counts)) < wanted
        for counts in places
        if judgement.stability != "exact" or has_set_aside(counts) or unconfirmed
    )


def _describe_side(values: list[float]) -> Side | None:
    return Side(median=median(values), spread=spread(values), launches=len(values)) if values else None


def _values(record: Weighing | Run, counts: Sequence[Count], metric: str) -> list[float]:
    return [value_of(record, count, metric) for count in judged_counts(counts)]
