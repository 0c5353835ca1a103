"""From a record's launches to its verdicts: by which metric, at which looks, and with which findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import expm1, isfinite

import numpy as np

from steelyard.design.budgets import BUDGET_ENDS, budgets_of, controls_of, count_elsewhere, members_of
from steelyard.design.counting.judgement import count_verdicts, with_disagreements
from steelyard.design.identical import identical_verdicts
from steelyard.design.judging.builds import equal_programs_finding, one_build_finding
from steelyard.design.judging.common import by_benchmark, common_fields, describe_side
from steelyard.design.judging.controls import apply_controls
from steelyard.design.judging.fallbacks import with_corrected_fallbacks
from steelyard.design.judging.findings import data_findings, medians_finding, order_finding
from steelyard.design.judging.in_tandem import try_tandem_finding
from steelyard.design.judging.layouts import layout_facts, layouts_finding
from steelyard.design.judging.outlook import needed_after_few_pairs, needed_to_decide, with_needed_seconds
from steelyard.design.judging.pairs import MetricPairs
from steelyard.design.judging.unlike import unlike_finding
from steelyard.design.judging.waits import waits_finding
from steelyard.model.derived import Side, Verdict
from steelyard.model.errors import MeasurementError, NoRatioError
from steelyard.model.findings import Finding
from steelyard.model.launches import FloatArray
from steelyard.model.metrics import is_counted, of_one_process, timed
from steelyard.model.records import Weighing
from steelyard.model.rows import WARM_UP
from steelyard.model.settings import Settings
from steelyard.stats.family import changed_among, judge_family, sharing_now
from steelyard.stats.looks import Budgets
from steelyard.stats.paired import Judgement, judge, resolution
from steelyard.stats.signed_rank import estimate

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
    if record.unmeasured is not None:
        return []
    members = members_of(record)
    controls = controls_of(record)
    views = by_benchmark(record)
    by_metric = [
        count_verdicts(record, members, metric)
        if is_counted(metric)
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
    if not members:
        return []
    undefined: dict[int, str] = {}
    judged = judge_members(views, members, metric, undefined)
    among = len(members) + _count_others(views[0], members)
    sharing = sharing_now(views[0].settings.family, among, changed_among(judged))
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
            if metric == record.settings.metrics[0] and not record.fails_one_by_one and not is_known:
                raise
            undefined[number] = str(error)
            return None

    return judge_family(record.settings.family, len(members), judge_member, _count_others(record, members))


def _count_others(record: Weighing, members: Sequence[int]) -> int:
    """Return how many benchmarks elsewhere share alpha with these; a control shares it with none."""
    are_controls = all(record.benchmarks[number].control for number in members)
    return 0 if are_controls else count_elsewhere(record)


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
    if undefined is None:
        try:
            return _verdict_of_few_pairs(record, pairs, sharing)
        except MeasurementError as error:
            undefined = str(error)
    return _undefined_verdict(record, pairs, undefined)


def _judged_verdict(record: Weighing, pairs: MetricPairs, judgement: Judgement, sharing: float, among: int) -> Verdict:
    settings, pairs_shown = record.settings, judgement.look.pairs
    metric = pairs.used_metric(pairs_shown)
    baseline, candidate = pairs.first(pairs_shown)
    smallest = resolution(judgement, settings.margin)
    needs = needed_to_decide(judgement, settings, budgets_of(settings, record.benchmarks[pairs.benchmark]), sharing)
    is_blind = judgement.verdict == "undecided" and judgement.quantisation > BLINDING_LOG_RATIO
    sides = _describe_sides(pairs.known(pairs_shown), metric, settings)
    change = expm1(judgement.estimate.centre)
    layouts = layout_facts(record, pairs.benchmark, np.log(candidate / baseline), metric, judgement)
    found = [
        *data_findings(record, pairs.benchmark, pairs.metric, metric, judgement, among),
        medians_finding(change, judgement.verdict, sides, settings.margin),
        unlike_finding((baseline, candidate), judgement.scored, judgement.estimate.centre, settings.margin),
        order_finding(pairs, pairs_shown, settings),
        try_tandem_finding(record, pairs, metric, judgement),
        waits_finding(record.launches, pairs.benchmark, metric, settings.alpha),
        layouts_finding(layouts, judgement, settings),
        one_build_finding(record, pairs.benchmark, metric, judgement.verdict),
        equal_programs_finding(record, pairs.benchmark, metric, judgement.verdict),
    ]
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
        findings=[finding for finding in found if finding is not None],
        layouts=layouts,
        **common_fields(record, pairs.benchmark, pairs.positions(pairs_shown)),
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
        **common_fields(record, pairs.benchmark, pairs.positions(pairs.count())),
    )


def _describe_sides(values: tuple[FloatArray, FloatArray], metric: str, settings: Settings) -> tuple[Side, Side]:
    sides = [describe_side(of_one_process(side, metric, settings.repeat)) for side in values]
    return sides[0], sides[1]
