"""Samples of a harness that tell less of a change than they seem to: too short for the clock, or of unlike lengths."""

from __future__ import annotations

from statistics import median

import numpy as np
import numpy.typing as npt

from steelyard.design.suite.loops import SHORTEST_TIMED_NS, are_far_apart, is_long
from steelyard.model.findings import Finding
from steelyard.model.metrics import PER_ITERATION
from steelyard.model.records import Run, Weighing
from steelyard.model.rows import Sample, judged_samples
from steelyard.report.figures import count, duration

# Among so many iterations, the extra time of a sample's first ones is lost.
_MANY_LOOPS = 100
_UNEVEN_FACTOR = 1.25
# These tell only the time of an iteration, which is kept as a sample of several.
_HARNESSES_WITHOUT_LOOPS = ("jmh", "shell")


def short_samples_finding(record: Weighing | Run, benchmark: int, metric: str) -> Finding | None:
    """Return a finding if one side's time is only an upper bound, as its samples are so short, unlike the other's."""
    chosen, pairs = record.benchmarks[benchmark], _judged_pairs(record, benchmark, metric)
    if chosen.loops is None or not len(pairs):
        return None
    # The last sample of each launch: it was judged, and found the caches filled.
    last = [[Sample(*record.launches.samples[one][-1]) for one in pairs[:, side]] for side in (0, 1)]
    lengths_ns = [median(sample.ns for sample in own) for own in last]
    short = lengths_ns.index(min(lengths_ns))
    is_first = chosen.samples == last[short][0].loops == 1 and not is_long(last[short])
    if (lengths_ns[short] >= SHORTEST_TIMED_NS and not is_first) or not are_far_apart(*last):
        return None
    loops = "the first iteration of a launch" if is_first else count(last[short][0].loops, "iteration")
    why = "too early to be as fast as others" if is_first else "too short for a clock"
    return Finding(
        code="short-samples",
        message=f"a sample of {_side_name(record, benchmark, short)}, {loops}, takes {duration(lengths_ns[short])}, "
        f"{why}: its time is an upper bound, and the change is larger than shown",
        remedy="measured alone, it has as many iterations a sample as it needs",
    )


def uneven_loops_finding(record: Weighing | Run, benchmark: int, metric: str) -> Finding | None:
    """Return a finding if the sides' samples differ so much in iterations that the first of each may matter.

    Google Benchmark 1.7 ran 6 iterations of a body that was 5 % faster in the long run, and 9 to 17 of the other: as
    the first iteration touched fresh memory, the slower side was `faster` by a quarter.
    """
    pairs = _judged_pairs(record, benchmark, metric)
    chooses_itself = (
        record.benchmarks[benchmark].loops is None and record.settings.harness not in _HARNESSES_WITHOUT_LOOPS
    )
    if not chooses_itself or not len(pairs):
        return None
    judged = [[judged_samples(record.launches.samples[one]) for one in pairs[:, side].tolist()] for side in (0, 1)]
    loops = [round(median(sample.loops for launch in own for sample in launch)) for own in judged]
    if min(loops) >= _MANY_LOOPS or max(loops) < _UNEVEN_FACTOR * min(loops):
        return None
    return Finding(
        code="uneven-loops",
        message=f"a sample of {_side_name(record, benchmark, 0)} has {count(loops[0], 'iteration')}, one of "
        f"{_side_name(record, benchmark, 1)} has {loops[1]}, as this harness chooses them itself: where the first of a "
        "sample take longer, that is a part of the change",
        remedy="steelyard check tells whether they do (its rule set-up-in-clock); a harness that can be told how many, "
        "as Google Benchmark from 1.8 on, gives both sides as many",
    )


def _judged_pairs(record: Weighing | Run, benchmark: int, metric: str) -> npt.NDArray[np.intp]:
    """Return the positions of pairs whose samples are judged by the time of an iteration; none if they are not."""
    if isinstance(record, Run) or metric not in PER_ITERATION or not record.launches.samples:
        return np.empty((0, 2), dtype=np.intp)
    return record.launches.complete_pairs(benchmark)


def _side_name(record: Weighing | Run, benchmark: int, side: int) -> str:
    return record.subjects[record.benchmarks[benchmark].subject_of(side)].name
