"""Samples in turn: how much a pair whose samples alternate is worth, compared with launches one after the other.

    python benchmarks/lockstep.py [PAIRS] [--quiet] [--short]
    python benchmarks/lockstep.py --simulate WEIGHINGS

A suite of the C++ SDK and a statement of the Python SDK are measured, unchanged and with 3 % more work, among bursts of
other work (except with --quiet). The ways take turns in a drawn order: `adjacent`, one after the other; `at once`, both
at the same time on one processor, alternated by the scheduler; `lockstep`, both at the same time with their samples in
turn. For each way the table shows the centre of the pairs' log-ratios, which should be the change; their spread, robust
and as a standard deviation; and how many adjacent pairs it is worth in the time of 100 of these, by the robust spread
and the seconds of a pair.

Simulated are false alarms: weighings of equal sides by the rule for the value of a pair in lockstep, of samples with
storms, with a drift, and with caches left cold by the partner's samples.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from benchmarks.load import Bursts
from benchmarks.simulation import FloatArray, table
from steelyard.measure.launch import Launcher
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import Sample, judged_samples
from steelyard.stats.neighbours import centres_of_neighbours
from steelyard.stats.paired import judge
from steelyard.stats.signed_rank import estimate
from steelyard.stats.verdict import CHANGED
from steelyard.subjects.harness import Work
from steelyard.subjects.protocol import ProtocolHarness

ROOT = Path(__file__).resolve().parent.parent
HARNESS = ProtocolHarness()
METRICS = ("active", "wall")
PYTHON = (sys.executable, "-m", "steelyard.harness", "--timeit")
# Long compared to the clock, short compared to a scheduler's slice; the first sample of a launch is not judged.
SAMPLES = 11
LOOPS = {"loop": 15, "memory": 2, "sort": 2, "statement": 10}
CHANGES = {0: "the same", 3: "+3 %"}


@dataclass
class Way:
    """The pairs of one way: their log-ratios in each metric, and the seconds that they took."""

    differences: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    seconds: list[float] = field(default_factory=list)


def main(pairs: int, *, quiet: bool) -> None:
    """Run the pairs and print a table for each benchmark, unchanged and with the change."""
    with tempfile.TemporaryDirectory() as name, Launcher() as launcher:
        programs = {percent: _built(Path(name) / f"work{percent}", percent) for percent in (100, 103)}
        for benchmark in LOOPS:
            for change, words in CHANGES.items():
                sides = [_spec(programs, benchmark, percent) for percent in (100, 100 + change)]
                with nullcontext() if quiet else Bursts():
                    ways = _weighed(launcher, sides, benchmark, pairs)
                print(f"\n{benchmark}, {words}, {pairs} pairs of each way")
                print(_report(ways), flush=True)


def _built(program: Path, percent: int) -> Path:
    command = ["g++", "-std=c++17", "-O2", f"-DPERCENT={percent}", f"-I{ROOT / 'sdk' / 'cpp'}"]
    subprocess.run([*command, ROOT / "benchmarks" / "lockstep_work.cpp", "-o", program], check=True)
    return program


def _spec(programs: dict[int, Path], benchmark: str, percent: int) -> LaunchSpec:
    words = [str(programs[percent])]
    if benchmark == "statement":
        words = [*PYTHON, f"sum(range({100 * percent}))"]
    return launch_of(words)


def launch_of(words: Sequence[str]) -> LaunchSpec:
    """The spec of a launch of a harness, with a small environment."""
    argv = tuple(word.encode() for word in words)
    return LaunchSpec(argv[0], argv, (b"PATH=/usr/bin:/bin",), timeout_ns=60_000_000_000)


def _weighed(launcher: Launcher, sides: Sequence[LaunchSpec], benchmark: str, pairs: int) -> dict[str, Way]:
    ways = {name: Way() for name in TAKEN}
    name = "timeit" if benchmark == "statement" else benchmark
    for pair in range(pairs):
        work = Work(name, LOOPS[benchmark], SAMPLES, seed=pair + 1)
        for way in random.sample([*TAKEN], len(TAKEN)):
            first = random.getrandbits(1)
            started = time.perf_counter()
            both = TAKEN[way](launcher, sides, work, first)
            ways[way].seconds.append(time.perf_counter() - started)
            for metric in METRICS:
                ways[way].differences[metric].append(difference(both, metric))
    return ways


Samples = tuple[list[Sample], list[Sample]]


def _adjacent(launcher: Launcher, sides: Sequence[LaunchSpec], work: Work, first: int) -> Samples:
    order = (first, 1 - first)
    taken = {side: _read(launcher.launch(HARNESS.running(sides[side], work)), work) for side in order}
    return taken[0], taken[1]


def _at_once(
    launcher: Launcher, sides: Sequence[LaunchSpec], work: Work, first: int, *, in_turn: bool = False
) -> Samples:
    works = [
        Work(work.name, work.loops, work.samples, work.seed, orders=str(order) * work.samples * in_turn)
        for order in (0, 1)
    ]
    order = (first, 1 - first)
    specs = [HARNESS.running(sides[side], asked) for side, asked in zip(order, works, strict=True)]
    measured = launcher.launch_together(*specs, second_begins=bool(random.getrandbits(1)))
    taken = dict(zip(order, map(_read, measured, works), strict=True))
    return taken[0], taken[1]


def lockstep(launcher: Launcher, sides: Sequence[LaunchSpec], work: Work, first: int) -> Samples:
    """The judged samples of both launches of a pair, taken in turn; exits if they were not."""
    taken = _at_once(launcher, sides, work, first, in_turn=True)
    if any(sample.order is None for samples in taken for sample in samples):
        raise SystemExit("samples were not taken in turn")
    return taken


TAKEN: dict[str, Callable[[Launcher, Sequence[LaunchSpec], Work, int], Samples]] = {
    "adjacent": _adjacent,
    "at once": _at_once,
    "lockstep": lockstep,
}


def _read(measured: Measured, work: Work) -> list[Sample]:
    if measured.has_failed():
        raise SystemExit(f"a launch failed: {measured.stderr!r} {measured.results!r}")
    return judged_samples(HARNESS.samples(measured, work))


def difference(both: Samples, metric: str) -> float:
    """The log-ratio of a pair, as it is judged."""
    times = np.array([[sample.time_ns(metric) for sample in samples] for samples in both])
    if both[0][0].order is None:
        return float(np.diff(np.log(np.maximum(np.median(times, axis=1), 1.0)))[0])
    order = np.array([[sample.order for sample in both[0]]], dtype=np.intp)
    return float(centres_of_neighbours(times[:1], times[1:], order)[0])


def robust_spread(values: Sequence[float] | FloatArray) -> float:
    """The standard deviation of a normal distribution with the same interquartile range."""
    low, high = np.percentile(values, [25, 75])
    return float(high - low) / 1.349


def _report(ways: dict[str, Way]) -> str:
    rows = []
    for metric in METRICS:
        costs = {}
        for name, way in ways.items():
            differences = 100 * np.array(way.differences[metric])
            robust, each = robust_spread(differences), float(np.mean(way.seconds))
            costs[name] = robust**2 * each
            rows.append(
                [
                    metric,
                    name,
                    f"{estimate(differences, 0.05).centre:+.2f} %",
                    f"{robust:.2f} %",
                    f"{differences.std():.2f} %",
                    f"{1000 * each:.0f} ms",
                    f"{100 * costs['adjacent'] / costs[name]:,.0f}",
                ]
            )
    return table(["metric", "way", "centre", "spread", "(sd)", "a pair", "worth of 100"], rows)


def simulate(weighings: int, pairs: int = 60, rounds: int = 10) -> None:
    """Weigh equal sides, and print how many were called different; at alpha 0.01 one in a hundred may be."""
    rows = []
    for name, noise in NOISES.items():
        generator = np.random.default_rng(20)
        words: Counter[str] = Counter()
        for _ in range(weighings):
            words[_word(generator, noise, pairs, rounds)] += 1
        changed = sum(words[word] for word in CHANGED)
        rows.append([name, f"{changed / weighings:.2%}", f"{words['same'] / weighings:.0%}"])
    print(table(["noise", "false alarms", "same"], rows))


def _word(generator: np.random.Generator, noise: Callable[..., FloatArray], pairs: int, rounds: int) -> str:
    line = noise(generator, pairs, 2 * rounds)
    first = generator.integers(0, 2, size=(pairs, 1))
    sides = [np.where(first == side, line[:, ::2], line[:, 1::2]) for side in (0, 1)]
    centres = centres_of_neighbours(sides[0], sides[1], np.tile(first, rounds))
    ratios = np.exp(centres)
    judgement = judge(lambda n: (np.ones(n), ratios[:n]), pairs, 0.005, 0.01, ended=True)
    return "none" if judgement is None else judgement.verdict


def _calm(generator: np.random.Generator, pairs: int, samples: int) -> FloatArray:
    return np.exp(0.01 * generator.standard_normal((pairs, samples)))


def _stormy(generator: np.random.Generator, pairs: int, samples: int) -> FloatArray:
    """Storms that last for some pairs, in which random samples are long."""
    storm = generator.random((pairs // 5 + 1, 1)).repeat(5, axis=0)[:pairs] < 0.3
    return _calm(generator, pairs, samples) * np.exp(storm * generator.exponential(0.3, size=(pairs, samples)))


def _drifting(generator: np.random.Generator, pairs: int, samples: int) -> FloatArray:
    """Launches that gradually slow down, the more so the later they are."""
    drift = np.cumsum(0.003 * generator.random((pairs, samples)), axis=1)
    return _calm(generator, pairs, samples) * np.exp(drift * np.linspace(0, 2, pairs)[:, None])


def _second_colder(generator: np.random.Generator, pairs: int, samples: int) -> FloatArray:
    """The second sample of each round is 2 % slower, in every pair."""
    return _calm(generator, pairs, samples) * np.where(np.arange(samples) % 2, 1.02, 1.0)


NOISES = {"calm": _calm, "storms": _stormy, "drift": _drifting, "2 % for the second": _second_colder}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("pairs", type=int, nargs="?", default=200)
    parser.add_argument("--quiet", action="store_true", help="without the bursts of other work")
    parser.add_argument("--short", action="store_true", help="few pairs: whether it runs, and no more")
    parser.add_argument("--simulate", type=int, metavar="WEIGHINGS")
    arguments = parser.parse_args()
    if arguments.simulate:
        simulate(arguments.simulate)
    else:
        main(8 if arguments.short else arguments.pairs, quiet=arguments.quiet)
