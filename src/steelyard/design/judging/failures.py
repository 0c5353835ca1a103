"""Launches that failed and were judged all the same, because the user accepts failures."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from steelyard.design.findings import accepted_failures_finding
from steelyard.model.findings import Finding
from steelyard.model.launches import Launches
from steelyard.model.records import Run, Weighing
from steelyard.model.sides import side_names
from steelyard.report import figures
from steelyard.report.endings import failure_text


def failures_finding(record: Weighing | Run, benchmark: int) -> Finding | None:
    """Return a finding on how many of the judged launches failed, and how; None if none did."""
    if not record.settings.ignore_failure:
        return None
    names = side_names(record)
    judged = record.launches.complete_pairs(benchmark).T if len(names) > 1 else [record.launches.judged(benchmark)]
    counts = [_count_failures(record.launches, chosen) for chosen in judged]
    if not any(failed for failed, _, _ in counts):
        return None
    clauses = [
        f"{failed} of {figures.count(launches, 'launch')} of the {name} failed ({how})"
        for name, (failed, launches, how) in zip(names, counts, strict=True)
        if failed
    ]
    return accepted_failures_finding(" and ".join(clauses), of_two=len(names) > 1)


def _count_failures(launches: Launches, chosen: npt.NDArray[np.intp]) -> tuple[int, int, str]:
    """Return how many of a side's launches failed, of how many, and in which ways."""
    signals, statuses = launches.column("signal")[chosen], launches.column("exit_code")[chosen]
    killed, exited = ~np.isnan(signals), np.isnan(signals) & (statuses > 0)
    ways = [
        *(failure_text(None, int(number)) for number in np.unique(signals[killed])),
        *(failure_text(int(number), None) for number in np.unique(statuses[exited])),
    ]
    return int((killed | exited).sum()), len(chosen), "; ".join(ways)
