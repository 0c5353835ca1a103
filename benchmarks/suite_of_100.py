"""False alarms of whole suites: 100 benchmarks of which none changed, weighed at once, bursts of other work around.

    python benchmarks/suite_of_100.py [WEIGHINGS] [--benchmarks N] [--pairs N]

A suite shares one alpha of 0.01 among all its benchmarks, so at most one suite in a hundred may call any of them
slower or faster.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.load import Bursts
from benchmarks.processes import STEELYARD, build, read_record, run, stoppable, with_own_store
from benchmarks.simulation import table

# About 2 ms of the demo's work.
ROUNDS = 470
# The fewest that can show anything among 100 benchmarks are 15; a few more leave its chance to every look.
PAIRS = 20
CHANGED = ("slower", "faster")


@dataclass
class Tally:
    """The suites so far."""

    words: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    with_alarm: int = 0

    def add(self, words: Iterable[str], seconds: float) -> None:
        """Count one suite by its benchmarks' verdicts."""
        found = Counter(words)
        self.words += found
        self.seconds.append(seconds)
        self.with_alarm += any(found[word] for word in CHANGED)

    def report(self) -> str:
        """The table as it stands."""
        header = ("suites", "with any slower or faster", "verdicts slower", "faster", "same", "undecided", "seconds")
        counts = [self.words[word] for word in (*CHANGED, "same", "undecided")]
        row = [len(self.seconds), self.with_alarm, *counts, f"{statistics.median(self.seconds):.0f}"]
        return table(header, [row]) + "\n"


def main(words: argparse.Namespace) -> None:
    """Print the tally as it stands after each suite."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as name, stoppable(), Bursts():
        folder = Path(name)
        record = folder / "record.json"
        programs = [build(folder / program, ROUNDS) for program in ("work", "work-again")]
        # The programs take no notice of their argument.
        suite = ["--parameter-scan", "n", "1", str(words.benchmarks), "1", "--pairs", str(words.pairs)]
        command = [STEELYARD, "compare", *(f"{program} {{n}}" for program in programs), *suite, "--json", str(record)]
        for _ in range(words.weighings):
            ended = run(command, with_own_store(folder), accept=(0, 1))
            tally.add(verdicts(read_record(record)), ended.seconds)
            print(tally.report(), flush=True)


def verdicts(record: dict[str, Any]) -> list[str]:
    """The word for each benchmark of a record."""
    return [verdict["verdict"] for verdict in record["derived"]["verdicts"]]


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="False alarms of whole suites.")
    parser.add_argument("weighings", nargs="?", type=int, default=50, help="suites")
    parser.add_argument("--benchmarks", type=int, default=100, metavar="N", help="in a suite")
    parser.add_argument("--pairs", type=int, default=PAIRS, metavar="N", help="of each benchmark")
    return parser.parse_args()


if __name__ == "__main__":
    main(_words())
