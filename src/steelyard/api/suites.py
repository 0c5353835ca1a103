"""The benchmarks inside programs, and the heap: whether what is asked of them can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from steelyard.api.asked import HeapWatch, Judging, Plan, Suite
from steelyard.model.errors import UsageError

if TYPE_CHECKING:
    from steelyard.design.suite.selection import Selection

# A command's first launches may differ, by its hash seed for example, and three show that. A suite of a harness is
# long enough with one.
_LAUNCHES, _LAUNCHES_OF_HARNESS = 3, 1
# Enough for a verdict on most benchmarks; a suite would otherwise have to share what one command gets.
_SECONDS_EACH = 3.0


def harness_checked(options: Suite, metrics: Sequence[str], of_commands: Mapping[str, bool]) -> str | None:
    """The harness that is asked for, if it is known and nothing stands beside it that it has no use for.

    `metrics` are those that are measured, `of_commands` the options of a command as a whole, and whether each is asked
    for.
    """
    name = options.harness
    if name is None:
        for option, patterns in (("--benchmark", options.benchmark), ("--tag", options.tag)):
            if patterns:
                raise UsageError(
                    f"{option} chooses from the benchmarks of a harness: say which harness, as by --harness auto"
                )
        return None

    from steelyard.model.metrics import counted
    from steelyard.subjects.harness import AUTO, check_counts, harness_named

    if name != AUTO:
        harness_named(name)
        check_counts(name, counted([*metrics]))
    for option, is_asked_for in of_commands.items():
        if is_asked_for:
            raise UsageError(f"{option} is for plain commands: leave out either it or --harness {name}")
    return name


def selection_of(options: Suite, judging: Judging, weighing: Plan) -> Selection:
    """Which of a harness's benchmarks are wanted, and how long each may take if nothing else limits that."""
    from steelyard.design.suite.selection import Selection
    from steelyard.design.suite.shards import ShardAsked

    is_unlimited = judging.max_time is None and judging.pairs is None
    return Selection(
        only=options.benchmark or [],
        tags=options.tag or [],
        shard=None if options.shard is None else ShardAsked(*options.shard),
        seconds_each=_SECONDS_EACH if is_unlimited else None,
        control=weighing.control,
        own_starts=weighing.own_starts,
        any_pairing=weighing.pairing is None,
    )


def heap_launches(options: HeapWatch, *, harness: str | None) -> int | None:
    """How many launches a side are watched; None for none."""
    if not options.watched:
        return None
    return _LAUNCHES if harness is None else _LAUNCHES_OF_HARNESS
