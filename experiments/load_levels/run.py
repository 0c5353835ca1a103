"""One to four processes on one processor: what the minimum, median and mean of short and long samples show.

    python experiments/load_levels/run.py [--quick]

Ends in tables, a figure and a sentence; experiments/README.md says what they show. Needs g++.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import mean, median

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))

from benchmarks.load import busy

from experiments.ending import Conditions, Page, begin, table
from experiments.figure import Row, rows
from experiments.launching import built, folder, launch_of, launched
from steelyard.measure.launch import Launcher
from steelyard.model.measured import Measured
from steelyard.model.rows import Sample, judged_samples
from steelyard.report import figures
from steelyard.subjects.harness import Work
from steelyard.subjects.protocol import ProtocolHarness

LEVELS = (1, 2, 3, 4)
# As many judged iterations either way, in samples well below what a process has of a processor at a time, or above.
SHORT, LONG = "short samples", "long samples"
SAMPLES = {SHORT: Work("work", 2, 121), LONG: Work("work", 60, 5)}
CENTRES: Mapping[str, Callable[[Sequence[float]], float]] = {"minimum": min, "median": median, "mean": mean}


@dataclass(frozen=True)
class Effort:
    """How often each level is measured."""

    repeats: int


@dataclass(frozen=True)
class Taken:
    """One launch: the ns per iteration in each of its samples."""

    wall: Sequence[float]
    active: Sequence[float]
    switches: tuple[float, float]
    """Involuntary switches per second of elapsed time, and per second on the processor."""

    @classmethod
    def of(cls, measured: Measured, samples: Sequence[Sample]) -> Taken:
        """Return what a launch took, without its first sample."""
        judged = judged_samples(samples)
        wall = [sample.ns / sample.loops for sample in judged]
        active = [sample.time_ns("active") or sample.ns / sample.loops for sample in judged]
        seconds = (measured.wall_ns / 1e9, (measured.user_ns + measured.sys_ns) / 1e9)
        passed, ran = (measured.involuntary_switches / so_long for so_long in seconds)
        return cls(wall, active, (passed, ran))


SOURCE = (
    "The source found that samples of some hundred to a few thousand microseconds stand load that longer ones do not, "
    "as they are below a time slice of 10 ms (https://palimondo.github.io/robust-microbench/corrective-measures.html)."
)

Levels = Mapping[int, Mapping[str, Sequence[Taken]]]
"""Level -> kind of samples -> launches."""


def main(effort: Effort) -> None:
    """Measure the levels in random order, repeat after repeat, and tell the results."""
    page, random = Page("load_levels"), Random(1)
    processor = max(os.sched_getaffinity(0))
    levels: dict[int, dict[str, list[Taken]]] = {level: {kind: [] for kind in SAMPLES} for level in LEVELS}
    alone: list[Measured] = []
    with folder() as place, Launcher() as launcher:
        launch = launch_of([built(HERE / "work.cpp", place / "work")], processor=processor)
        for _ in range(effort.repeats):
            for level in random.sample(LEVELS, len(LEVELS)):
                with busy(level - 1, processor, apart=True):
                    for kind, work in SAMPLES.items():
                        harness = ProtocolHarness()
                        measured = launched(launcher, harness.running(launch, work))
                        levels[level][kind].append(Taken.of(measured, harness.samples(measured, work)))
                        alone += [measured] if level == 1 else []
    conditions = Conditions.of(alone)
    page.tell(f"## Against the least of one process alone, medians of {effort.repeats} launches", told(levels))
    page.tell("## Brackets: from the least to the greatest of the launches' medians", told_of_brackets(levels))
    page.tell(SOURCE, conditions.told())
    page.end(drawn(levels), sentence(levels, conditions))


def least(levels: Levels) -> float:
    """Return the least time of an iteration without another process."""
    return min(min(taken.wall) for launches in levels[1].values() for taken in launches)


def told(levels: Levels) -> str:
    """Return a table of the levels: switches, and each centre of each kind of samples against the least of all."""
    base = least(levels)
    header = ["processes", "involuntary switches a second", "a second on the processor"]
    header += [f"{kind}: {name}" for kind in SAMPLES for name in CENTRES] + [f"{SHORT}: median, active"]
    lines = []
    for level, kinds in levels.items():
        switches = zip(*(taken.switches for launches in kinds.values() for taken in launches), strict=True)
        line = [str(level), *(f"{median(each):.0f}" for each in switches)]
        for launches in kinds.values():
            line += [
                figures.change(median(centre(one.wall) for one in launches) / base - 1) for centre in CENTRES.values()
            ]
        lines.append([*line, figures.change(median(median(one.active) for one in kinds[SHORT]) / base - 1)])
    return table(header, lines)


@dataclass(frozen=True)
class Bracket:
    """The range of what several launches show at a level."""

    low: float
    high: float

    def meets(self, other: Bracket) -> bool:
        """Return whether the two overlap."""
        return self.low <= other.high and other.low <= self.high

    def told(self) -> str:
        """Return the bracket in words."""
        return f"{figures.change(self.low)} to {figures.change(self.high)}"


def brackets(levels: Levels) -> dict[str, dict[int, Bracket]]:
    """Return the brackets of launches' medians, against the least of all: by kind of samples, and in active time."""
    base, found = least(levels), {}
    for kind in SAMPLES:
        found[kind] = {
            level: _bracket([median(one.wall) / base - 1 for one in kinds[kind]]) for level, kinds in levels.items()
        }
    found[f"{SHORT}, active"] = {
        level: _bracket([median(one.active) / base - 1 for one in kinds[SHORT]]) for level, kinds in levels.items()
    }
    return found


def _bracket(values: Sequence[float]) -> Bracket:
    return Bracket(min(values), max(values))


def told_of_brackets(levels: Levels) -> str:
    """Return a table of the brackets, and whether each overlaps that of one process alone."""
    known = brackets(levels)
    lines = []
    for level in levels:
        cells = [f"{of[level].told()}{'' if of[level].meets(of[1]) else ', apart'}" for of in known.values()]
        lines.append([str(level), *cells])
    return table(("processes", *known), lines)


def drawn(levels: Levels) -> str:
    """Return a figure of the medians of launches at each level, with their brackets."""
    base, shown = least(levels), []
    for colour, (kind, of) in enumerate((("short", SHORT), ("long", LONG), ("short, active", SHORT))):
        for level, kinds in levels.items():
            active = kind.endswith("active")
            values = [median(one.active if active else one.wall) / base for one in kinds[of]]
            shown.append(
                Row(f"{kind}, {level} on the processor", values, (min(values), max(values)), median(values), colour)
            )
    axis = "median of a launch, times the least of all"
    return rows("One to four processes on one processor", axis, shown, told=told(levels), logarithmic=True)


def sentence(levels: Levels, conditions: Conditions) -> str:
    """Return the result in a sentence, and whether there was other work, too."""
    known: dict[str, Callable[[Taken], float]] = {
        "median": lambda one: median(one.wall),
        "mean": lambda one: mean(one.wall),
        "active": lambda one: median(one.active),
    }
    most = LEVELS[-1]
    short = {name: _grown(levels, SHORT, of) for name, of in known.items()}
    apart = [name for name, of in brackets(levels).items() if not of[most].meets(of[1])]
    stands = "does not stand" if SHORT in apart else "stands"
    beside = "" if conditions.is_quiet() else "; other work had the processor at every level, too"
    return (
        f"With {most} processes on its processor instead of one the median of short samples {stands} it "
        f"({figures.change(short['median'])}), where their mean is {figures.change(short['mean'])} and the median of "
        f"long samples {figures.change(_grown(levels, LONG, known['median']))}; in active time, which takes the waits "
        f"out of each sample, it is {figures.change(short['active'])}; the brackets of "
        f"{' and '.join(apart) or 'none'} are apart{beside}."
    )


def _grown(levels: Levels, kind: str, of: Callable[[Taken], float]) -> float:
    """Return how much greater this is at the last level than at the first."""
    return median(map(of, levels[LEVELS[-1]][kind])) / median(map(of, levels[1][kind])) - 1


if __name__ == "__main__":
    begin(main, __doc__, long=Effort(12), quick=Effort(4))
