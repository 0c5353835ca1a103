"""From a record's launches to its verdicts: by which metric, at which looks, and with which findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import expm1, inf, isfinite
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from steelyard.design.counting.judgement import count_summary, count_verdicts, with_disagreements
from steelyard.design.identical import identical_verdicts
from steelyard.design.judging.budgets import BUDGET_ENDS, budgets_of, count_elsewhere
from steelyard.design.judging.builds import one_build_finding
from steelyard.design.judging.controls import apply_controls
from steelyard.design.judging.disturbers import disturbers
from steelyard.design.judging.findings import (
    data_findings,
    medians_findings,
    order_finding,
    with_corrected_fallbacks,
)
from steelyard.design.judging.layouts import layout_facts, layout_findings
from steelyard.design.judging.outlook import needed_after_few_pairs, needed_to_decide, with_needed_seconds
from steelyard.design.judging.pairs import MetricPairs, why_unknown
from steelyard.design.judging.tandem_advice import try_tandem_finding
from steelyard.design.judging.ticks import widen_by_ticks
from steelyard.design.judging.unlike import unlike_findings
from steelyard.design.judging.waits import waits_finding
from steelyard.model.derived import Side, Summary, Verdict
from steelyard.model.errors import MeasurementError, NoRatioError
from steelyard.model.kept import Finding
from steelyard.model.launches import DISTURBED_FROM, FloatArray, Launches
from steelyard.model.metrics import METRICS, of_one_process, timed
from steelyard.model.records import Run, Weighing
from steelyard.model.rows import DISTURBED, USED, WARM_UP
from steelyard.model.settings import Settings
from steelyard.stats.family import changed_among, judge_family, sharing_now
from steelyard.stats.level import level_interval
from steelyard.stats.looks import Budgets
from steelyard.stats.modes import modes
from steelyard.stats.paired import Judgement, judge, resolution
from steelyard.stats.signed_rank import estimate
from steelyard.stats.summary import centre

Record = TypeVar("Record", Weighing, Run)

# A clock whose ticks may hide a change of this log-ratio says nothing, nor does an interval of hundreds of percent.
BLINDING_LOG_RATIO = 0.5


def look_at(
    pairs: MetricPairs,
    settings: Settings,
    budgets: Budgets,
    *,
    ended: bool,
    newest_only: bool,
    members: float,
) -> Judgement | None:
    """Judge the pairs so far, with alpha shared among `members` benchmarks; None before the first look."""
    judgement = judge(
        pairs.first,
        pairs.count(),
        settings.margin,
        settings.alpha,
        ended=ended,
        newest_only=newest_only,
        roughly=newest_only,
        hidden=pairs.hidden_by_clock,
        step=pairs.step_of_few,
        others=pairs.pairs_judged_otherwise,
        members=members,
        layouts=pairs.layouts() if settings.layouts else None,
        budgets=budgets,
    )
    return judgement and replace(judgement, alike=pairs.alike(judgement.look.pairs))


def verdicts(record: Weighing) -> list[Verdict]:
    """Return every benchmark's verdict in every metric, the deciding one first, then those of the controls.

    Raises MeasurementError where the deciding metric is undefined. A control that alarms withholds every verdict beside
    it; it shares alpha with nobody, so that in a merged record it says what it said of its part.
    """
    if record.identical is not None:
        return identical_verdicts(record)
    if record.new_suite is not None:
        return []
    measured = [number for number, reason in enumerate(record.stop) if reason != "failed"]
    members = [number for number in measured if not record.benchmarks[number].control]
    controls = [number for number in measured if record.benchmarks[number].control]
    views = by_benchmark(record)
    by_metric = [
        count_verdicts(record, members, metric)
        if METRICS[metric].counted
        else with_needed_seconds(record, _family_verdicts(views, members, metric))
        for metric in record.settings.metrics
    ]
    found = [one for of_benchmark in zip(*by_metric, strict=True) for one in of_benchmark]
    times = timed(record.settings.metrics)
    control_verdicts = (
        [one for control in controls for one in _family_verdicts(views, [control], times[0])] if times else []
    )
    found = apply_controls(record, found, control_verdicts)
    return with_corrected_fallbacks(record, [*with_disagreements(found), *control_verdicts])


def _family_verdicts(views: list[Weighing], members: list[int], metric: str) -> list[Verdict]:
    """Return the verdicts of benchmarks that share alpha, in one metric; `views` has the record once for each."""
    undefined: dict[int, str] = {}
    judged = judge_members(views, members, metric, undefined)
    sharing, among = _members_sharing_alpha(views, members, judged), len(members) + sum(map(count_elsewhere, views[:1]))
    return [
        _verdict(
            _with_own_margin(views[number], number, metric),
            MetricPairs(views[number].launches, number, metric),
            judgement,
            undefined.get(number),
            sharing,
            among,
        )
        for number, judgement in zip(members, judged, strict=True)
    ]


def _members_sharing_alpha(
    views: Sequence[Weighing], members: Sequence[int], judged: Sequence[Judgement | None]
) -> float:
    """Return among how many benchmarks alpha is shared, for those that are still open."""
    if not members or views[members[0]].benchmarks[members[0]].control:
        return 1
    return sharing_now(views[0].settings.family, len(members) + count_elsewhere(views[0]), changed_among(judged))


def judge_members(
    views: Sequence[Weighing], members: Sequence[int], metric: str, undefined: dict[int, str]
) -> list[Judgement | None]:
    """Return what all looks say of benchmarks that share alpha; if nothing, `undefined` is told why."""
    record = views[0]
    pairs = [MetricPairs(views[number].launches, number, metric) for number in members]

    def judge_member(member: int, sharing: float) -> Judgement | None:
        number = members[member]
        settings = record.settings.judged_by(record.benchmarks[number], metric)
        budgets, ended = budgets_of(settings, record.benchmarks[number]), record.stop[number] in BUDGET_ENDS
        try:
            return look_at(pairs[member], settings, budgets, ended=ended, newest_only=False, members=sharing)
        except MeasurementError as error:
            is_known = isinstance(error, NoRatioError)
            if metric == record.settings.metrics[0] and record.settings.harness is None and not is_known:
                raise
            undefined[number] = str(error)
            return None

    are_controls = all(record.benchmarks[number].control for number in members)
    others = 0 if are_controls else count_elsewhere(record)
    return judge_family(record.settings.family, len(members), judge_member, others)


def _with_own_margin(record: Weighing, benchmark: int, metric: str) -> Weighing:
    settings = record.settings.judged_by(record.benchmarks[benchmark], metric)
    return record if settings is record.settings else record.model_copy(update={"settings": settings})


def _verdict(
    record: Weighing,
    pairs: MetricPairs,
    judgement: Judgement | None,
    undefined: str | None,
    sharing: float,
    among: int,
) -> Verdict:
    if undefined is None and judgement is not None and isfinite(judgement.estimate.lower):
        return _judged_verdict(record, pairs, judgement, sharing, among)
    try:
        return (
            _verdict_of_few_pairs(record, pairs, sharing)
            if undefined is None
            else _undefined_verdict(record, pairs, undefined)
        )
    except MeasurementError as error:
        return _undefined_verdict(record, pairs, str(error))


def _judged_verdict(record: Weighing, pairs: MetricPairs, judgement: Judgement, sharing: float, among: int) -> Verdict:
    settings, pairs_shown = record.settings, judgement.look.pairs
    metric = pairs.used_metric(pairs_shown)
    baseline, candidate = pairs.first(pairs_shown)
    smallest = resolution(judgement, settings.margin)
    needs = needed_to_decide(judgement, settings, budgets_of(settings, record.benchmarks[pairs.benchmark]), sharing)
    is_blind = judgement.verdict == "undecided" and judgement.quantisation > BLINDING_LOG_RATIO
    sides = _describe_sides(pairs.known(pairs_shown), metric, settings)
    change = expm1(judgement.estimate.centre)
    found = data_findings(record, pairs.benchmark, pairs.metric, metric, judgement, among)
    unlike = unlike_findings((baseline, candidate), judgement.scored, settings.margin)
    layouts = layout_facts(record, pairs.benchmark, np.log(candidate / baseline), metric, judgement)
    return Verdict(
        metric=metric,
        verdict=judgement.verdict,
        change=change,
        interval=None if is_blind else (expm1(judgement.lower), expm1(judgement.upper)),
        p_value=judgement.p_value,
        is_change=judgement.is_change,
        pairs=pairs_shown,
        looks=judgement.looks,
        resolution=None if smallest is None or is_blind else expm1(smallest),
        pairs_needed=needs.pairs,
        pairs_even=needs.even,
        margin_needed=needs.margin,
        baseline=sides[0],
        candidate=sides[1],
        findings=[
            *found,
            *medians_findings(change, judgement.verdict, sides, settings.margin),
            *unlike,
            *order_finding(pairs, pairs_shown, settings),
            *try_tandem_finding(record, pairs, metric, judgement),
            *waits_finding(record.launches, pairs.benchmark, metric, settings.alpha),
            *layout_findings(layouts, judgement, settings),
            *one_build_finding(record, pairs.benchmark, metric, judgement.verdict),
        ],
        layouts=layouts,
        **_common_fields(record, pairs.benchmark),
    )


def _verdict_of_few_pairs(record: Weighing, pairs: MetricPairs, sharing: float) -> Verdict:
    """Return what too few pairs for an interval say all the same; without any, what the warm-up says."""
    settings, count = record.settings, pairs.count()
    available = pairs if count else replace(pairs, role=WARM_UP)
    pairs_shown = available.count()
    if not pairs_shown:
        return _undecided_verdict(record, pairs, [])
    baseline, candidate = available.first(pairs_shown)
    metric, differences = available.used_metric(pairs_shown), np.log(candidate) - np.log(baseline)
    budgets = budgets_of(settings, record.benchmarks[pairs.benchmark])
    sides = _describe_sides(available.known(pairs_shown), metric, settings)
    return _undecided_verdict(
        record, pairs, data_findings(record, pairs.benchmark, pairs.metric, metric, None)
    ).model_copy(
        update={
            "metric": metric,
            "change": expm1(estimate(differences, settings.alpha).centre),
            "pairs_needed": needed_after_few_pairs(differences[:count], settings, budgets, sharing).pairs,
            "baseline": sides[0],
            "candidate": sides[1],
        }
    )


def _undefined_verdict(record: Weighing, pairs: MetricPairs, why: str) -> Verdict:
    """Return a verdict without numbers if a metric is undefined; with those of each side if only the change is."""
    verdict = _undecided_verdict(record, pairs, [Finding(code="undefined", message=why)])
    if not verdict.pairs:
        return verdict  # it was the warm-up that said so
    try:
        baseline, candidate = _describe_sides(
            pairs.known(verdict.pairs), pairs.used_metric(verdict.pairs), record.settings
        )
    except MeasurementError:
        return verdict
    return verdict.model_copy(update={"baseline": baseline, "candidate": candidate})


def _undecided_verdict(record: Weighing, pairs: MetricPairs, findings: list[Finding]) -> Verdict:
    return Verdict(
        metric=pairs.metric,
        verdict="undecided",
        change=None,
        interval=None,
        p_value=None,
        pairs=pairs.count(),
        looks=0,
        resolution=None,
        findings=findings,
        **_common_fields(record, pairs.benchmark),
    )


def _describe_sides(values: tuple[FloatArray, FloatArray], metric: str, settings: Settings) -> tuple[Side, Side]:
    sides = [describe_side(of_one_process(side, metric, settings.repeat)) for side in values]
    return sides[0], sides[1]


def describe_side(values: FloatArray) -> Side:
    """Describe one side's launches, in the metric's unit."""
    described = centre(values)
    return Side(median=described.median, spread=described.spread, launches=len(values))


def _common_fields(record: Weighing | Run, benchmark: int) -> dict[str, Any]:
    """Return what verdicts say of a benchmark whatever the metric."""
    launches = record.launches
    judged = launches.of(benchmark, USED)
    share = launches.waiting_share()[judged]
    known = share[~np.isnan(share)]
    fields: dict[str, Any] = {
        "benchmark": record.benchmarks[benchmark].name,
        "index": benchmark,
        # Without the pause of a weighing that was interrupted and carried on.
        "seconds": min(seconds_of(launches, launches.of(benchmark)), record.seconds or inf),
        "disturbed": int((known > DISTURBED_FROM).sum()),
        "worst_delay": float(known.max()) if len(known) else None,
        "disturbers": disturbers(launches, benchmark, record.watch_of(benchmark)),
        "switches_per_s": _switches_per_s(launches, judged & ~launches.in_tandem()),
    }
    if isinstance(record, Weighing):
        fields["margin"] = record.settings.margin
        fields["control"] = record.benchmarks[benchmark].control
        fields["repeated"] = int(launches.of(benchmark, DISTURBED).sum()) // 2
    return fields


def _switches_per_s(launches: Launches, chosen: npt.NDArray[np.bool_]) -> float | None:
    """Return how often in a second another task was given the processor of these launches; None without any."""
    seconds = float(launches.column("wall_ns")[chosen].sum()) / 1e9
    switches = float(launches.column("involuntary_switches")[chosen].sum())
    return switches / seconds if seconds > 0 and isfinite(switches) else None


def seconds_of(launches: Launches, chosen: npt.NDArray[np.bool_] | list[int]) -> float:
    """Return the elapsed seconds from the start of the first of these launches to the end of the last; 0 if none."""
    spans = launches.spans_ns()[chosen]
    return float(spans[:, 1].max() - spans[:, 0].min()) / 1e9 if len(spans) else 0.0


def by_benchmark(record: Record) -> list[Record]:
    """Return the record once per benchmark, with only its launches and counts, so that no other is searched."""
    number = len(record.benchmarks)
    counted = [None] * number if record.counting is None else record.counting.by_benchmark(number)
    parts = zip(record.launches.by_benchmark(number), counted, strict=True)
    return [record.model_copy(update={"launches": launches, "counting": counting}) for launches, counting in parts]


def summaries(record: Run) -> list[Summary]:
    """Return a run's benchmarks in its metrics; raises MeasurementError where the first metric is undefined.

    A benchmark that was interrupted before it had a number is left out; so is an undefined one of a harness, or one
    that the time was up before, if any other has a number.
    """
    found: list[Summary] = []
    unknown: MeasurementError | None = None
    for benchmark, (reason, view) in enumerate(zip(record.stop, by_benchmark(record), strict=True)):
        if reason == "failed" or (reason == "interrupted" and _is_unmeasured(view, benchmark)):
            continue
        try:
            found += _benchmark_summaries(view, benchmark)
        except MeasurementError as error:
            unknown = unknown or error
            is_unreached = reason == "time" and _is_unmeasured(view, benchmark)
            if record.settings.harness is None and not is_unreached:
                raise
    if unknown is not None and not found:
        raise unknown
    return with_corrected_fallbacks(record, found)


def _is_unmeasured(record: Run, benchmark: int) -> bool:
    """Whether a benchmark whose first metric is timed has no launch that is judged."""
    if METRICS[record.settings.metrics[0]].counted:
        return False
    return not len(record.launches.judged(benchmark))


def _benchmark_summaries(record: Run, benchmark: int) -> list[Summary]:
    first, *others = record.settings.metrics
    found = [_metric_summary(record, benchmark, first)]
    for metric in others:
        try:
            found.append(_metric_summary(record, benchmark, metric))
        except MeasurementError as error:
            findings = [*found[0].findings, Finding(code="undefined", message=str(error))]
            found[0] = found[0].model_copy(update={"findings": findings})
    return found


def _metric_summary(record: Run, benchmark: int, metric: str) -> Summary:
    if METRICS[metric].counted:
        return count_summary(record, benchmark, metric)
    return _timed_summary(record, benchmark, metric)


def _timed_summary(record: Run, benchmark: int, metric: str) -> Summary:
    used = record.launches.judged(benchmark)
    if not len(used):
        raise MeasurementError("nothing was measured before the run stopped")
    values, used_metric = record.launches.metric(metric)[used], metric
    if metric == "active" and np.isnan(values).any():
        values, used_metric = record.launches.metric("wall")[used], "wall"
    if np.isnan(values).any():
        raise MeasurementError(why_unknown(record.launches, metric))
    values = of_one_process(values, used_metric, record.settings.repeat)
    described, common = centre(values), _common_fields(record, benchmark)
    return Summary(
        metric=used_metric,
        median=described.median,
        spread=described.spread,
        interval=widen_by_ticks(
            level_interval(values, record.settings.alpha), record.launches, int(used[0]), used_metric, values
        ),
        lowest=float(values.min()),
        highest=float(values.max()),
        modes=modes(values),
        launches=len(values),
        quality=_quality(described.spread, common["worst_delay"]),
        findings=data_findings(record, benchmark, metric, used_metric, None),
        **common,
    )


def _quality(spread: float, worst_delay: float | None) -> Literal["quiet", "noisy", "disturbed"]:
    if worst_delay is not None and worst_delay > 0.1:
        return "disturbed"
    return "noisy" if spread > 0.02 else "quiet"
