"""Samples of a harness that are too short for the clock, as the other side's leave no room for more iterations."""

from __future__ import annotations

from statistics import median

from steelyard.design.runner.targets import place_of
from steelyard.design.suite.loops import TOLD_NS, are_far_apart, is_long
from steelyard.model.kept import Finding
from steelyard.model.launches import Sample
from steelyard.model.metrics import PER_ITERATION
from steelyard.model.records import Run, Weighing
from steelyard.report.figures import count, duration


def too_short_to_tell(record: Weighing | Run, benchmark: int, shown: str) -> Finding | None:
    """That one side's time is an upper bound, as its samples are that short, and those of the other are not."""
    chosen = record.benchmarks[benchmark]
    if isinstance(record, Run) or chosen.loops is None or shown not in PER_ITERATION or not record.launches.samples:
        return None
    pairs = record.launches.complete_pairs(benchmark)
    if not len(pairs):
        return None
    # The last of each launch: it was judged, and has the caches filled.
    last = [[Sample(*record.launches.samples[one][-1]) for one in pairs[:, side]] for side in (0, 1)]
    lengths_ns = [median(sample.ns for sample in own) for own in last]
    short = lengths_ns.index(min(lengths_ns))
    is_first = chosen.samples == last[short][0].loops == 1 and not is_long(last[short])
    if (lengths_ns[short] >= TOLD_NS and not is_first) or not are_far_apart(*last):
        return None
    name = record.subjects[place_of(record, benchmark, short)].name
    loops = "the first iteration of a launch" if is_first else count(last[short][0].loops, "iteration")
    why = "too early to be as fast as others" if is_first else "too short for a clock"
    return Finding(
        code="short-samples",
        message=f"a sample of {name}, {loops}, takes {duration(lengths_ns[short])}, {why}: its time is "
        "an upper bound, and the change is larger than shown",
        remedy="measured alone it has as many iterations a sample as that takes",
    )
