"""How often each side of a record is counted, which of its counts are judged, and what these say in each metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from steelyard.design.budgets import count_members, tried_members_of
from steelyard.model.counting import INSTRUCTIONS, Count, Weights
from steelyard.model.errors import MeasurementError
from steelyard.model.grouping import grouped
from steelyard.model.metrics import counted
from steelyard.model.records import Run, Weighing
from steelyard.stats.cost import hit_metrics
from steelyard.stats.counts import FIRST_COUNTS, counts_needed, judge_counts
from steelyard.stats.verdict import CHANGED

CountedSide = tuple[int, int]
"""(benchmark, side)"""


def missing_counts(record: Weighing | Run) -> list[CountedSide]:
    """Return what to count next, side by side: each side once, then once more, then more often where that is needed.

    The first launch of a side has ended before its second begins: what it left on disk, such as a cache, is there by
    then, or the two differ. If they do, both are set aside, and as many are counted as two noisy sides need for a
    verdict. As many also confirm that two sides differ whose own counts are equal: two counts that take one of two
    values at random are equal more often than a verdict may be wrong.
    """
    counts = counts_by_side(record)
    done = {place: len(own_counts) for place, own_counts in counts.items()}
    places = _counted_sides(record)
    for number in range(1, FIRST_COUNTS + 1):
        if first := _sides_lacking_counts(places, done, number):
            return first
    benchmarks = dict.fromkeys(benchmark for benchmark, _ in places)
    wanted = counts_needed(record.settings.alpha / count_members(record))
    differing = {place[0] for place in places if not are_equal(counts[place])}
    repeated = _sides_lacking_counts([place for place in places if place[0] in differing], done, FIRST_COUNTS + wanted)
    changed = {number for number in benchmarks if number not in differing and _is_changed(record, counts, number)}
    return repeated or _sides_lacking_counts([place for place in places if place[0] in changed], done, wanted)


def counts_by_side(record: Weighing | Run) -> dict[CountedSide, list[Count]]:
    """Return a record's counts by place, in the order in which they came."""
    return grouped(record.counting.counts if record.counting else [], lambda count: (count.benchmark, count.side))


def judged_counts(counts: Sequence[Count]) -> Sequence[Count]:
    """Return the counts of one place that are judged: those after the first, if these were set aside."""
    return counts[FIRST_COUNTS:] if has_set_aside(counts) else counts


def has_set_aside(counts: Sequence[Count]) -> bool:
    """Whether a place has first counts that are not judged."""
    return len(counts) > FIRST_COUNTS and not are_equal(counts)


def are_judged(record: Weighing | Run) -> list[bool]:
    """Return for each of a record's counts, in order, whether it is judged."""
    set_aside = {place: len(counts) - len(judged_counts(counts)) for place, counts in counts_by_side(record).items()}
    found = []
    for count in record.counting.counts if record.counting else []:
        place = (count.benchmark, count.side)
        found.append(set_aside[place] <= 0)
        set_aside[place] -= 1
    return found


def are_equal(counts: Sequence[Count]) -> bool:
    """Whether counts are equal, in every event."""
    return all(count.events == counts[0].events for count in counts)


def _is_changed(record: Weighing | Run, counts: Mapping[CountedSide, Sequence[Count]], benchmark: int) -> bool:
    """Whether the counts so far call a benchmark slower or faster, in any metric."""
    sides = [counts.get((benchmark, side), []) for side in (0, 1)]
    for metric in counted(record.settings.metrics):
        baseline, candidate = ([value_of(record, count, metric) for count in side] for side in sides)
        if not all([*baseline, *candidate]):
            continue  # no relative change
        settings = record.settings.judged_by(record.benchmarks[benchmark], metric)
        judgement = judge_counts(baseline, candidate, settings.margin, settings.alpha)
        if judgement is not None and judgement.verdict in CHANGED:
            return True
    return False


def _sides_lacking_counts(
    places: Sequence[CountedSide], done: Mapping[CountedSide, int], wanted: int
) -> list[CountedSide]:
    """Return the places that have fewer counts than `wanted`, in rounds: after each, both sides have equally many."""
    return [place for number in range(wanted) for place in places if done.get(place, 0) <= number]


def _counted_sides(record: Weighing | Run) -> list[CountedSide]:
    """Return what is counted; a control would count the baseline against itself, as every side is anyway."""
    return list(product(tried_members_of(record), range(len(record.subjects[:2]))))


def count_planned(record: Weighing | Run) -> int:
    """Return how many counts there will be if all of them repeat."""
    return FIRST_COUNTS * len(_counted_sides(record))


def value_of(record: Weighing | Run, count: Count, metric: str) -> float:
    """Return a count in a metric, per iteration if it is of several; raises MeasurementError if it was not counted."""
    return _launch_value(record, count, metric) / _iterations(record, count.benchmark)


def _launch_value(record: Weighing | Run, count: Count, metric: str) -> float:
    if metric == "instructions":
        return float(count.events[INSTRUCTIONS])
    weights = record.settings.counting.weights if record.settings.counting else Weights()
    try:
        return hit_metrics(count.events, weights.l1, weights.ll, weights.ram)[metric]
    except ValueError as error:
        raise MeasurementError(f"{metric} was not counted: {error}; count again with --metric {metric}") from error


def _iterations(record: Weighing | Run, benchmark: int) -> int:
    """Return how many iterations a count is of, if it is told per iteration; a command's counts are of the launch."""
    loops = record.benchmarks[benchmark].loops
    return loops if record.settings.harness is not None and loops else 1
