"""How often each side of a record is counted, and which of its counts are judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from steelyard.model.counting import Count
from steelyard.model.records import Run, Weighing
from steelyard.stats.counts import FIRST_COUNTS, counts_needed

Place = tuple[int, int]
"""(benchmark, side)"""


def missing(record: Weighing | Run) -> list[Place]:
    """What is to be counted next, side by side: each side once, then once more, then more often where those differ.

    The first launch of a side has ended before its second begins: what it left on disk, such as a cache, is there by
    then, or the two differ. If they do, both are set aside.
    """
    counts = by_place(record)
    done = {place: len(mine) for place, mine in counts.items()}
    places = _places(record)
    for number in range(1, FIRST_COUNTS + 1):
        if first := _short(places, done, number):
            return first
    members = max(1, len({benchmark for benchmark, _ in places}))
    differing = {place[0] for place in places if not first_are_equal(counts[place])}
    again = [place for place in places if place[0] in differing]
    return _short(again, done, FIRST_COUNTS + counts_needed(record.settings.alpha / members))


def by_place(record: Weighing | Run) -> dict[Place, list[Count]]:
    """A record's counts, in the order in which they came."""
    found: dict[Place, list[Count]] = {}
    for count in record.counting.counts if record.counting else []:
        found.setdefault((count.benchmark, count.side), []).append(count)
    return found


def judged(counts: Sequence[Count]) -> Sequence[Count]:
    """Those of one place's counts that are judged: the ones after the first, if there are any."""
    return counts[FIRST_COUNTS:] if has_set_aside(counts) else counts


def has_set_aside(counts: Sequence[Count]) -> bool:
    """Whether a place has first counts that are not judged."""
    return len(counts) > FIRST_COUNTS


def first_are_equal(counts: Sequence[Count]) -> bool:
    """Whether the first counts of a place are equal, in every event."""
    return all(count.events == counts[0].events for count in counts[:FIRST_COUNTS])


def _short(places: Sequence[Place], done: Mapping[Place, int], wanted: int) -> list[Place]:
    """The places that have fewer counts than are wanted, in rounds: after each both sides have as many."""
    return [place for number in range(wanted) for place in places if done.get(place, 0) <= number]


def _places(record: Weighing | Run) -> list[Place]:
    """What is counted; a control would count the baseline against itself, which every side is anyway."""
    sides = range(len(record.subjects[:2]))
    return [
        (number, side)
        for number, benchmark in enumerate(record.benchmarks)
        if not benchmark.control and record.stop[number] != "failed"
        for side in sides
    ]


def planned(record: Weighing | Run) -> int:
    """How many counts there will be if all of them repeat."""
    return FIRST_COUNTS * len(_places(record))
