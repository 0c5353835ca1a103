"""False alarms and power of `steelyard diff`, which compares two unpaired runs.

    python benchmarks/diff_unpaired.py [TRIES]
    python benchmarks/diff_unpaired.py --live PAIRS [SECONDS]

The table covers two distant windows of one recorded trace, one window of each trace (two sessions under different
load), and synthetic drift and steps, all of the same program, beside a plain Mann-Whitney test. --live takes pairs of
real runs of the demo's program, with and without other work around them, and counts false alarms.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.load import Bursts
from benchmarks.processes import STEELYARD, WORK, run, with_own_store
from benchmarks.simulation import TRACE_METRICS, VERDICTS, table, trace
from steelyard.stats.unpaired import RunValues, judge_unpaired
from steelyard.stats.verdict import CHANGED

FloatArray = npt.NDArray[np.float64]
# sessions(generator, launches) -> two runs of one program
Sessions = Callable[[np.random.Generator, int], tuple[RunValues, RunValues]]

SIZES = (20, 50, 100, 200, 400, 1000)
CHANGES = (0.03, 0.05, 0.10, 0.20)
A_LAUNCH_S = 0.013
ALPHA = 0.01


@cache
def _one_side(name: str, metric: str) -> FloatArray:
    return trace(name, metric)[:, 0]


@cache
def _clock(name: str) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(trace(name, "wall").sum(axis=1))])


def on_traces(one: str, other: str, metric: str) -> Sessions:
    """A window of each trace; for one trace, two windows as far apart as its length allows, or 250 launches."""
    length = len(_one_side(one, metric))

    def sessions(generator: np.random.Generator, launches: int) -> tuple[RunValues, RunValues]:
        room = length - launches
        while True:
            starts = generator.integers(0, room + 1, size=2)
            if one != other or abs(int(starts[0] - starts[1])) >= min(launches + 250, int(0.8 * room)):
                break
        return _window(one, metric, int(starts[0]), launches), _window(other, metric, int(starts[1]), launches)

    return sessions


def _window(name: str, metric: str, start: int, launches: int) -> RunValues:
    part = slice(start, start + launches)
    clock = _clock(name)
    unwaited = np.log(_one_side(name, "active")[part]) if metric == "wall" else None
    return RunValues(np.log(_one_side(name, metric)[part]), float(clock[part.stop] - clock[start]), unwaited)


def _values_of(logs: FloatArray) -> RunValues:
    return RunValues(logs, len(logs) * A_LAUNCH_S)


def drift(memory: float, width: float, noise: float) -> Sessions:
    """Each run on its own stretch of a mean-reverting random walk, `width` wide, under independent noise."""

    def run(generator: np.random.Generator, launches: int) -> RunValues:
        level, levels = width * generator.standard_normal(), np.empty(launches)
        for launch, step in enumerate(width * np.sqrt(1 - memory**2) * generator.standard_normal(launches)):
            level = memory * level + step
            levels[launch] = level
        return _values_of(levels + noise * generator.standard_normal(launches))

    return lambda generator, launches: (run(generator, launches), run(generator, launches))


def pink(width: float) -> Sessions:
    """The two ends of 8,192 launches of 1/f noise, whose level never settles."""

    def sessions(generator: np.random.Generator, launches: int) -> tuple[RunValues, RunValues]:
        weight = np.fft.rfftfreq(8192)[1:] ** -0.5
        parts = generator.standard_normal((2, len(weight))) * weight
        levels = np.fft.irfft(np.concatenate([[0], parts[0] + 1j * parts[1]]))
        levels = width * levels / levels.std() + 0.005 * generator.standard_normal(8192)
        return _values_of(levels[:launches]), _values_of(levels[-launches:])

    return sessions


def step(height: float) -> Sessions:
    """Two calm runs, where the second level is `height` higher for no reason in the program."""
    return lambda generator, launches: (
        _values_of(0.01 * generator.standard_normal(launches)),
        _values_of(height + 0.01 * generator.standard_normal(launches)),
    )


SESSIONS: dict[str, Sessions] = {
    f"{one}, {other}, {metric}": on_traces(one, other, metric)
    for metric in TRACE_METRICS
    for one, other in (("ambient", "ambient"), ("bursts", "bursts"), ("ambient", "bursts"))
} | {
    "drift of 5 %, turns in 0.6 s": drift(0.98, 0.05, 0.01),
    "drift of 2 %, turns in 6 s": drift(0.998, 0.02, 0.01),
    "1/f noise of 2 %": pink(0.02),
    **{f"a step of {height:.1%}": step(height) for height in (0.005, 0.01, 0.02, 0.03)},
}

# Drift that no run shows, and that the floor does not cover.
SLOWER: dict[str, Sessions] = {"drift of 2 %, turns in 30 s": drift(0.99957, 0.02, 0.01)}


@dataclass(frozen=True)
class Tally:
    """The outcomes of many pairs of runs of one kind, and how often Mann-Whitney alone called them different."""

    verdicts: Counter[str]
    coverage: float
    half_width: float
    plain: float

    def share(self, *verdicts: str) -> float:
        """The share of pairs of runs that ended with one of the verdicts."""
        return sum(self.verdicts[verdict] for verdict in verdicts) / self.verdicts.total()


def simulate_unpaired(sessions: Sessions, launches: int, change: float = 0.0, *, tries: int) -> Tally:
    """Compare many pairs of runs with a true relative `change` of the second, by `judge_unpaired`."""
    generator = np.random.default_rng(1)
    truth, judged = np.log1p(change), []
    for _ in range(tries):
        one, other = sessions(generator, launches)
        unwaited = None if other.unwaited is None else other.unwaited + truth
        judged.append(judge_unpaired(one, RunValues(other.logs + truth, other.seconds, unwaited), 0.005, ALPHA))
    return Tally(
        verdicts=Counter(each.verdict for each in judged),
        coverage=float(np.mean([each.lower <= truth <= each.upper for each in judged])),
        half_width=float(np.median([(each.upper - each.lower) / 2 for each in judged])),
        plain=float(np.mean([each.shift.p_value <= ALPHA for each in judged])),
    )


def main(tries: int) -> None:
    """Print one row per kind of sessions and length of runs, each as soon as it is known: all take minutes."""
    header = ["sessions", "launches", "Mann-Whitney alone alarms", "false alarms", "coverage", "half-width"]
    header += [f"{change:+.0%} found" for change in CHANGES]
    print(f"{tries} pairs of runs a row, alpha 0.01\n\n{table(header, [])}", flush=True)
    for name, sessions in (SESSIONS | SLOWER).items():
        for launches in SIZES:
            same = simulate_unpaired(sessions, launches, tries=tries)
            found = [simulate_unpaired(sessions, launches, change, tries=tries).share("slower") for change in CHANGES]
            numbers = (same.plain, same.share(*CHANGED), same.coverage, same.half_width, *found)
            row = [name, str(launches), *(f"{number:.1%}" for number in numbers)]
            print(table(row, []).splitlines()[0], flush=True)


def live(pairs: int, seconds: float) -> None:
    """Measure pairs of runs of one program, each with or without bursts of other work, and print what diff says."""
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(["cc", "-O2", "-o", folder / "work", WORK], check=True)
        for pair in range(1, pairs + 1):
            loads = [random.choice(("idle", "bursts")) for _ in range(2)]
            files = [folder / f"{label}.json" for label in "ab"]
            for load, file in zip(loads, files, strict=True):
                command = [STEELYARD, "run", str(folder / "work"), "--max-time", str(seconds), "-o", str(file)]
                with Bursts() if load == "bursts" else nullcontext():
                    run(command, with_own_store(folder))
            done = subprocess.run([STEELYARD, "diff", *files, "--strict"], check=False, capture_output=True, text=True)
            line = next((line for line in done.stdout.splitlines() if line.startswith(VERDICTS)), "")
            if not line:
                raise SystemExit(f"diff failed: {done.stderr}")
            seen[line.split()[0]] += 1
            print(f"{pair}: {' then '.join(loads)}: {line}", flush=True)
    alarms = seen["slower"] + seen["faster"]
    print(f"{pairs} pairs of runs of the same program: {alarms} false alarms, {seen['undecided']} undecided")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="False alarms and power of steelyard diff.")
    parser.add_argument("tries", nargs="?", type=int, default=100, help="pairs of runs a row")
    parser.add_argument("--live", nargs="+", metavar=("PAIRS", "SECONDS"), help="real runs: how many pairs, how long")
    options = parser.parse_args()
    if options.live:
        live(int(options.live[0]), float(options.live[1]) if len(options.live) > 1 else 12.0)
    else:
        main(options.tries)
