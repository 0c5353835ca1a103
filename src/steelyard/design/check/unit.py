"""Whether a harness tells its times in ns: judged from outside, by how much longer launches with more loops take.

Both sides of a comparison start and set up alike, so that neither counts, however long it takes.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import NamedTuple

from steelyard.report.figures import count, seconds

# Microseconds told as ns are 1000 times too few. What is prepared for each iteration outside of the clock may take
# long, too.
_FAR_FACTOR = 300
# A clock's own rate, or other work that began with one launch and ended with the next, makes less of a difference.
_MORE_FACTOR = 1.5
# Samples have to show beside the differences between starts: they are at least as long as this, or as a start.
_LONG_NS = 200_000_000
_TURNS, _USUAL = 5, 3


class Timed(NamedTuple):
    """What a launch of one sample told of it, and how long the launch took, in ns."""

    told_ns: int
    wall_ns: int


Take = Callable[[int], Timed]
"""take(loops): run one launch, of one sample."""


def unit_trouble(take: Take, loops: int) -> str | None:
    """Return what is wrong with a benchmark's times, given the loops of a usual sample; None if nothing is."""
    if trouble := far_shorter(take, loops):
        return trouble
    # The least ones, as other work only adds to them.
    told_ns, wall_ns = map(min, zip(*(take(loops) for _ in range(_USUAL)), strict=True))
    return _longer(take, loops, max(2 * loops, ceil(loops * max(_LONG_NS, wall_ns) / told_ns)))


def far_shorter(take: Take, loops: int) -> str | None:
    """Say so if samples tell far less time than their launches take for them, in each of several turns; else None."""
    usual = take(loops)
    if usual.wall_ns <= _FAR_FACTOR * usual.told_ns:
        return None
    # A usual sample that is told far too short has far too many loops.
    start_ns = take(1).wall_ns
    own_ns = max(1, usual.wall_ns - start_ns)
    loops = max(1, min(loops, ceil(loops * max(_LONG_NS, start_ns) / own_ns)))
    few, many = [], []
    for _ in range(_TURNS):
        few.append(take(loops))
        many.append(take(2 * loops))
        told_ns = max(one.told_ns for one in many) / 2
        grown_ns = min(one.wall_ns for one in many) - max(one.wall_ns for one in few)
        if grown_ns <= _FAR_FACTOR * told_ns:
            return None
    return f"{_describe_difference(loops, grown_ns, told_ns)}, or prepare so long for each iteration?"


def _longer(take: Take, loops: int, more: int) -> str | None:
    """Say so if samples tell more time than their launches can have taken, in each of several turns; else None."""
    few, many = [], []
    for _ in range(_TURNS):
        few.append(take(loops))
        many.append(take(more))
        told_ns = min(one.told_ns for one in many) - max(one.told_ns for one in few)
        grown_ns = max(one.wall_ns for one in many) - min(one.wall_ns for one in few)
        if told_ns <= _MORE_FACTOR * grown_ns:
            return None
    return f"{_describe_difference(more - loops, grown_ns, told_ns)}, or of time that did not pass?"


def _describe_difference(iterations: int, grown_ns: float, told_ns: float) -> str:
    return (
        f"{count(iterations, 'iteration')} more made its launch {seconds(grown_ns / 1e9)} longer, and it told of "
        f"{seconds(told_ns / 1e9)} more: does it tell in another unit"
    )
