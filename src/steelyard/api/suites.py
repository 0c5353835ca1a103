"""Checks of what is asked about the benchmarks inside programs, and about the heap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from steelyard.api.options import HeapWatch, Judging, Plan, Suite
from steelyard.model.errors import UsageError
from steelyard.model.metrics import counted

if TYPE_CHECKING:
    from steelyard.design.suite.selection import Selection

# A command's first launches may differ, for example by hash seed, and three of them show that. A suite of a harness
# takes long enough with one.
_HEAP_LAUNCHES, _HEAP_LAUNCHES_OF_HARNESS = 3, 1
# Enough for a verdict on most benchmarks. Without it, a suite would have to share the time of a single command.
_BENCHMARK_S = 3.0


def harness_checked(options: Suite, metrics: Sequence[str], of_commands: Mapping[str, bool]) -> str | None:
    """Return the harness asked for; raise UsageError if it is unknown, or does not go with another option.

    `metrics` are those to measure; `of_commands` has the options for plain commands, and whether each is asked for.
    """
    name = options.harness
    if name is None:
        for option, patterns in (("--benchmark", options.benchmark), ("--tag", options.tag)):
            if patterns:
                raise UsageError(
                    f"{option} chooses from the benchmarks of a harness: say which harness, as by --harness auto"
                )
        return None

    from steelyard.subjects.harness import AUTO, check_counts, harness_named

    if name != AUTO:
        harness_named(name)
        check_counts(name, counted(metrics))
    for option, is_asked_for in of_commands.items():
        if is_asked_for:
            raise UsageError(f"{option} is for plain commands: leave out either it or --harness {name}")
    return name


def selection_of(options: Suite, judging: Judging, weighing: Plan) -> Selection:
    """Return which of a harness's benchmarks to measure, and how long each may take if nothing else limits that."""
    from steelyard.design.suite.selection import RequestedShard, Selection

    is_unlimited = judging.max_time is None and judging.pairs is None
    return Selection(
        only=options.benchmark or [],
        tags=options.tag or [],
        shard=None if options.shard is None else RequestedShard(*options.shard),
        seconds_each=_BENCHMARK_S if is_unlimited else None,
        control=weighing.control,
        own_starts=weighing.own_starts,
        any_pairing=weighing.pairing is None,
    )


def heap_launches(options: HeapWatch, *, harness: str | None) -> int | None:
    """Return how many launches per side are watched; None if none."""
    if not options.watched:
        return None
    return _HEAP_LAUNCHES if harness is None else _HEAP_LAUNCHES_OF_HARNESS
