"""Samples that differ between the beginning and the end of a launch: code still warms up, or something piles up.

Of two versions of JavaScript that were compiled while they were timed, the one that was 3 % slower came out `faster` by
two thirds, because other work had kept the other one's compiler waiting.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

import numpy as np

from steelyard.design.judging.common import least_share, of_sides
from steelyard.model.findings import Finding
from steelyard.model.metrics import PER_ITERATION
from steelyard.model.records import Run, Weighing
from steelyard.model.rows import times_ns

# As much as `steelyard check` calls a drift.
_MOST_DRIFT = 0.10
# A record may have thousands of launches, of which this many are enough.
_ENOUGH_LAUNCHES = 200


def warming_findings(record: Weighing | Run, benchmark: int, metric: str) -> Iterator[Finding]:
    """Yield findings on the sides whose samples become shorter, and those whose become longer, in each launch."""
    if not record.launches.samples or metric not in PER_ITERATION:
        return
    changes = {side: _drift(record, benchmark, side, metric) for side in (0, 1)}
    shorter = {side: -change for side, change in changes.items() if change < 0}
    longer = {side: change for side, change in changes.items() if change > 0}
    if shorter:
        yield Finding(
            code="warming",
            message=f"samples{of_sides(record, shorter)} shrink by {least_share(shorter.values())} within a "
            "launch: it is still warming up, and how far it gets, which other work may delay, is part of what is "
            "shown",
            remedy="have its set-up warm it up, by a fixed number of calls",
        )
    if longer:
        yield Finding(
            code="piling",
            message=f"samples{of_sides(record, longer)} grow by {least_share(longer.values())} within a launch: "
            "what iterations leave behind, or have used up, is part of what is shown",
            remedy="steelyard check says more (its rules slower-and-slower and drift)",
        )


def _drift(record: Weighing | Run, benchmark: int, side: int, metric: str) -> float:
    """Return how much longer the last third of a launch's samples takes than the first; 0 unless that is sure."""
    launches = record.launches
    chosen = launches.judged(benchmark, side)
    step = 1 + len(chosen) // _ENOUGH_LAUNCHES
    ratios = [
        ratio for position in chosen[::step] if (ratio := _late_to_early(launches.samples[position][1:], metric)) > 0
    ]
    if not ratios:
        return 0.0
    from steelyard.stats.growth import shift

    found = shift(np.log(ratios), _MOST_DRIFT, record.settings.alpha)
    return found.figure if found.shown == "beyond" else 0.0


def _late_to_early(samples: Sequence[Sequence[Any]], metric: str) -> float:
    """Return the time of the last third of samples over that of the first; 0 where they do not tell it.

    Samples with unlike loops do not: what each has only once is another part of their time.
    """
    third = len(samples) // 3
    if third == 0 or len({sample[0] for sample in samples}) > 1:
        return 0.0
    times = times_ns(samples, metric)
    early = median(times[:third]) if times else 0.0
    return median(times[-third:]) / early if early > 0 else 0.0
