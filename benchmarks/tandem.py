"""Pairs one after the other, in tandem, and chosen automatically (auto): noise, verdicts and how long they take.

    python benchmarks/tandem.py [--minutes M | --weighings N] [--programs A,B] [--loads A,B] [--changes A,B]
                                [--options "--pairs 15 --alpha 5%"]

Whole weighings by the installed `steelyard`, at default settings except `--pairing`, take turns, so that a bad minute
hits every way. Loads: `none`; `bursts` of other work; `neighbour`, a program that walks through memory all the time on
the last processor. A change is injected as more work: as the start of a program does not grow with that, enough work
for the whole to take longer by the stated change (by the least processor time of some launches).
"""

from __future__ import annotations

import argparse
import itertools
import random
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.launches import spec_of
from benchmarks.load import Bursts, neighbour
from benchmarks.processes import compare, read_record
from benchmarks.simulation import VERDICTS, table
from steelyard.measure.launch import Launcher
from steelyard.model.files import load
from steelyard.model.rows import ran_ns
from steelyard.stats.summary import quartile_deviation

WAYS = ("adjacent", "tandem", "auto")
LOADS = ("none", "bursts", "neighbour")
CHANGES = (0.0, 0.01, 0.03, 0.1)
HEADER = (
    "program",
    "load",
    "change",
    "pairing",
    "weighings",
    *VERDICTS,
    "median seconds",
    "90 %",
    "seconds to a right verdict",
    "pairs",
    "spread of a pair",
    "error",
)

# A loop of arithmetic, or a random walk over a number of KiB.
SOURCE = r"""
#include <stdint.h>
#include <stdlib.h>
int main(int count, char **words) {
    long rounds = atol(words[1]);
    size_t places = count > 2 ? atol(words[2]) * 128 : 0;
    uint64_t state = 1, *memory = places ? calloc(places, 8) : 0;
    for (long round = 0; rounds < 0 || round < rounds; round++) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        if (places) memory[(state >> 20) % places] += state;
    }
    return state == 0;
}
"""
PIECE = 100_000
SCRIPT = "total = 0\nfor number in range({amount}): total += number * number % 7\n"


JAVASCRIPT = """const words = new Map(), times = Number(process.argv[1]);
for (let n = 0; n < times; n++) {
  const key = "word " + (n * 7919) % 1009;
  words.set(key, (words.get(key) || 0) + 1);
}"""


@dataclass(frozen=True)
class Program:
    """A command with an adjustable amount of work, weighed with an amount that takes about `ms`."""

    command: Callable[[int], list[str]]
    ms: float
    start_at: int
    """The first amount to try when finding out how much takes that long."""
    starts_others: bool = False

    def seconds(self, launcher: Launcher, amount: int) -> float:
        """The least processor time of some launches."""
        spec = spec_of(self.command(amount))
        return min(ran_ns(launcher.launch(spec)) / 1e9 for _ in range(15))


def built(folder: Path) -> str:
    """Build SOURCE as a program in a folder."""
    (folder / "work.c").write_text(SOURCE)
    work = str(folder / "work")
    subprocess.run(["cc", "-O2", "-o", work, str(folder / "work.c")], check=True)
    return work


def programs(folder: Path) -> dict[str, Program]:
    """The programs that are weighed, built or written to a folder."""
    work = built(folder)
    drawn = random.Random(1)
    words = ["".join(drawn.choices("abcdefghijklmnopqrstuvwxyz", k=drawn.randint(2, 9))) for _ in range(5000)]
    text = " ".join(drawn.choices(words, k=2_000_000))

    def compressing(amount: int) -> list[str]:
        # In pieces, all but the last of which both sides share: two files differ by a percent by their places alone.
        cuts = [*range(0, amount, PIECE), amount]
        return ["/usr/bin/gzip", "-6", "-c", *(str(piece(begin, end)) for begin, end in itertools.pairwise(cuts))]

    def piece(begin: int, end: int) -> Path:
        file = folder / f"{begin}-{end}.txt"
        if not file.exists():
            file.write_text(text[begin:end])
        return file

    def looping(amount: int) -> list[str]:
        return [work, str(amount)]

    def in_a_shell(*command: str) -> list[str]:
        once = shlex.join(command)
        return ["/bin/sh", "-c", f"{once}; {once}; :"]

    def counting_twice(amount: int) -> list[str]:
        return in_a_shell(sys.executable, "-S", "-c", SCRIPT.format(amount=amount // 2))

    return {
        "loop of 45 ms": Program(looping, 45, 10_000_000),
        "loop of 15 ms": Program(looping, 15, 5_000_000),
        "loop of 7 ms": Program(looping, 7, 3_000_000),
        "4 MiB of memory": Program(lambda amount: [work, str(amount), "4096"], 45, 5_000_000),
        "CPython": Program(lambda amount: [sys.executable, "-S", "-c", SCRIPT.format(amount=amount)], 160, 500_000),
        "gzip": Program(compressing, 90, 500_000),
        "loops in a shell": Program(lambda amount: in_a_shell(work, str(amount // 2)), 45, 10_000_000, True),
        "CPython in a shell": Program(counting_twice, 160, 500_000, True),
        "Node": Program(lambda amount: ["node", "-e", JAVASCRIPT, str(amount)], 160, 500_000, True),
    }


@dataclass(frozen=True)
class Amounts:
    """How long an amount of work takes: a start, and a time for each unit."""

    start_s: float
    each_s: float

    def of(self, seconds: float) -> int:
        """The amount that takes this long."""
        return round((seconds - self.start_s) / self.each_s)


def amounts_of(program: Program) -> Amounts:
    """Fit the amounts by the least times of two amounts, the second of which is near the wanted one."""
    with Launcher() as launcher:
        first = program.seconds(launcher, program.start_at)
        second_at = max(2 * program.start_at, round(program.start_at * program.ms / 1e3 / first))
        second = program.seconds(launcher, second_at)
    each_s = (second - first) / (second_at - program.start_at)
    return Amounts(max(0.0, first - each_s * program.start_at), each_s)


@dataclass
class Cell:
    """The weighings of one program under one load, with one change, in one way."""

    change: float
    words: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    pairs: list[int] = field(default_factory=list)
    spreads: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)

    def add(self, record: Path, seconds: float) -> None:
        """Count one weighing."""
        seen, launches = read_record(record), load(record).launches
        self.words.append(seen["verdict"])
        self.seconds.append(seconds)
        self.pairs.append(seen["pairs"])
        self.errors.append(seen["change"] - self.change)
        differences = np.log(np.divide(*launches.metric_of_pairs(0, "active")))
        self.spreads.append(quartile_deviation(differences))

    def cells(self) -> list[str]:
        """Return the cells of the table."""
        right = "slower" if self.change > 0 else "same"
        decided = [each for each, word in zip(self.seconds, self.words, strict=True) if word == right]
        return [
            str(len(self.words)),
            *(str(self.words.count(word)) for word in VERDICTS),
            f"{statistics.median(self.seconds):.1f}",
            f"{np.percentile(self.seconds, 90):.1f}",
            f"{statistics.median(decided):.1f}" if decided else "-",
            f"{statistics.median(self.pairs):.0f}",
            f"{statistics.median(self.spreads):.2%}",
            f"{statistics.median(self.errors):+.2%}",
        ]


Place = tuple[str, str, float, str]


def places(asked: argparse.Namespace) -> Iterator[Place]:
    """Yield what to weigh, endlessly: all ways of one place after each other, in a new order."""
    every = list(itertools.product(asked.programs, asked.loads, asked.changes))
    while True:
        for place in random.sample(every, len(every)):
            for way in random.sample(WAYS, len(WAYS)):
                yield (*place, way)


def main(asked: argparse.Namespace) -> None:
    """Weigh until the time or the number of weighings is over, and print the table so far after each round."""
    cells: dict[Place, Cell] = {}
    each_round = len(asked.programs) * len(asked.loads) * len(asked.changes) * len(WAYS)
    end = time.monotonic() + 60 * asked.minutes if asked.minutes else None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        known = {label: each for label, each in programs(folder).items() if label in asked.programs}
        amounts = {label: amounts_of(program) for label, program in known.items()}
        for number, place in enumerate(places(asked)):
            over = number >= asked.weighings * each_round if end is None else time.monotonic() > end
            if number and (over or number % each_round == 0):
                print(report(cells), flush=True)
            if over:
                return
            label, noise, change, _ = place
            weigh(cells.setdefault(place, Cell(change)), known[label], amounts[label], place, load_of(noise, folder))


def load_of(name: str, folder: Path) -> AbstractContextManager[object]:
    """Other work on the machine."""
    if name == "bursts":
        return Bursts()
    return neighbour([str(folder / "work"), "-1", str(64 << 10)]) if name == "neighbour" else nullcontext()


def weigh(cell: Cell, program: Program, amounts: Amounts, place: Place, noise: AbstractContextManager[object]) -> None:
    """Weigh a program once against one that takes longer by the change."""
    plain_s = program.ms / 1e3
    commands = [program.command(amounts.of(seconds)) for seconds in (plain_s, plain_s * (1 + cell.change))]
    with tempfile.TemporaryDirectory() as name, noise:
        record = Path(name) / "record.json"
        started = time.monotonic()
        compare([*map(shlex.join, commands), "--pairing", place[-1], *OPTIONS], record)
        cell.add(record, time.monotonic() - started)


def report(cells: dict[Place, Cell]) -> str:
    """The table so far, with the ways of one place together."""
    rows = [
        [label, noise, f"{change:+.0%}", way, *cells[label, noise, change, way].cells()]
        for label, noise, change, way in sorted(cells, key=lambda place: (*place[:3], WAYS.index(place[3])))
    ]
    return table(HEADER, rows) + "\n"


OPTIONS: list[str] = []


def listed(known: Sequence[str]) -> Callable[[str], list[str]]:
    """Make a reader of lists of known names."""

    def read(text: str) -> list[str]:
        names = text.split(",")
        if unknown := set(names) - set(known):
            raise argparse.ArgumentTypeError(f"{unknown.pop()!r} is not known: choose from {', '.join(known)}")
        return names

    return read


if __name__ == "__main__":
    NAMES = ("loop of 45 ms", "loop of 15 ms", "loop of 7 ms", "4 MiB of memory", "CPython", "gzip")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, help="how long to weigh")
    parser.add_argument("--weighings", type=int, default=20, help="how many of each, without --minutes")
    parser.add_argument("--programs", type=listed(NAMES), default=NAMES)
    parser.add_argument("--loads", type=listed(LOADS), default=LOADS)
    parser.add_argument(
        "--changes", type=lambda text: [float(each) for each in text.split(",")], default=CHANGES, help="0,0.01"
    )
    parser.add_argument("--options", default="", help="further ones of `compare`")
    parsed = parser.parse_args()
    OPTIONS += shlex.split(parsed.options)
    main(parsed)
