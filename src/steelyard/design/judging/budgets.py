"""What the budgets of a weighing, and the parts of a suite, leave of alpha."""

from __future__ import annotations

from typing import Final

from steelyard.model.records import Benchmark, Settings, StopReason, Weighing
from steelyard.stats.looks import Budgets

# A benchmark that stopped for one of these has spent at its last look what the end of a budget may spend.
ENDS: Final[tuple[StopReason, ...]] = ("pairs", "time")


def budgets_of(settings: Settings, benchmark: Benchmark) -> Budgets:
    """What the end of a budget keeps of alpha, and whether that of a benchmark has ended before."""
    return Budgets(settings.reserve, benchmark.ended, settings.alpha)


def elsewhere(record: Weighing) -> int:
    """How many benchmarks share alpha with these that other parts of the suite have."""
    if record.settings.shard is None:
        return 0
    here = {benchmark.name for benchmark in record.benchmarks}
    return sum(name not in here for name in record.settings.shard.suite)
