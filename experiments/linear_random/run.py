"""Linear and random walks over memory: what instructions and costs say about them, and how cost follows time.

    python experiments/linear_random/run.py [--quick]

Ends in tables, a figure and a sentence; experiments/README.md says what they show. Needs Valgrind.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from experiments.ending import Page, begin, table
from experiments.figure import curves
from steelyard.design.calibration.fit import correlation
from steelyard.design.calibration.instruments import Instruments, instruments
from steelyard.design.calibration.measuring import count_all, measure
from steelyard.design.calibration.results import Results
from steelyard.design.calibration.sweep import SweepPoint, sweep
from steelyard.design.runner.target import Target
from steelyard.design.world import World
from steelyard.measure.count.valgrind import host_caches, last_levels_below
from steelyard.model.calibration import Point
from steelyard.model.counting import Caches, Weights
from steelyard.model.machine import MachineFacts
from steelyard.model.progress import Progress
from steelyard.stats.cost import cost
from steelyard.stats.least_squares import pearson

ELEMENTS = 1_000_000
LINEAR, RANDOM = "linear-i32", "random-i32"
SCALES = (1, 2, 4)
# D1 and LL misses per iteration (https://pythonspeed.com/articles/consistent-benchmarking-in-ci/).
MISSES = {LINEAR: ("0.25", "0.25"), RANDOM: ("4.00", "2.75")}
SCRIPT, ARTICLE = Weights(), Weights(name="article", ram=30)
# The seed of the order in which the sizes are timed.
SEED = 1

Events = Mapping[str, int]


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    iterations: int
    repeats: int
    beyond: bool
    """Whether sizes go to several times this machine's last level, which may take an hour, or to the article's."""


def main(effort: Effort) -> None:
    """Measure, and tell each table as soon as it is complete."""
    page, world = Page("linear_random"), World()
    jobs = len(world.processors())
    with instruments(world.valgrind(None), world, jobs=jobs, watch=_unwatched) as tools:
        iterations = effort.iterations
        counts = _counted(tools, [(LINEAR, 0), (LINEAR, iterations), (RANDOM, 0), (RANDOM, iterations)])
        page.tell(
            f"## {iterations:,} iterations over {ELEMENTS:,} i32, the article's caches", walks(counts, iterations)
        )
        scales = _counted(tools, [(RANDOM, scale * iterations // SCALES[-1]) for scale in (0, *SCALES)])
        page.tell(f"## Scaling: N = {iterations // SCALES[-1]:,} iterations of {RANDOM}", scaling(scales))
        sweeps = _sweeps(world.facts(), tools, effort)
    name, _ = best(sweeps)
    page.tell(f"## Cost and CPU time of {RANDOM}, {effort.repeats} repeats, counted with the caches of {name}")
    page.tell(sizes(sweeps[name]), "## How closely they follow each other", correlations(sweeps))
    page.end(drawn(sweeps), sentence(counts, iterations, sweeps))


def _sweeps(facts: MachineFacts, tools: Instruments, effort: Effort) -> dict[str, list[Point]]:
    """Return the same times with counts for this machine's caches, for parts of its last level, and the article's."""
    own = host_caches(facts.caches)
    reached = own if effort.beyond else Caches()
    results = Results([point for point in sweep(reached, facts.memory_bytes) if point.pattern == RANDOM])
    named = {"this machine": own, "the article": Caches()}
    for level in last_levels_below(own) if effort.beyond else []:
        named[f"{level[0] / own.ll[0]:g} of its last level"] = own.model_copy(update={"ll": level})
    measure(results, list(named.values()), tools, repeats=effort.repeats, seed=SEED)
    return {f"{whose}, {_shown(named[whose])}": results.points(number) for number, whose in enumerate(named)}


def _counted(tools: Instruments, runs: Sequence[tuple[str, int]]) -> list[Events]:
    """Return the events of each (pattern, iterations), in order, with the article's caches."""
    launches = [(pattern, tools.spec(SweepPoint(pattern, ELEMENTS, 0), iterations)) for pattern, iterations in runs]
    targets = [Target(pattern, spec) for pattern, spec in launches]
    found: dict[int, Events] = {place: done.events for place, done in count_all(targets, Caches(), tools)}
    if len(found) < len(targets) or any(not events for events in found.values()):
        raise SystemExit("a walk was not counted to its end")
    return [found[place] for place in range(len(targets))]


def _unwatched(progress: Progress) -> None:
    """Show no progress: the tables are short."""


# --- the tables


def walks(counts: Sequence[Events], iterations: int) -> str:
    """Return a table of both walks, from counts of 0 and N linear, and of 0 and N random iterations."""
    rows = []
    for name, before, after in ((LINEAR, counts[0], counts[1]), (RANDOM, counts[2], counts[3])):
        walk = less(after, before)
        rates = (walk["D1mr"] + walk["D1mw"], walk["DLmr"] + walk["DLmw"], _cost(walk, SCRIPT), _cost(walk, ARTICLE))
        rows.append([name, f"{after['Ir']:,}", f"{walk['Ir']:,}", *(f"{rate / iterations:.2f}" for rate in rates)])
    rows += [[f"{name}, the article", "", "", *misses, "", ""] for name, misses in MISSES.items()]
    header = ("walk", "instructions", "less set-up", "D1 misses", "LL misses", "cost 1:5:35", "cost 1:5:30")
    return table(header, rows) + "\n\nMisses and costs are those of an iteration, the set-up subtracted."


def scaling(counts: Sequence[Events]) -> str:
    """Return a table of N, 2N and 4N iterations, from counts of the set-up and of each of them."""
    setup, *runs = counts
    first = less(runs[0], setup)
    rows = []
    for scale, events in zip(SCALES, runs, strict=True):
        walk = less(events, setup)
        ratios = (walk["Ir"] / first["Ir"], _cost(walk, SCRIPT) / _cost(first, SCRIPT))
        whole = _cost(events, SCRIPT) / _cost(runs[0], SCRIPT)
        rows.append([f"{scale}N", f"{walk['Ir']:,}", *(f"{ratio:.4f}" for ratio in ratios), f"{whole:.4f}"])
    return table(("iterations", "instructions", "of those of N", "cost of that of N", "with the set-up"), rows)


def sizes(points: Iterable[Point]) -> str:
    """Return a table of the sweep: what was counted and timed at each size, per iteration."""
    rows = [
        [
            f"{point.size_bytes >> 10:,} KiB",
            f"{point.events['Ir'] / point.counted_iterations:.2f}",
            f"{point.ll:.2f}",
            f"{point.ram:.2f}",
            f"{_cost(point.events, SCRIPT) / point.counted_iterations:.1f}",
            f"{point.ns:.2f} ns",
        ]
        for point in points
    ]
    return table(("size", "instructions", "LL hits", "RAM hits", "cost 1:5:35", "CPU time"), rows)


def correlations(sweeps: Mapping[str, Sequence[Point]]) -> str:
    """Return a table of Pearson's correlation of instructions and of each cost with CPU time, by the caches."""
    rows = []
    for name, points in sweeps.items():
        # Rounded, because a few instructions at the end of a process are no difference between sizes.
        instructions = [round(point.events["Ir"] / point.counted_iterations, 3) for point in points]
        known = [correlation(points, weights) for weights in (SCRIPT, ARTICLE)]
        plain = pearson(instructions, [point.ns for point in points])
        rows.append([name, *(_number(number) for number in (*known, plain))])
    return table(("caches", "cost 1:5:35", "cost 1:5:30", "instructions"), rows)


def less(events: Events, before: Events) -> dict[str, int]:
    """Return what was counted for the walk alone."""
    return {name: count - before[name] for name, count in events.items()}


def _cost(events: Events, weights: Weights) -> float:
    return cost(events, weights.l1, weights.ll, weights.ram)


def _number(number: float | None) -> str:
    return "none: always the same" if number is None else f"{number:.2f}"


def _shown(caches: Caches) -> str:
    return f"{caches.d1[0] >> 10} KiB and {caches.ll[0] >> 20} MiB"


def best(sweeps: Mapping[str, Sequence[Point]]) -> tuple[str, float]:
    """Return the caches with which the cost follows the time most closely, and the correlation."""
    known = {name: correlation(points, SCRIPT) or 0.0 for name, points in sweeps.items()}
    name = max(known, key=lambda one: known[one])
    return name, known[name]


def drawn(sweeps: Mapping[str, Sequence[Point]]) -> str:
    """Return a figure of time and cost by size, each relative to the smallest size."""
    name, _ = best(sweeps)
    points = sweeps[name]
    costs = [_cost(point.events, SCRIPT) / point.counted_iterations for point in points]
    series = {
        "CPU time": [(point.size_bytes / 1024, point.ns / points[0].ns) for point in points],
        f"cost, {name}": [
            (point.size_bytes / 1024, cost / costs[0]) for point, cost in zip(points, costs, strict=True)
        ],
        "instructions": [(point.size_bytes / 1024, _executed(point) / _executed(points[0])) for point in points],
    }
    axes = ("size of the arrays, KiB", "an iteration, times that of the smallest size")
    return curves(
        "A random walk over arrays of several sizes", axes, series, told=sizes(points), logarithmic=(True, False)
    )


def _executed(point: Point) -> float:
    return point.events["Ir"] / point.counted_iterations


def sentence(counts: Sequence[Events], iterations: int, sweeps: Mapping[str, Sequence[Point]]) -> str:
    """Return the result in a sentence."""
    linear, random = (less(after, before) for before, after in ((counts[0], counts[1]), (counts[2], counts[3])))
    executed = [walk["Ir"] / iterations for walk in (linear, random)]
    costs = [_cost(walk, SCRIPT) / iterations for walk in (linear, random)]
    name, closely = best(sweeps)
    return (
        f"Both walks execute {executed[0]:.2f} and {executed[1]:.2f} instructions an iteration, cost {costs[0]:.1f} "
        f"and {costs[1]:.1f}; over the sizes cost follows CPU time with a correlation of {closely:.2f} ({name})."
    )


if __name__ == "__main__":
    begin(main, __doc__, long=Effort(20_000_000, 7, beyond=True), quick=Effort(500_000, 2, beyond=False))
