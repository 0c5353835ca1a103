"""What the budgets of a weighing, and the parts of a suite, leave of alpha."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from steelyard.model.records import Run, StopReason, Weighing
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark
from steelyard.stats.looks import Budgets, plan_looks
from steelyard.stats.sequential import Hypothesis, run_tests
from steelyard.stats.signed_rank import fewest_differences

# A benchmark that stopped for one of these reasons has spent, at its last look, what the end of a budget may spend.
BUDGET_ENDS: Final[tuple[StopReason, ...]] = ("pairs", "time")


def budgets_of(settings: Settings, benchmark: Benchmark) -> Budgets:
    """Return what the end of a budget keeps of alpha, and whether that of a benchmark has ended before."""
    return Budgets(settings.reserve, benchmark.ended, settings.alpha)


def count_elsewhere(record: Weighing | Run) -> int:
    """Return how many benchmarks of other parts of the suite share alpha with these."""
    if record.settings.shard is None:
        return 0
    here = {benchmark.name for benchmark in record.benchmarks}
    return sum(name not in here for name in record.settings.shard.suite)


def members_of(record: Weighing | Run) -> list[int]:
    """Return the numbers of the benchmarks here that share alpha: those that did not fail, except controls."""
    places = enumerate(zip(record.benchmarks, record.stop, strict=True))
    return [number for number, (one, reason) in places if not one.control and reason != "failed"]


def controls_of(record: Weighing | Run) -> list[int]:
    """Return the numbers of the controls that did not fail."""
    places = enumerate(zip(record.benchmarks, record.stop, strict=True))
    return [number for number, (one, reason) in places if one.control and reason != "failed"]


def tried_members_of(record: Weighing | Run) -> list[int]:
    """Return the numbers of those of them whose launches are known: a harness has tried them, or they are commands."""
    return [number for number in members_of(record) if not record.benchmarks[number].is_untried]


def count_members(record: Weighing | Run) -> int:
    """Return how many benchmarks share alpha, here and elsewhere."""
    return max(1, len(members_of(record)) + count_elsewhere(record))


@lru_cache
def fewest_pairs(alpha: float, reserve: float, members: float) -> int:
    """Return the fewest pairs with which a budget can end in `slower` or `faster` for one of `members` sharing alpha.

    n pairs that all say the same have a p-value of 2^(1-n), and earlier looks leave only a part of alpha for the last
    one.
    """
    hypotheses, budgets = [Hypothesis(0.0, alpha / members)], Budgets(reserve, None, alpha)
    pairs = fewest_differences(alpha / members)
    while True:
        looks = plan_looks(pairs, ended=True, budgets=budgets)
        if run_tests(np.ones(pairs), np.zeros(pairs), looks, hypotheses, keep=False)[0].rejected:
            return pairs
        pairs += 1
