"""Repeats the looks of a weighing one by one, to show how the change settled."""

from __future__ import annotations

from collections.abc import Iterator
from math import expm1

from steelyard.design.budgets import BUDGET_ENDS, budgets_of
from steelyard.design.judging.common import by_benchmark
from steelyard.design.judging.pairs import MetricPairs
from steelyard.model.derived import Verdict
from steelyard.model.errors import MeasurementError
from steelyard.model.looks import Look, LookBack
from steelyard.model.metrics import is_counted
from steelyard.model.records import Weighing
from steelyard.stats.looks import plan_looks
from steelyard.stats.paired import rough_change


def look_back(record: Weighing, verdicts: list[Verdict]) -> Iterator[LookBack | None]:
    """Yield for each verdict its pairs and the looks that led to it; None where there are no pairs to judge.

    The last look says what the verdict says.
    """
    views = by_benchmark(record)
    for verdict in verdicts:
        pairs = MetricPairs(views[verdict.index].launches, verdict.index, verdict.metric)
        try:
            number = len(pairs.launches.complete_pairs(verdict.index))
            yield None if is_counted(verdict.metric) or not number else _look_back(pairs, number, verdict, record)
        except MeasurementError:
            yield None


def _look_back(pairs: MetricPairs, number: int, verdict: Verdict, record: Weighing) -> LookBack:
    pairs.measured(number)  # raises where they have no change
    baseline, candidate = pairs.known(number)
    return LookBack(pairs.launches, baseline, candidate, list(_looks(pairs, number, verdict, record)))


def _looks(pairs: MetricPairs, number: int, verdict: Verdict, record: Weighing) -> Iterator[Look]:
    if verdict.interval is None or verdict.change is None:
        return
    benchmark = record.benchmarks[verdict.index]
    settings, ended = record.settings.judged_by(benchmark, verdict.metric), record.stop[verdict.index] in BUDGET_ENDS
    planned = plan_looks(number, ended=ended, budgets=budgets_of(settings, benchmark))
    for look in planned:
        if look.pairs >= verdict.pairs:
            break
        yield Look(look.pairs, expm1(rough_change(*pairs.first(look.pairs), settings.alpha)))
    yield Look(verdict.pairs, verdict.change)
