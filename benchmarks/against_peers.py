"""Steelyard's verdicts compared with its peers': false alarms and power on the same programs, in the same minutes.

    python benchmarks/against_peers.py [--weighings N] [--pyperf-weighings M] [--load quiet|bursts|both]
                                        [--max-time S] [--defaults] [--minutes N]

The demo's 12 ms program is compared with itself and with versions that do 1 % and 3 % more, on the machine as it is
(quiet) and among bursts of other work. Each peer gets as many launches a side as Steelyard has just used, and its own
test: Welch's t-test of hyperfine's samples (its own script uses p < 0.05; Steelyard's alpha is 0.01), the `compare_to`
of pyperf. The tools take turns, weighing by weighing, so that a bad hour hits them all.

With --defaults each tool gets only the two programs: each uses its default launches and time, Steelyard those that it
needs, and the seconds are the price of each answer.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.load import Bursts
from benchmarks.peers import measure_by_hyperfine, measure_by_pyperf, welch_word
from benchmarks.processes import STEELYARD, build, peer, read_record, run, stoppable, with_own_store
from benchmarks.simulation import table

ROUNDS = 2800
CHANGES = (0.0, 0.01, 0.03)
LOADS = ("quiet", "bursts")
FEWEST_LAUNCHES = 10
JUDGES = (
    "Steelyard",
    "hyperfine, Welch p < 0.05",
    "hyperfine, Welch p < 0.01",
    "pyperf compare_to",
    "pyperf, Welch p < 0.01",
)
HEADER = ("load", "true change", "judged by", "weighings", "slower", "faster", "no difference", "seconds")


@dataclass
class Cell:
    """What one tool said about one true change under one load."""

    words: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)

    def add(self, word: str, seconds: float) -> None:
        """Count one weighing."""
        self.words[word] += 1
        self.seconds.append(seconds)

    def cells(self) -> list[object]:
        """Return table cells: weighings, slower, faster, no difference (with the undecided ones), median seconds."""
        undecided = self.words["undecided"]
        alike = str(self.words["same"] + self.words["no difference"] + undecided)
        if undecided:
            alike += f" ({undecided} undecided)"
        return [
            self.words.total(),
            self.words["slower"],
            self.words["faster"],
            alike,
            f"{statistics.median(self.seconds):.1f}",
        ]


Place = tuple[str, float, str]
Cells = dict[Place, Cell]


@dataclass(frozen=True)
class Bench:
    """The programs and the tools."""

    folder: Path
    environment: Mapping[str, str]
    baseline: Path
    candidates: Mapping[float, Path]
    hyperfine: str
    pyperf: str | None
    max_time_s: float
    defaults: bool


def main(words: argparse.Namespace) -> None:
    """Go through each load, change and tool in rounds, and print the table so far after each load."""
    loads = LOADS if words.load == "both" else (words.load,)
    with tempfile.TemporaryDirectory() as name, stoppable():
        bench = _prepare(Path(name), words)
        cells: Cells = {}
        end = time.monotonic() + 60 * words.minutes
        for number in range(words.weighings):
            if number and time.monotonic() > end:
                break
            with_pyperf = takes_part(number, words.weighings, words.pyperf_weighings)
            for load in loads:
                with _around(load):
                    for change in random.sample(CHANGES, len(CHANGES)):
                        for judge, word, seconds in _weigh(bench, change, with_pyperf=with_pyperf):
                            cells.setdefault((load, change, judge), Cell()).add(word, seconds)
                print(report(cells) + "\n", flush=True)


def takes_part(number: int, rounds: int, wanted: int) -> bool:
    """Whether a tool that weighs `wanted` times, spread evenly over all rounds, does so in this one."""
    return (number + 1) * wanted // rounds > number * wanted // rounds


def report(cells: Cells) -> str:
    """The table as it stands."""
    places = [(load, change, judge) for load in LOADS for change in CHANGES for judge in JUDGES]
    rows = [[place[0], f"{place[1]:+.0%}", place[2], *cells[place].cells()] for place in places if place in cells]
    return table(HEADER, rows)


def launches_a_side(record: Mapping[str, Any]) -> int:
    """How many launches of each side a weighing used, including repeated pairs and without its warm-up."""
    roles: list[int] = record["launches"]["role"]
    return sum(role != 0 for role in roles) // 2


def _prepare(folder: Path, words: argparse.Namespace) -> Bench:
    return Bench(
        folder=folder,
        environment=with_own_store(folder),
        baseline=build(folder / "work", ROUNDS),
        # The second baseline is a file of its own: the same program in another place.
        candidates={change: build(folder / f"work{change:+.0%}", round(ROUNDS * (1 + change))) for change in CHANGES},
        hyperfine=peer("hyperfine", words.hyperfine),
        pyperf=peer("pyperf", words.pyperf) if words.pyperf_weighings else None,
        max_time_s=words.max_time,
        defaults=words.defaults,
    )


def _around(load: str) -> AbstractContextManager[object]:
    return Bursts() if load == "bursts" else nullcontext()


def _weigh(bench: Bench, change: float, *, with_pyperf: bool) -> Iterator[tuple[str, str, float]]:
    """Yield (tool, word, seconds) for each tool that takes part."""
    programs = (bench.baseline, bench.candidates[change])
    record = bench.folder / "record.json"
    budget = [] if bench.defaults else ["--max-time", str(bench.max_time_s)]
    options = [*budget, "--json", str(record)]
    ended = run([STEELYARD, "compare", *map(str, programs), *options], bench.environment, accept=(0, 1))
    seen = read_record(record)
    yield JUDGES[0], seen["verdict"], ended.seconds
    launches = None if bench.defaults else max(FEWEST_LAUNCHES, launches_a_side(seen))

    started = time.monotonic()
    samples = measure_by_hyperfine(bench.hyperfine, programs, launches, bench.folder, bench.environment)
    seconds = time.monotonic() - started
    yield JUDGES[1], welch_word(samples, 0.05), seconds
    yield JUDGES[2], welch_word(samples, 0.01), seconds

    if bench.pyperf and with_pyperf:
        started = time.monotonic()
        word, samples = measure_by_pyperf(bench.pyperf, programs, launches, bench.folder, bench.environment)
        seconds = time.monotonic() - started
        yield JUDGES[3], word, seconds
        yield JUDGES[4], welch_word(samples, 0.01), seconds


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Steelyard's verdicts beside its peers'.")
    parser.add_argument("--weighings", type=int, default=100, metavar="N", help="a load and true change")
    help_pyperf = "of them, pyperf takes so many; default: 20, with --defaults all"
    parser.add_argument("--pyperf-weighings", type=int, metavar="M", help=help_pyperf)
    parser.add_argument("--load", choices=(*LOADS, "both"), default="both")
    parser.add_argument("--max-time", type=float, default=30.0, metavar="S", help="of each weighing by Steelyard")
    parser.add_argument("--defaults", action="store_true", help="tell no tool anything but the two programs")
    parser.add_argument("--minutes", type=float, default=math.inf, metavar="N", help="begin no other round after that")
    for name in ("hyperfine", "pyperf"):
        parser.add_argument(f"--{name}", metavar="PATH", help="where it is, if not on the PATH")
    words = parser.parse_args()
    if words.pyperf_weighings is None:
        words.pyperf_weighings = words.weighings if words.defaults else 20
    return words


if __name__ == "__main__":
    main(_words())
