"""False alarms of whole suites: 100 unchanged benchmarks, weighed together among bursts of other work.

    python benchmarks/suite_of_100.py [WEIGHINGS] [--benchmarks N] [--pairs N] [--simulated]

A suite shares one alpha of 0.01 among all its benchmarks, so at most one suite in a hundred may call any of them
slower or faster. For comparison, the same launches are judged as by scripts in CI: all of the baseline, then all of the
candidate, whose mean elapsed time may be 5 % longer. As both sides are one program, the first half of a benchmark's
launches, in the order in which they ran, stands for the baseline of such a script, the second half for the candidate.
With `--simulated` no program runs: the launches are those of the recorded trace of bursts, from a random start.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from benchmarks.load import Bursts
from benchmarks.processes import build, compare, read_record, stoppable
from benchmarks.simulation import VERDICTS, FloatArray, table, trace, weigh_once
from steelyard.stats.family import judge_family
from steelyard.stats.paired import Judgement
from steelyard.stats.verdict import CHANGED

# The rounds of about 2 ms of the demo's work.
ROUNDS = 470
# At least 15 pairs are needed to show anything among 100 benchmarks; a few more give every look its chance.
PAIRS = 20
# The threshold at which benchmarking actions and scripts alert.
THRESHOLD = 0.05


@dataclass
class Tally:
    """The suites so far."""

    words: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    with_alarm: int = 0
    by_threshold: int = 0
    with_threshold: int = 0

    def add(self, words: Iterable[str], seconds: float, over: int = 0) -> None:
        """Count one suite by its benchmarks' verdicts, and by how many of them are over the fixed threshold."""
        found = Counter(words)
        self.words += found
        self.seconds.append(seconds)
        self.with_alarm += any(found[word] for word in CHANGED)
        self.by_threshold += over
        self.with_threshold += over > 0

    def report(self) -> str:
        """The table so far."""
        header = ("suites", "with any slower or faster", "verdicts slower", "faster", "same", "undecided", "seconds")
        beside = (f"suites with any mean over {THRESHOLD:+.0%}", "benchmarks over it")
        counts = [self.words[word] for word in VERDICTS]
        row = [len(self.seconds), self.with_alarm, *counts, f"{statistics.median(self.seconds):.0f}"]
        return table([*header, *beside], [[*row, self.with_threshold, self.by_threshold]]) + "\n"


def main(words: argparse.Namespace) -> None:
    """Print the tally so far after each suite."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as name, stoppable(), Bursts():
        folder = Path(name)
        record = folder / "record.json"
        programs = [build(folder / program, ROUNDS) for program in ("work", "work-again")]
        # The programs ignore their argument.
        suite = ["--parameter-scan", "n", "1", str(words.benchmarks), "1", "--pairs", str(words.pairs)]
        for _ in range(words.weighings):
            ended = compare([*(f"{program} {{n}}" for program in programs), *suite], record)
            found = read_record(record)
            tally.add(verdicts(found), ended.seconds, over_threshold(found))
            print(tally.report(), flush=True)


def simulate(words: argparse.Namespace) -> None:
    """Print the tally of suites of recorded launches."""
    tally, generator = Tally(), np.random.default_rng(1)
    for _ in range(words.weighings):
        begun = time.monotonic()
        found, over = simulated(generator, words.benchmarks, words.pairs)
        tally.add(found, time.monotonic() - begun, over)
        print(tally.report(), flush=True)


def simulated(generator: np.random.Generator, benchmarks: int, pairs: int) -> tuple[list[str], int]:
    """The verdicts of one suite, and how many of its benchmarks are over the threshold.

    Rounds visit the benchmarks in random order, and a fair coin decides which launch of a pair belongs to which side.
    """
    active, wall = (trace("bursts", metric) for metric in ("active", "wall"))
    start = generator.integers(0, len(active) - pairs * benchmarks + 1)
    rounds = start + np.arange(pairs * benchmarks).reshape(pairs, benchmarks)
    places = generator.permuted(rounds, axis=1)
    swap = generator.random((pairs, benchmarks, 1)) < 0.5
    sides = np.where(swap, active[places][:, :, ::-1], active[places])

    def judge_one(member: int, sharing: float) -> Judgement | None:
        return weigh_once(sides[:, member], margin=0.005, alpha=0.01, roughly=True, members=sharing)

    judged = judge_family("holm", benchmarks, judge_one)
    over = sum(is_over_threshold(wall[places[:, one]].ravel()) for one in range(benchmarks))
    return [one.verdict for one in judged if one is not None], over


def is_over_threshold(launches: Sequence[float] | FloatArray) -> bool:
    """Whether the mean of the second half of the launches exceeds that of the first by more than the threshold."""
    half = len(launches) // 2
    return bool(np.mean(launches[half : 2 * half]) > (1 + THRESHOLD) * np.mean(launches[:half]))


def over_threshold(record: dict[str, Any]) -> int:
    """How many benchmarks of a record are over the threshold, by the elapsed times of their launches."""
    launches = record["launches"]
    times: dict[int, list[tuple[int, int]]] = {}
    for benchmark, start, wall in zip(launches["benchmark"], launches["start_ns"], launches["wall_ns"], strict=True):
        times.setdefault(benchmark, []).append((start, wall))
    return sum(is_over_threshold([wall for _, wall in sorted(one)]) for one in times.values())


def verdicts(record: dict[str, Any]) -> list[str]:
    """The verdict of each benchmark of a record."""
    return [verdict["verdict"] for verdict in record["derived"]["verdicts"]]


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="False alarms of whole suites.")
    parser.add_argument("weighings", nargs="?", type=int, default=50, help="suites")
    parser.add_argument("--benchmarks", type=int, default=100, metavar="N", help="in a suite")
    parser.add_argument("--pairs", type=int, default=PAIRS, metavar="N", help="of each benchmark")
    parser.add_argument("--simulated", action="store_true", help="of recorded launches")
    return parser.parse_args()


if __name__ == "__main__":
    given = _words()
    (simulate if given.simulated else main)(given)
