"""A program against itself: all of one side and then all of the other, in adjacent pairs, and in tandem.

    python experiments/pairing/run.py [--quick]

How often each way calls identical programs different, while other work comes and goes. Ends in a table, a figure and a
sentence; experiments/README.md says what they show. Needs gcc.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import expm1, log
from pathlib import Path
from random import Random
from statistics import median

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from benchmarks.load import Bursts
from benchmarks.peers import welch_word

from experiments.ending import Conditions, Page, begin, table
from experiments.figure import Row, rows
from experiments.launching import active_ns, folder, launch_of, launched
from experiments.surroundings import stack_program
from steelyard.measure.launch import Launcher
from steelyard.model.errors import MeasurementError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.report import figures
from steelyard.stats import rank_sum, signed_rank
from steelyard.stats.paired import judge
from steelyard.stats.verdict import CHANGED

LEVEL, ALPHA, MARGIN = 0.05, 0.01, 0.005
ADDITIONS = 2_000_000
BLOCKS, PAIRS, TANDEM = "blocks", "pairs", "pairs in tandem"

Sides = tuple[list[float], list[float]]
Pair = tuple[Measured, Measured]


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    weighings: int
    launches: int
    """How many launches each side has in a weighing: enough for a verdict at 1 %."""


@dataclass(frozen=True)
class Judge:
    """A way to launch, the clock that is read, and the test that is applied."""

    way: str
    clock: str
    test: str
    differs: Callable[[Sides], bool]
    change: Callable[[Sides], float]


def main(effort: Effort) -> None:
    """Weigh in each way in turn, so that a bad minute affects all, and tell the results."""
    page, random = Page("pairing"), Random(1)
    found: dict[str, list[list[Pair]]] = {way: [] for way in (BLOCKS, PAIRS, TANDEM)}
    with folder() as place, Launcher() as launcher, Bursts():
        launch = launch_of([stack_program(place), str(ADDITIONS)])
        for _ in range(effort.weighings):
            for way in random.sample(list(found), len(found)):
                found[way].append(_weighing(way, launcher, launch, effort.launches, random))
    conditions = Conditions.of(one for pairs in found[PAIRS] for pair in pairs for one in pair)
    shares = {judge: [judge.differs(_sides(judge, pairs)) for pairs in found[judge.way]] for judge in JUDGES}
    sizes = {judge: [judge.change(_sides(judge, pairs)) for pairs in found[judge.way]] for judge in JUDGES}
    page.tell(
        f"{effort.weighings} times a program against itself, {effort.launches} launches a side, amid bursts of work"
    )
    page.tell(told(shares, sizes), conditions.told())
    page.end(drawn(sizes), sentence(shares, sizes))


def _weighing(way: str, launcher: Launcher, launch: LaunchSpec, launches: int, random: Random) -> list[Pair]:
    if way == BLOCKS:
        one, other = ([launched(launcher, launch) for _ in range(launches)] for _ in range(2))
        return list(zip(one, other, strict=True))
    return [_pair(way, launcher, launch, random) for _ in range(launches)]


def _pair(way: str, launcher: Launcher, launch: LaunchSpec, random: Random) -> Pair:
    if way == TANDEM:
        pair = launcher.launch_together(launch, launch, second_begins=random.random() < 0.5)
        if any(one.has_failed() for one in pair):
            raise MeasurementError("a launch in tandem failed")
    else:
        pair = launched(launcher, launch), launched(launcher, launch)
    # Which side was first is drawn at random.
    return pair if random.random() < 0.5 else (pair[1], pair[0])


def _sides(judge: Judge, pairs: Sequence[Pair]) -> Sides:
    clock: Callable[[Measured], float] = active_ns if judge.clock == "active" else (lambda one: float(one.wall_ns))
    one, other = ([clock(side) for side in sides] for sides in zip(*pairs, strict=True))
    return one, other


# --- the judges


def ratios(sides: Sides) -> list[float]:
    """Return for each pair the logarithm of the second side's time over the first side's."""
    return [log(two / one) for one, two in zip(*sides, strict=True)]


def by_welch(sides: Sides) -> bool:
    """Judge by Student's test with Welch's degrees of freedom, two samples."""
    return welch_word(sides, LEVEL) != "no difference"


def by_rank_sum(sides: Sides) -> bool:
    """Judge by the test of Mann and Whitney, two samples."""
    return rank_sum.p_value(*sides) <= LEVEL


def by_signed_rank(sides: Sides) -> bool:
    """Judge by Wilcoxon's signed ranks of pairs."""
    return signed_rank.p_value(ratios(sides)) <= LEVEL


def by_verdict(sides: Sides) -> bool:
    """Judge by the whole procedure of a weighing, with all its looks: whether it says slower or faster."""
    values = [np.array(side) for side in sides]
    found = judge(lambda n: (values[0][:n], values[1][:n]), len(values[0]), MARGIN, ALPHA, ended=True)
    return found is not None and found.verdict in CHANGED


def of_medians(sides: Sides) -> float:
    """Return the change of the medians."""
    return median(sides[1]) / median(sides[0]) - 1


def of_pairs(sides: Sides) -> float:
    """Return the change by the centre of the pairs' ratios."""
    return expm1(signed_rank.estimate(ratios(sides), LEVEL).centre)


_VERDICT = partial(Judge, test=f"the verdict, {figures.percent(ALPHA)}", differs=by_verdict, change=of_pairs)
_SIGNED = partial(Judge, test=f"signed ranks, {figures.percent(LEVEL)}", differs=by_signed_rank, change=of_pairs)
JUDGES = (
    Judge(BLOCKS, "wall", f"Welch's t, {figures.percent(LEVEL)}", by_welch, of_medians),
    Judge(BLOCKS, "wall", f"rank sum, {figures.percent(LEVEL)}", by_rank_sum, of_medians),
    Judge(BLOCKS, "active", f"rank sum, {figures.percent(LEVEL)}", by_rank_sum, of_medians),
    _SIGNED(PAIRS, "wall"),
    _SIGNED(PAIRS, "active"),
    _VERDICT(PAIRS, "active"),
    _SIGNED(TANDEM, "active"),
    _VERDICT(TANDEM, "active"),
)
# The two ways that the sentence compares: that of most scripts, and that of the tool.
USUAL, OURS = JUDGES[1], JUDGES[5]


# --- the results


def told(shares: Mapping[Judge, Sequence[bool]], sizes: Mapping[Judge, Sequence[float]]) -> str:
    """Return a table of the judges: how often each was wrong, and how far its change was from none."""
    lines = [
        [
            one.way,
            one.clock,
            one.test,
            _of(wrong),
            figures.percent(_typical(sizes[one])),
            figures.percent(_most(sizes[one])),
        ]
        for one, wrong in shares.items()
    ]
    header = (
        "launched in",
        "clock",
        "test",
        "called different",
        "typical change that is none",
        "nine in ten are within",
    )
    return table(header, lines)


def _of(wrong: Sequence[bool]) -> str:
    return f"{sum(wrong)} of {len(wrong)}"


def _typical(sizes: Sequence[float]) -> float:
    return median(map(abs, sizes))


def _most(sizes: Sequence[float]) -> float:
    return sorted(map(abs, sizes))[min(len(sizes) - 1, int(0.9 * len(sizes)))]


def drawn(sizes: Mapping[Judge, Sequence[float]]) -> str:
    """Return a figure of the change in each weighing, by the way and the clock."""
    known = {f"{judge.way}, {judge.clock}": changes for judge, changes in sizes.items()}
    colours = {BLOCKS: 1, PAIRS: 0, TANDEM: 2}
    shown = [
        Row(name, [100 * change for change in changes], None, None, colours[name.split(",")[0]])
        for name, changes in known.items()
    ]
    return rows("Identical programs, weighed in several ways", "% by which one seems slower", shown, reference=0.0)


def sentence(shares: Mapping[Judge, Sequence[bool]], sizes: Mapping[Judge, Sequence[float]]) -> str:
    """Return the result in a sentence."""
    tandem = JUDGES[-1]
    return (
        f"All of one side and then all of the other called identical programs different {_of(shares[USUAL])} times "
        f"(rank sum, {figures.percent(LEVEL)}), pairs judged as `steelyard compare` does {_of(shares[OURS])} and "
        f"pairs in tandem {_of(shares[tandem])}; the change that is none came out as "
        f"{figures.percent(_typical(sizes[USUAL]))}, {figures.percent(_typical(sizes[OURS]))} and "
        f"{figures.percent(_typical(sizes[tandem]))}, typically."
    )


if __name__ == "__main__":
    begin(main, __doc__, long=Effort(30, 25), quick=Effort(8, 20))
