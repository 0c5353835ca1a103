"""What was measured of benchmarks that get other numbers: of parts that are joined, or where some are left out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from steelyard.model.counting import Counting
from steelyard.model.heap import Heap
from steelyard.model.launches import Launches
from steelyard.model.records import Run, Weighing

Numbered = Sequence[tuple[Weighing | Run, Mapping[int, int]]]
"""Records, each with a mapping from its number of a benchmark to the new one."""


def numbered_launches(numbered: Numbered) -> Launches:
    """Return the launches of all."""
    return Launches.joined([(record.launches, places) for record, places in numbered])


def numbered_counting(numbered: Numbered) -> Counting | None:
    """Return what was counted of all; None if nothing was."""
    counted = [(record.counting, places) for record, places in numbered if record.counting]
    if not counted:
        return None
    return counted[0][0].model_copy(
        update={
            name: [
                one.model_copy(update={"benchmark": places[one.benchmark]})
                for counting, places in counted
                for one in getattr(counting, name)
            ]
            for name in ("counts", "functions")
        }
    )


def numbered_heap(numbered: Numbered) -> Heap | None:
    """Return what was seen of the heap of all; None if nothing was."""
    watched = [(record.heap, places) for record, places in numbered if record.heap]
    if not watched:
        return None
    return Heap(
        launches=[
            one.model_copy(update={"benchmark": places[one.benchmark]})
            for heap, places in watched
            for one in heap.launches
        ]
    )


def without_benchmarks(record: Weighing | Run, left_out: Collection[int]) -> Weighing | Run:
    """Return the record without some benchmarks, of which nothing was measured."""
    if not left_out:
        return record
    kept = [number for number in range(len(record.benchmarks)) if number not in left_out]
    numbered = [(record, {number: place for place, number in enumerate(kept)})]
    return record.model_copy(
        update={
            "benchmarks": [record.benchmarks[number] for number in kept],
            "stop": [record.stop[number] for number in kept],
            "launches": numbered_launches(numbered),
            "counting": numbered_counting(numbered),
            "heap": numbered_heap(numbered),
        }
    )
