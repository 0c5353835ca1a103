"""Another budget for a weighing whose own ended undecided: it goes on by the same plan and on the same alpha.

The end of a budget keeps a part of the alpha that is left (`stats.looks`), and the record says after how many pairs of
each benchmark it ended. Whoever judges it, now or later, thus counts what that look has spent, and takes the same
looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.design.budgets import BUDGET_ENDS, budgets_of, members_of
from steelyard.design.findings import COLD, NOT_MEASURED
from steelyard.design.judging.common import by_benchmark
from steelyard.design.judging.judgement import judge_members
from steelyard.design.judging.pairs import MetricPairs
from steelyard.model.errors import UsageError
from steelyard.model.metrics import timed
from steelyard.model.records import Run, StopReason, Weighing
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark
from steelyard.stats.looks import Budgets, next_look

# What the end of a budget finds, and the next end finds anew.
_CODES_OF_THE_END = (COLD, NOT_MEASURED, "longer", "cut-short")


@dataclass(frozen=True)
class ExtraBudget:
    """Another budget for a weighing whose own has ended, to be added to it."""

    seconds: float | None
    pairs: int | None


def with_extra_budget(record: Weighing, path: Path, more: ExtraBudget) -> Weighing:
    """Return the record with its undecided benchmarks open, and with `more` of a budget for them.

    Raises UsageError if nothing is undecided, or nothing is left of alpha.
    """
    _check_has_ended(record, path, more)
    metric = timed(record.settings.metrics)[0]
    views = by_benchmark(record)
    pairs = [MetricPairs(view.launches, number, metric).count() for number, view in enumerate(views)]
    undecided = _undecided_numbers(record, views, metric)
    if not undecided:
        raise UsageError(f"{path} has a verdict on all that was measured: look at it with steelyard show")
    opened = [number for number in undecided if _has_alpha_left(record, number, pairs[number])]
    if not opened:
        raise UsageError(f"{path} spent all of its alpha and kept none for going on: weigh again")
    opened += [
        number
        for number, one in enumerate(record.benchmarks)
        if one.control and record.stop[number] in _REASONS_TO_EXTEND
    ]
    benchmarks = list(record.benchmarks)
    for number in opened:
        benchmarks[number] = _reopened_benchmark(record, number, pairs[number])
    places = [(pairs[number], budgets_of(record.settings, benchmarks[number])) for number in opened]
    return record.model_copy(
        update={
            "settings": _extended_settings(record, more, places),
            "benchmarks": benchmarks,
            "stop": ["interrupted" if number in opened else reason for number, reason in enumerate(record.stop)],
            "findings": [finding for finding in record.findings if finding.code not in _CODES_OF_THE_END],
            "derived": None,
        }
    )


_REASONS_TO_EXTEND: tuple[StopReason, ...] = (*BUDGET_ENDS, "futile", "decided")


def _check_has_ended(record: Weighing, path: Path, more: ExtraBudget) -> None:
    if "interrupted" in record.stop:
        given = (("--max-time", more.seconds), ("--pairs", more.pairs))
        options = " and ".join(option for option, amount in given if amount is not None)
        raise UsageError(
            f"{path} was interrupted, and has the rest of its own budget: leave {options} out, and give it more when "
            "that has ended"
        )
    if not any(reason in _REASONS_TO_EXTEND for reason in record.stop) or (
        "failed" in record.stop and not record.fails_one_by_one
    ):
        raise UsageError(f"{path} has failed: look at it with steelyard show, and weigh again")
    if not timed(record.settings.metrics):
        raise UsageError(f"{path} was counted, and more counts of the same programs would say the same: weigh again")


def _undecided_numbers(record: Weighing, views: list[Weighing], metric: str) -> list[int]:
    members = members_of(record)
    judged = judge_members(views, members, metric, {})
    return [
        number
        for number, judgement in zip(members, judged, strict=True)
        if judgement is None or judgement.verdict == "undecided"
    ]


def _has_alpha_left(record: Weighing, number: int, pairs: int) -> bool:
    """Whether any alpha is left for a benchmark; one that was futile stopped before the end of its budget."""
    budgets = budgets_of(record.settings, record.benchmarks[number])
    return record.stop[number] not in BUDGET_ENDS or budgets.may_go_on_after(pairs)


def _reopened_benchmark(record: Weighing, number: int, pairs: int) -> Benchmark:
    """Return a benchmark that notes where its first budget ended."""
    benchmark = record.benchmarks[number]
    if benchmark.ended is not None:
        return benchmark
    return benchmark.model_copy(update={"ended": pairs if record.stop[number] in BUDGET_ENDS else 0})


def _extended_settings(record: Weighing, more: ExtraBudget, places: Sequence[tuple[int, Budgets]]) -> Settings:
    """Return the settings with the budget in all: what was used and what is added, pairs up to the next look.

    `places` are, for each open benchmark, its pairs so far and what they have spent.
    """
    looks = [next_look(pairs + more.pairs - 1, budgets) for pairs, budgets in places] if more.pairs else []
    budget = {
        "pairs": max(looks, default=None),
        "max_time_s": None if more.seconds is None else used_s(record) + more.seconds,
        "longest_time_s": None,
    }
    return record.settings.model_copy(update=budget)


def used_s(record: Weighing | Run) -> float:
    """Return how much of its budget a record has used, in seconds: for trials of benchmarks, and for launches."""
    return record.preparing_s + max(record.seconds, float(record.launches.taken_ns().sum()) / 1e9)
