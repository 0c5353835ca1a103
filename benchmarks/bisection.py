"""Simulated bisections: how often they name the planted commit, a wrong one, or a range without it.

    python benchmarks/bisection.py [BISECTIONS] [--commits N] [--change 2%] [--pairs N] [--only NOISE] [--curve CURVE]
                                   [--alpha P] [--faster]

The search is the tool's own (`design/bisection/search.py`); a weighing of commits deals synthetic or recorded noise to
its pairs, in the order in which they would run, and takes the looks that an experiment takes.
A commit is wrong if it is not slower than its parent; if there are several steps, each of them is right. With --faster
the search is for what became faster, along the same curves upside down.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import expm1, log1p
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from benchmarks.simulation import SYNTHETIC, FloatArray, Noise, table, trace, window_of
from steelyard.design.bisection.search import CommitSearch, SearchListener
from steelyard.design.bisection.weighing import Weighed
from steelyard.model.bisection import Bisection, Commit, Compared, Sought
from steelyard.model.settings import Settings
from steelyard.stats.family import sharing_now
from steelyard.stats.looks import next_look
from steelyard.stats.paired import Judgement, judge
from steelyard.stats.verdict import CHANGED
from steelyard.subjects.revisions.checkout import NotBuiltError

# Curve: (generator, commits, change) -> log of each commit's time, good first
Curve = Callable[[np.random.Generator, int, float], FloatArray]


def one_step(generator: np.random.Generator, commits: int, change: float) -> FloatArray:
    """One commit makes the whole change."""
    return _steps(commits, [(int(generator.integers(1, commits + 1)), log1p(change))])


def two_steps(generator: np.random.Generator, commits: int, change: float) -> FloatArray:
    """Two commits share the change, two thirds and one third."""
    first, second = generator.choice(np.arange(1, commits + 1), size=2, replace=False)
    return _steps(commits, [(int(first), log1p(change) * 2 / 3), (int(second), log1p(change) / 3)])


def up_and_down(generator: np.random.Generator, commits: int, change: float) -> FloatArray:
    """Up, down and up again, each time by the whole change."""
    places = sorted(generator.choice(np.arange(1, commits + 1), size=3, replace=False))
    step = log1p(change)
    return _steps(commits, [(int(places[0]), step), (int(places[1]), -step), (int(places[2]), step)])


def ramp(generator: np.random.Generator, commits: int, change: float) -> FloatArray:  # noqa: ARG001 - as all curves
    """Every commit is a little slower: there is none to name."""
    return np.linspace(0, log1p(change), commits + 1)


def layouts(generator: np.random.Generator, commits: int, change: float) -> FloatArray:
    """One step, and each commit is off by some 0.2 %, up or down, by its layout in memory."""
    return one_step(generator, commits, change) + 0.002 * generator.standard_normal(commits + 1)


def nothing(generator: np.random.Generator, commits: int, change: float) -> FloatArray:  # noqa: ARG001 - as all curves
    """No change at all."""
    return np.zeros(commits + 1)


CURVES: dict[str, Curve] = {one.__name__: one for one in (one_step, two_steps, up_and_down, layouts, ramp, nothing)}


def _steps(commits: int, steps: Sequence[tuple[int, float]]) -> FloatArray:
    levels = np.zeros(commits + 1)
    for place, change in steps:
        levels[place:] += change
    return levels


def noises() -> dict[str, Noise]:
    """Recorded bursts first, as they are what the tool is for; then synthetic kinds."""
    recorded = {f"{name} {metric}": window_of(trace(name, metric)) for name, metric in _RECORDED}
    return {**recorded, **SYNTHETIC}


_RECORDED = (("bursts", "active"), ("bursts", "wall"), ("ambient", "active"))


@dataclass
class SimulatedScales:
    """Commits whose times are known, weighed under noise."""

    levels: FloatArray
    noise: Noise
    generator: np.random.Generator
    pairs: int
    broken: frozenset[int] = frozenset()
    """Those that do not build."""
    launches: int = 0

    def weigh(
        self, commits: Sequence[Commit], margin: float, share: float, *, until_one_changed: bool = False
    ) -> Weighed:
        """Weigh as the tool does: benchmarks in turn, looks at growing numbers of pairs."""
        numbers = [int(commit.hash, 16) for commit in commits]
        for number in numbers:
            if number in self.broken:
                raise NotBuiltError(f"{number} does not build")
        baseline, *others = (self.levels[number] for number in numbers)
        dealt = self.noise(self.generator, len(others) * self.pairs)
        sides = [dealt[place :: len(others)] * np.exp([baseline, other]) for place, other in enumerate(others)]
        judged = self._judged(sides, margin, 2 * share, until_one_changed=until_one_changed)
        compared = [
            Compared(
                baseline=commits[0].hash,
                candidate=commit.hash,
                verdict=one.verdict,
                change=expm1(one.estimate.centre),
                interval=(expm1(one.lower), expm1(one.upper)),
                metric="active",
                pairs=one.look.pairs,
            )
            for commit, one in zip(commits[1:], judged, strict=True)
        ]
        return Weighed(compared, False, None, None)

    def are_one_program(self, one: Commit, other: Commit) -> bool:
        """Each commit is a program of its own."""
        return one == other

    def _judged(
        self, sides: list[FloatArray], margin: float, alpha: float, *, until_one_changed: bool
    ) -> list[Judgement]:
        judged: dict[int, Judgement] = {}
        size = 0
        while size < self.pairs:
            size = min(next_look(size), self.pairs)
            for number, values in enumerate(sides):
                if number not in judged or judged[number].verdict == "undecided":
                    changed = sum(one.verdict in CHANGED for one in judged.values())
                    judged[number] = self._look(values, size, margin, alpha, sharing_now("holm", len(sides), changed))
            words = [one.verdict for one in judged.values()]
            if "undecided" not in words or (until_one_changed and any(word in CHANGED for word in words)):
                break
        self.launches += 2 * sum(one.look.pairs for one in judged.values())
        return [judged[number] for number in range(len(sides))]

    def _look(self, values: FloatArray, size: int, margin: float, alpha: float, members: float) -> Judgement:
        judgement = judge(
            lambda n: (values[:n, 0], values[:n, 1]),
            size,
            margin,
            alpha,
            ended=size == self.pairs,
            newest_only=True,
            roughly=True,
            members=members,
        )
        if judgement is None:
            raise ValueError("a look needs pairs")
        return judgement


def commits_of(levels: FloatArray) -> list[Commit]:
    """A line of commits whose hashes are their numbers."""
    names = [f"{number:040x}" for number in range(len(levels))]
    return [
        Commit(hash=name, parents=names[max(0, number - 1) : number], tree=name, author="", date="", subject="")
        for number, name in enumerate(names)
    ]


def search(scales: SimulatedScales, alpha: float = 0.01, margin: float = 0.005, sought: Sought = "slower") -> Bisection:
    """One bisection, to its end."""
    line = commits_of(scales.levels)
    quiet = SearchListener(lambda _: None, lambda *_: None, lambda _: None)
    searching = CommitSearch(line, Settings(alpha=alpha, margin=margin, max_time_s=None), scales, quiet, sought)
    ended = searching.run()
    return searching.result(ended, {"tool": "", "repository": "", "command": "", "build": None, "seconds": 0.0})


@dataclass
class Tally:
    """The outcomes of many bisections of one kind."""

    words: Counter[str] = field(default_factory=Counter)
    launches: list[int] = field(default_factory=list)
    ranges: list[int] = field(default_factory=list)

    def add(self, found: Bisection, scales: SimulatedScales) -> None:
        """Count one."""
        self.words[outcome(found, scales.levels)] += 1
        self.launches.append(scales.launches)
        if found.end == "range":
            self.ranges.append(len(found.suspects))

    def row(self) -> list[object]:
        """The tally as a row of the table."""
        return [
            sum(self.words.values()),
            *(self.words[word] for word in WORDS),
            f"{np.median(self.ranges):.0f}" if self.ranges else "-",
            f"{np.median(self.launches):.0f}",
        ]


WORDS = ("found", "lesser", "wrong", "range", "wrong range", "nothing", "undecided")


def outcome(found: Bisection, levels: FloatArray) -> str:
    """The outcome of a bisection, compared with the truth."""
    steps = np.diff(levels) * (1 if found.sought == "slower" else -1)
    if found.found is not None:
        step = steps[int(found.found.hash, 16) - 1]
        if step <= 0:
            return "wrong"
        return "found" if step == steps.max() else "lesser"
    if found.end == "range":
        inside = [steps[int(commit.hash, 16) - 1] for commit in found.suspects]
        return "range" if max(inside) > 0 else "wrong range"
    return found.end


def simulate(
    noise: Noise,
    curve: Curve,
    *,
    bisections: int,
    commits: int = 64,
    change: float = 0.02,
    pairs: int = 400,
    alpha: float = 0.01,
    broken: float = 0.0,
    seed: int = 1,
    sought: Sought = "slower",
) -> Tally:
    """Bisect many times; a share of the commits between the ends is `broken`."""
    generator, tally = np.random.default_rng(seed), Tally()
    for _ in range(bisections):
        levels = curve(generator, commits, change) * (1 if sought == "slower" else -1)
        ill = frozenset(number for number in range(1, commits) if generator.random() < broken)
        scales = SimulatedScales(levels, noise, generator, pairs, ill)
        tally.add(search(scales, alpha, sought=sought), scales)
    return tally


def main(words: argparse.Namespace) -> None:
    """Print a table with a row for each noise and curve, row by row."""
    header = ("noise", "curve", "bisections", *WORDS, "commits in a range", "launches")
    rows: list[list[object]] = []
    for name, noise in noises().items():
        if words.only is not None and words.only not in name:
            continue
        for curve_name, curve in CURVES.items():
            if words.curve not in (None, curve_name):
                continue
            tally = simulate(
                noise,
                curve,
                bisections=words.bisections,
                commits=words.commits,
                change=float(words.change.rstrip("%")) / 100,
                pairs=words.pairs,
                alpha=words.alpha,
                sought="faster" if words.faster else "slower",
            )
            rows.append([name, curve_name, *tally.row()])
            print(table(header, rows[-1:]), flush=True)
    print(table(header, rows))


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="How often bisections are right.")
    parser.add_argument("bisections", nargs="?", type=int, default=200)
    parser.add_argument("--commits", type=int, default=64, metavar="N")
    parser.add_argument("--change", default="2%", metavar="PERCENT")
    parser.add_argument("--pairs", type=int, default=400, metavar="N", help="of each weighing at most")
    parser.add_argument("--alpha", type=float, default=0.01, metavar="P")
    parser.add_argument("--only", metavar="NOISE", help="kinds of noise with this in their names")
    parser.add_argument("--curve", choices=CURVES, help="that one alone")
    parser.add_argument("--faster", action="store_true", help="look for what became faster")
    return parser.parse_args()


if __name__ == "__main__":
    main(_words())
