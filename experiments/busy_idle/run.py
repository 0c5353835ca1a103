"""One command on a machine left alone and on a busy one: elapsed time, and active time.

    python experiments/busy_idle/run.py [--quick]

Ends in a table, a figure and a sentence; experiments/README.md says what they show.
"""

from __future__ import annotations

import itertools
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from benchmarks.load import busy

from experiments.ending import Conditions, Page, begin, table
from experiments.figure import Row, rows
from experiments.launching import Tool, folder, judged
from steelyard.model.launches import Launches
from steelyard.report import figures

# As in the source: ten busy processes for eight processors.
LOOPS = ceil((os.cpu_count() or 1) * 10 / 8)
WORK = "sum(range(500_000))"
METRICS = ("wall", "active", "cpu")
IDLE, BUSY = "left alone", "busy"
# Best of three, in ns (https://vstinner.github.io/journey-to-stable-benchmark-system.html).
SOURCE = {IDLE: 229e6, BUSY: 372e6}

Times = Mapping[str, Sequence[float]]
"""Metric -> what each launch took, in ns."""


@dataclass(frozen=True)
class Effort:
    """How much is measured: how often each state of the machine, and how many launches each time."""

    turns: int
    launches: int


def main(effort: Effort) -> None:
    """Measure both states in turn, so that a bad minute affects both, and tell the results."""
    page = Page("busy_idle")
    with folder() as place:
        tool = Tool(place)
        found: dict[str, list[Launches]] = {IDLE: [], BUSY: []}
        for _ in range(effort.turns):
            found[IDLE].append(_measured(tool, effort.launches))
            with busy(LOOPS, apart=True):
                found[BUSY].append(_measured(tool, effort.launches))
    times = {name: _times(runs) for name, runs in found.items()}
    conditions = Conditions.of(row for run in found[IDLE] for row in run.rows())
    page.tell(f"`{WORK}` in CPython, {len(times[IDLE]['wall'])} launches each; busy: {LOOPS} busy loops besides")
    page.tell(told(times))
    shares = [share for runs in found.values() for run in runs for share in judged(run, run.waiting_share())]
    both = {name: [*times[IDLE][name], *times[BUSY][name]] for name in METRICS}
    waits = quarters(both, shares)
    page.tell(
        "All of them in quarters, by the share of its time for which each waited for a processor", told_by_waits(waits)
    )
    page.tell(conditions.told())
    page.end(drawn(times), sentence(times, waits, conditions))


def _measured(tool: Tool, launches: int) -> Launches:
    command = shlex.join([sys.executable, "-S", "-c", WORK])
    return tool.run(command, "--launches", str(launches), "--metric", ",".join(METRICS)).launches


def _times(runs: Sequence[Launches]) -> dict[str, list[float]]:
    return {name: [time for run in runs for time in judged(run, run.metric(name))] for name in METRICS}


@dataclass(frozen=True)
class Quarter:
    """A quarter of the launches, in the order of the share of its time that each waited for a processor."""

    waited: float
    """The median of these shares."""
    medians: Mapping[str, float]
    """By metric, in ns."""


def quarters(times: Times, shares: Sequence[float]) -> list[Quarter]:
    """Return all launches in quarters by how long they waited, the shortest waits first."""
    order = sorted(range(len(shares)), key=lambda launch: shares[launch])
    cuts = [len(order) * number // 4 for number in range(5)]
    found = []
    for begin_at, end_at in itertools.pairwise(cuts):
        members = order[begin_at:end_at]
        medians = {metric: median(times[metric][launch] for launch in members) for metric in METRICS}
        found.append(Quarter(median(shares[launch] for launch in members), medians))
    return found


def told_by_waits(waits: Sequence[Quarter]) -> str:
    """Return a table of the quarters, each against the first."""
    lines = [
        [
            figures.percent(quarter.waited),
            *(figures.duration(quarter.medians[metric]) for metric in ("wall", "active")),
            *(figures.change(quarter.medians[metric] / waits[0].medians[metric] - 1) for metric in ("wall", "active")),
        ]
        for quarter in waits
    ]
    return table(("waited, median", "wall", "active", "wall against the first", "active against the first"), lines)


def told(times: Mapping[str, Times]) -> str:
    """Return a table of both states, metric by metric, beside the source's."""
    lines = [
        [
            name,
            *(figures.duration(median(times[state][name])) for state in (IDLE, BUSY)),
            figures.change(grown(times, name)),
            figures.change(min(times[BUSY][name]) / min(times[IDLE][name]) - 1),
        ]
        for name in METRICS
    ]
    source = [figures.duration(SOURCE[state]) for state in (IDLE, BUSY)]
    lines.append(["the source's `timeit`, best of three", *source, "", figures.change(SOURCE[BUSY] / SOURCE[IDLE] - 1)])
    return table(("median of", IDLE, BUSY, "busy against alone", "the same of the minimum"), lines)


def grown(times: Mapping[str, Times], name: str) -> float:
    """Return by how much the median of a metric is greater on the busy machine."""
    return median(times[BUSY][name]) / median(times[IDLE][name]) - 1


def drawn(times: Mapping[str, Times]) -> str:
    """Return a figure of each launch and the medians."""
    shown = [
        Row(
            f"{name}, {state}",
            [time / 1e6 for time in times[state][name]],
            None,
            median(times[state][name]) / 1e6,
            colour,
        )
        for colour, name in enumerate(METRICS)
        for state in (IDLE, BUSY)
    ]
    return rows("A busy machine, by three clocks", "ms a launch", shown, told=told(times))


def sentence(times: Mapping[str, Times], waits: Sequence[Quarter], conditions: Conditions) -> str:
    """Return the result in a sentence; if the machine was never idle, about launches that waited little or long."""
    if conditions.is_quiet():
        wall, active = (figures.change(grown(times, name)) for name in ("wall", "active"))
        return (
            f"Beside {LOOPS} busy loops on {os.cpu_count()} processors a launch takes {wall} by the clock on the "
            f"wall, and {active} of active time; the source had {figures.change(SOURCE[BUSY] / SOURCE[IDLE] - 1)} by "
            "the clock."
        )
    wall, active = (figures.change(waits[-1].medians[name] / waits[0].medians[name] - 1) for name in ("wall", "active"))
    least, most = (figures.percent(quarter.waited) for quarter in (waits[0], waits[-1]))
    return (
        "Other work kept this machine from being idle, so that there is nothing to hold a busy one against; but "
        f"launches that waited for {most} of their time took {wall} by the clock on the wall against those that "
        f"waited for {least}, and {active} of active time."
    )


if __name__ == "__main__":
    begin(main, __doc__, long=Effort(8, 20), quick=Effort(3, 10))
