"""Samples of a harness that chooses its iterations itself, and gives one side more of them than the other."""

from __future__ import annotations

from statistics import median

from steelyard.design.runner.targets import place_of
from steelyard.model.kept import Finding
from steelyard.model.launches import judged_samples
from steelyard.model.metrics import PER_ITERATION
from steelyard.model.records import Run, Weighing
from steelyard.report.figures import count

# What the first iterations of a sample take more is lost among so many.
_MANY_LOOPS = 100
_UNEVEN = 1.25
# They tell the time of an iteration alone, which is kept as that of more.
_TELL_NO_LOOPS = ("jmh", "shell")


def uneven_loops(record: Weighing | Run, benchmark: int, shown: str) -> Finding | None:
    """That the sides' samples have so different numbers of iterations that what comes first in each may matter.

    Google Benchmark 1.7 ran 6 iterations of a body that was 5 % faster in the long run, and 9 to 17 of the other: as
    the first touched fresh memory, the slower side was `faster` by a quarter.
    """
    if isinstance(record, Run) or shown not in PER_ITERATION or not record.launches.samples:
        return None
    if record.benchmarks[benchmark].loops is not None or record.settings.harness in _TELL_NO_LOOPS:
        return None
    pairs = record.launches.complete_pairs(benchmark)
    if not len(pairs):
        return None
    judged = [[judged_samples(record.launches.samples[one]) for one in pairs[:, side].tolist()] for side in (0, 1)]
    loops = [round(median(sample.loops for launch in own for sample in launch)) for own in judged]
    if min(loops) >= _MANY_LOOPS or max(loops) < _UNEVEN * min(loops):
        return None
    names = [record.subjects[place_of(record, benchmark, side)].name for side in (0, 1)]
    return Finding(
        code="uneven-loops",
        message=f"a sample of {names[0]} has {count(loops[0], 'iteration')}, one of {names[1]} has "
        f"{loops[1]}, as this harness chooses them itself: where the first of a sample take longer, "
        "that is a part of the change",
        remedy="steelyard check tells whether they do (its rule set-up-in-clock); a harness that can be told how many, "
        "as Google Benchmark from 1.8 on, gives both sides as many",
    )
