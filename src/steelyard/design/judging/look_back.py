"""The looks of a weighing seen again, one by one: the interval as it narrowed."""

from __future__ import annotations

from collections.abc import Iterator
from math import expm1

from steelyard.design.judging.budgets import ENDS, budgets_of, elsewhere
from steelyard.design.judging.judgement import by_benchmark
from steelyard.design.judging.pairs import MetricPairs
from steelyard.model.errors import MeasurementError
from steelyard.model.looks import Look, LookBack
from steelyard.model.metrics import METRICS
from steelyard.model.records import Settings, Verdict, Weighing
from steelyard.stats.looks import Budgets, plan_looks
from steelyard.stats.paired import Rules, clock_quantisation, judge_look


def look_back(record: Weighing, verdicts: list[Verdict]) -> Iterator[LookBack | None]:
    """For each verdict of a weighing its pairs and the looks that led to it; None where there are no pairs to judge.

    The looks share alpha as all members of a family do at first; the last one says what the verdict does.
    """
    views = by_benchmark(record)
    controls = sum(benchmark.control for benchmark in record.benchmarks)
    for verdict in verdicts:
        if verdict.metric not in METRICS or METRICS[verdict.metric].counted:
            yield None
            continue
        benchmark = record.benchmarks[verdict.index]
        members = controls if benchmark.control else len(record.benchmarks) - controls + elsewhere(record)
        pairs = MetricPairs(views[verdict.index].launches, verdict.index, verdict.metric)
        try:
            yield _of(pairs, verdict, record, members)
        except MeasurementError:
            yield None


def _of(pairs: MetricPairs, verdict: Verdict, record: Weighing, members: int) -> LookBack | None:
    count = pairs.count()
    if not count:
        return None
    baseline, candidate = pairs.first(count)
    settings = record.settings.judged_by(record.benchmarks[verdict.index], verdict.metric)
    budgets, ended = budgets_of(settings, record.benchmarks[verdict.index]), record.stop[verdict.index] in ENDS
    looks = _looks(pairs, verdict, settings, budgets, members, ended=ended) if verdict.interval else []
    return LookBack(baseline, candidate, looks)


def _looks(
    pairs: MetricPairs, verdict: Verdict, settings: Settings, budgets: Budgets, members: int, *, ended: bool
) -> list[Look]:
    planned = [look for look in plan_looks(pairs.count(), ended=ended, budgets=budgets) if look.pairs <= verdict.pairs]
    rules = Rules(settings.margin, settings.alpha, members)
    layouts = pairs.layouts() if settings.layouts else None
    seen = []
    for taken in range(1, len(planned) + 1):
        shown = planned[taken - 1].pairs
        baseline, candidate = pairs.first(shown)
        judged = judge_look(
            baseline,
            candidate,
            planned[:taken],
            rules,
            quantisation=0.0 if not METRICS[pairs.metric].rounded else clock_quantisation(baseline, candidate),
            roughly=True,
            layouts=None if layouts is None else layouts[:shown],
        )
        seen.append(Look(shown, expm1(judged.estimate.centre), expm1(judged.lower), expm1(judged.upper)))
    if seen and verdict.change is not None and verdict.interval is not None:
        seen[-1] = Look(seen[-1].pairs, verdict.change, *verdict.interval)
    return seen
