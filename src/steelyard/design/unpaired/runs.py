"""From two kept runs to verdicts: in which metric they are judged, and with which findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, expm1, isfinite

import numpy as np

from steelyard.design.findings import coarse_clock_finding, noisy_metric_finding, some_names
from steelyard.design.judging.common import by_benchmark, describe_side, seconds_of
from steelyard.design.judging.left_out import little_memory_finding
from steelyard.design.judging.pairs import hidden_by_clock
from steelyard.design.judging.suite_means import mean_of
from steelyard.design.unpaired.comparable import (
    check_comparable,
    clock_differences,
    differences,
    shared_benchmarks,
    unshared_findings,
)
from steelyard.design.unpaired.differences import apart_findings
from steelyard.design.unpaired.terms import Terms
from steelyard.model.derived import SuiteMean
from steelyard.model.errors import MeasurementError, UsageError
from steelyard.model.findings import Finding
from steelyard.model.grouping import grouped
from steelyard.model.launches import FloatArray
from steelyard.model.metrics import counted, of_one_process, timed
from steelyard.model.ratios import with_rate
from steelyard.model.records import Run
from steelyard.model.unpaired import UnpairedReport, UnpairedVerdict
from steelyard.report.figures import count, seconds
from steelyard.stats.unpaired import (
    FEWEST_LAUNCHES,
    FEWEST_SECONDS,
    SHORT_SECONDS,
    RunValues,
    UnpairedJudgement,
    judge_unpaired,
    resolution,
)

# For a launch with threads or children, only the machine's pressure tells how long something waited, and it may have
# been others that did: no more than this share of a launch is put down to it.
_MOST_PRESSURE_SHARE = 0.9


def compare_runs(baseline: Run, candidate: Run, terms: Terms) -> UnpairedReport:
    """Judge the candidate run against the baseline run, each benchmark that both have, in each metric.

    Benchmarks that were measured for long enough share alpha evenly. Raises UsageError for runs of different machines
    (unless forced), for a run and itself, and for runs with no benchmark in common; MeasurementError where the first
    metric is undefined in all benchmarks, which are else left out.
    """
    check_comparable(baseline, candidate, force=terms.force)
    shared = shared_benchmarks(baseline, candidate)
    parts = [by_benchmark(run) for run in (baseline, candidate)]
    views = {places: (parts[0][places[0]], parts[1][places[1]]) for places in shared}
    shared = [places for places in shared if _is_measured(*views[places], places)] or shared
    metrics = terms.metrics_of(baseline)
    findings = [
        *differences(baseline, candidate),
        *clock_differences(baseline, candidate, shared),
        *unshared_findings(baseline, candidate, shared),
        *apart_findings(counted(metrics)),
    ]
    level = terms.alpha / (sum(_are_long_enough(views[places], places) for places in shared) or len(shared))
    shared = terms.chosen(shared, lambda places: candidate.benchmarks[places[1]].name)
    verdicts, without_verdict = list[UnpairedVerdict](), dict[str, list[str]]()
    for places in shared:
        for position, metric in enumerate(timed(metrics)):
            try:
                verdicts.append(_verdict(views[places], places, metric, terms.margin, level))
            except MeasurementError as error:
                without_verdict.setdefault(str(error), []).append(candidate.benchmarks[places[1]].name)
                if position == 0:
                    break  # no other metric decides in its place
    if not verdicts:
        raise MeasurementError(next(iter(without_verdict)))
    findings += [_no_change_finding(why, names, len(shared)) for why, names in without_verdict.items()]
    return UnpairedReport(baseline, candidate, terms.margin, level, verdicts, findings, _means(verdicts))


def _no_change_finding(why: str, names: Sequence[str], benchmarks: int) -> Finding:
    """Return the finding on a metric that has no change in these benchmarks."""
    of_which = "" if len(names) == benchmarks else f"{some_names(names)}: "
    return Finding(code="not-compared", message=f"{of_which}{why}")


def _means(verdicts: Sequence[UnpairedVerdict]) -> list[SuiteMean]:
    by_metric = grouped(verdicts, lambda one: one.metric)
    # Drift from one run to the other is common to all benchmarks.
    return [mean for metric, members in by_metric.items() for mean in mean_of(metric, members, independent=False)]


def _is_measured(baseline: Run, candidate: Run, places: tuple[int, int]) -> bool:
    """Whether both runs have a launch to judge: one that was interrupted may not have come to all its benchmarks."""
    return all(len(run.launches.judged(place)) for run, place in zip((baseline, candidate), places, strict=True))


def _are_long_enough(runs: tuple[Run, Run], places: tuple[int, int]) -> bool:
    """Whether there can be a verdict on a benchmark, whatever was measured of it."""
    used = [(run.launches, run.launches.judged(place)) for run, place in zip(runs, places, strict=True)]
    return all(
        len(chosen) >= FEWEST_LAUNCHES and seconds_of(launches, chosen.tolist()) >= FEWEST_SECONDS
        for launches, chosen in used
    )


def _verdict(
    runs: tuple[Run, Run], places: tuple[int, int], metric: str, margin: float, alpha: float
) -> UnpairedVerdict:
    used = [_judged_positions(run, place) for run, place in zip(runs, places, strict=True)]
    shown_metric = _used_metric(runs, used, metric)
    values = [_values(run, chosen, shown_metric) for run, chosen in zip(runs, used, strict=True)]
    one, other = _positive_values(*values, metric=shown_metric)
    sides = [
        RunValues(
            np.log(each),
            seconds_of(run.launches, chosen),
            _log_times_without_waits(run, chosen) if shown_metric == "wall" else None,
        )
        for each, run, chosen in zip((one, other), runs, used, strict=True)
    ]
    little_memory = (
        little_memory_finding(float(np.median(side)) for side in (one, other)) if shown_metric == "max_rss" else None
    )
    hidden = hidden_by_clock(runs[0].launches, int(used[0][0]), shown_metric, one, other)
    judgement = judge_unpaired(sides[0], sides[1], margin, alpha, quantisation=hidden)
    known = isfinite(judgement.upper - judgement.lower)
    return UnpairedVerdict(
        benchmark=runs[1].benchmarks[places[1]].name,
        metric=shown_metric,
        verdict=judgement.verdict,
        change=expm1(judgement.shift.centre),
        interval=(expm1(judgement.lower), expm1(judgement.upper)) if known else None,
        block_spreads=(expm1(judgement.block_spreads[0]), expm1(judgement.block_spreads[1])) if known else None,
        assumed=judgement.floor,
        resolution=expm1(resolution(judgement, margin)) if known else None,
        baseline=with_rate(describe_side(values[0]), runs[0].benchmarks[places[0]].processed, shown_metric, 0),
        candidate=with_rate(describe_side(values[1]), runs[1].benchmarks[places[1]].processed, shown_metric, 0),
        findings=[
            *_findings(metric, shown_metric, judgement, sides, margin),
            *([little_memory] if little_memory else []),
        ],
    )


def _judged_positions(run: Run, benchmark: int) -> list[int]:
    positions: list[int] = run.launches.judged(benchmark).tolist()
    if not positions:
        raise UsageError("one of the runs has no launch that was measured to its end: measure it again")
    return positions


def _used_metric(runs: tuple[Run, Run], used: list[list[int]], metric: str) -> str:
    """Return the metric, or `wall` for both if `active` is undefined for a launch of one, as in a weighing."""
    if metric != "active":
        return metric
    known = [run.launches.metric("active")[chosen] for run, chosen in zip(runs, used, strict=True)]
    return "wall" if any(np.isnan(values).any() for values in known) else "active"


def _values(run: Run, chosen: list[int], metric: str) -> FloatArray:
    return of_one_process(run.launches.metric(metric)[chosen], metric, run.settings.repeat)


def _positive_values(one: FloatArray, other: FloatArray, *, metric: str) -> tuple[FloatArray, FloatArray]:
    if np.isnan(one).any() or np.isnan(other).any():
        raise MeasurementError(f"{metric} could not be measured in one of the runs: choose --metric wall")
    if not one.any() and not other.any():
        return one + 1, other + 1  # 0 in every launch of both: no change, of whatever size
    if (one <= 0).any() or (other <= 0).any():
        raise MeasurementError(
            f"{metric} was 0 in some launches, which has no relative change: choose another --metric"
        )
    return one, other


def _log_times_without_waits(run: Run, chosen: list[int]) -> FloatArray | None:
    """Return the logs of wall time without waits for a processor; None if the machine cannot tell."""
    launches = run.launches
    wall = launches.column("wall_ns")[chosen] - launches.of_shell_ns()[chosen]
    pressed = np.minimum(launches.column("pressure_ns")[chosen], _MOST_PRESSURE_SHARE * wall)
    waited = np.where(launches.knows_waits()[chosen], launches.waited_ns()[chosen], pressed)
    rest = (wall - waited) / run.settings.repeat
    if launches.samples:
        # A harness may tell how long its samples waited; else they waited for as large a share as the whole launch did.
        told = launches.metric("active")[chosen]
        rest = np.where(np.isnan(told), launches.metric("wall")[chosen] * rest / wall, told)
    return None if np.isnan(rest).any() or (rest <= 0).any() else np.log(rest)


def _measure_longer_remedy(seconds_each: int) -> str:
    return f"measure both for longer, each with --max-time {seconds_each}"


def _findings(
    requested_metric: str, shown_metric: str, judgement: UnpairedJudgement, sides: list[RunValues], margin: float
) -> Iterator[Finding]:
    if requested_metric != shown_metric:
        yield Finding(
            code="metric-fallback",
            message="in one of the runs other threads or child processes did some of the work, or the machine does not "
            "tell how long a process waits for a processor: wall time was judged in both instead of active",
        )
    if noisy := noisy_metric_finding(shown_metric):
        yield noisy
    if coarse := coarse_clock_finding(judgement.quantisation, margin):
        yield coarse
    fewest, shortest = min(len(each.logs) for each in sides), min(each.seconds for each in sides)
    if fewest < FEWEST_LAUNCHES or shortest < FEWEST_SECONDS:
        short = f"has {count(fewest, 'launch')}: fewer than {FEWEST_LAUNCHES} do not show"
        if fewest >= FEWEST_LAUNCHES:
            took = min(shortest, FEWEST_SECONDS - 0.1)  # never rounded to what would be enough
            short = f"took {seconds(took)}: less than {seconds(FEWEST_SECONDS)} does not show"
        longest = max(each.seconds / len(each.logs) for each in sides)
        yield Finding(
            code="cannot-tell",
            message=f"the shorter run {short} how its level wanders, so no verdict can be given",
            remedy=_measure_longer_remedy(ceil(max(3 * SHORT_SECONDS, 2 * FEWEST_LAUNCHES * longest))),
        )
    elif not isfinite(judgement.allowance + judgement.shift.upper):
        yield Finding(code="cannot-tell", message="too few launches can never show anything at so small an --alpha")
    elif shortest < SHORT_SECONDS:
        yield Finding(
            code="short-run",
            message=f"the shorter run took {shortest:.1f} s: less than {SHORT_SECONDS:.0f} s does not show how a "
            "machine drifts, so more drift is assumed",
            remedy=_measure_longer_remedy(ceil(3 * SHORT_SECONDS)),
        )
    if judgement.waiting:
        yield Finding(
            code="waiting",
            message="the launches of the two runs waited for a processor for different times, which can explain it all",
            remedy="--metric active or cpu leaves the waiting out, for programs of one thread",
        )
