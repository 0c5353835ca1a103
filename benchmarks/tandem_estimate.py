"""Which change pairs one after the other and pairs in tandem measure, where it is known.

    python benchmarks/tandem_estimate.py [--pairs N] [--programs A,B] [--changes 0.03,0.1] [--turns 0,0.3] [--minutes M]

The programs are those of benchmarks/tandem.py, with enough more work for the whole to take longer by the stated change
(by the least processor time of some launches). Pairs of each way take turns, with the order of the ways and that of the
sides drawn, so that whatever else the machine does hits both ways alike. The table shows the Hodges-Lehmann centre of
`active`, with the 95 % interval of the signed ranks, and that of the processor time of pairs in tandem.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import expm1, log
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from benchmarks.launches import spec_of
from benchmarks.simulation import table
from benchmarks.tandem import Program, amounts_of, listed, programs
from steelyard.measure.launch import TURN_NS, Launcher
from steelyard.model.launch_spec import MAPPING_PAGES, LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import ran_ns, waited_ns
from steelyard.stats.signed_rank import estimate
from steelyard.stats.summary import quartile_deviation

NAMES = (
    "loop of 45 ms",
    "loop of 15 ms",
    "4 MiB of memory",
    "CPython",
    "gzip",
    "loops in a shell",
    "CPython in a shell",
    "Node",
)
HEADER = ("program", "change", "way", "pairs", "load", "read", "spread of a pair", "standard deviation", "longer")
ALONE = "one after the other"
# The ways by the length of a turn, ms; the scheduler's own is some ms long.
SCHEDULERS = "0"


def way_of(turn: str) -> str:
    """The name of pairs in tandem with such turns."""
    return "tandem, the scheduler's turns" if turn == SCHEDULERS else f"tandem, turns of {turn} ms"


@dataclass
class Cell:
    """The log-ratios of one program with one change, by the way in which its pairs ran."""

    specs: tuple[LaunchSpec, LaunchSpec]
    turns: Sequence[str]
    followed: bool
    """Whether what its other processes lose has to be told."""
    ratios: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    cpu_ratios: list[float] = field(default_factory=list)
    levels: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    loads: list[float] = field(default_factory=list)

    def add(self, launcher: Launcher) -> None:
        """Run a pair of each way."""
        ways = {ALONE: self._alone} | {way_of(turn): partial(self._beside, float(turn)) for turn in self.turns}
        for way in random.sample([*ways], len(ways)):
            first, specs = random.randrange(2), drawn_for_a_pair(self.specs)
            both = ways[way](launcher, (specs[first], specs[1 - first]))
            before, after = both[first], both[1 - first]
            self.ratios[way].append(log(active(after) / active(before)))
            self.levels[way].append(active(before))
            if way == way_of(self.turns[-1]):
                self.cpu_ratios.append(log(ran_ns(after) / ran_ns(before)))
        self.loads.append(os.getloadavg()[0])

    def _alone(self, launcher: Launcher, specs: tuple[LaunchSpec, LaunchSpec]) -> tuple[Measured, Measured]:
        return launcher.launch(specs[0]), launcher.launch(specs[1])

    def _beside(
        self, turn_ms: float, launcher: Launcher, specs: tuple[LaunchSpec, LaunchSpec]
    ) -> tuple[Measured, Measured]:
        begins = bool(random.randrange(2))
        turn_ns = round(turn_ms * 1e6) or None
        return launcher.launch_together(*specs, second_begins=begins, followed=self.followed, turn_ns=turn_ns)

    def rows(self, label: str, change: float) -> Iterator[list[str]]:
        """Yield the rows of the table, one for each way."""
        loads = f"{min(self.loads):.0f}-{max(self.loads):.0f}"
        for way in (ALONE, *map(way_of, self.turns)):
            ratios = self.ratios[way]
            level = np.median(self.levels[way]) / np.median(self.levels[ALONE]) - 1
            spreads = quartile_deviation(np.array(ratios)), np.std(ratios)
            yield [
                label,
                f"{change:+.0%}",
                way,
                str(len(ratios)),
                loads,
                shown(ratios),
                *(f"{spread:.2%}" for spread in spreads),
                f"{level:+.1%}",
            ]
        yield [
            label,
            f"{change:+.0%}",
            "the last one, by `cpu`",
            str(len(self.cpu_ratios)),
            loads,
            shown(self.cpu_ratios),
            *3 * ["-"],
        ]


def drawn_for_a_pair(specs: Sequence[LaunchSpec]) -> list[LaunchSpec]:
    """Both launches with the same addresses and hash seed, as in a weighing."""
    pages, seed = random.randrange(MAPPING_PAGES), random.randrange(1, 2**31)
    drawn = (b"PYTHONHASHSEED=%d" % seed, b"PERL_HASH_SEED=%d" % seed)
    return [replace(spec, mapping_pages=pages, env=(*spec.env, *drawn)) for spec in specs]


def active(measured: Measured) -> float:
    """How long a launch took, in ns, less its waits for a processor."""
    return float(measured.wall_ns - (waited_ns(measured) or 0))


def shown(ratios: Sequence[float]) -> str:
    """The change by the ratios, with its interval."""
    found = estimate(np.array(ratios), 0.05)
    return f"{expm1(found.centre):+.2%} ({expm1(found.lower):+.2%} to {expm1(found.upper):+.2%})"


def main(asked: argparse.Namespace) -> None:
    """Run a pair of each way of every program and change in turn, and print the table so far now and then."""
    end = time.monotonic() + 60 * asked.minutes
    with tempfile.TemporaryDirectory() as name, Launcher() as launcher:
        known = {label: each for label, each in programs(Path(name)).items() if label in asked.programs}
        cells = {
            (label, change): Cell(_specs(known[label], change), asked.turns, known[label].starts_others)
            for label in known
            for change in asked.changes
        }
        for number in range(1, asked.pairs + 1):
            for cell in random.sample([*cells.values()], len(cells)):
                cell.add(launcher)
            over = number == asked.pairs or time.monotonic() > end
            if over or number % 20 == 0:
                rows = [row for (label, change), cell in cells.items() for row in cell.rows(label, change)]
                print(table(HEADER, rows) + "\n", flush=True)
            if over:
                return


def _specs(program: Program, change: float) -> tuple[LaunchSpec, LaunchSpec]:
    amounts, plain_s = amounts_of(program), program.ms / 1e3

    def spec(seconds: float) -> LaunchSpec:
        return spec_of(program.command(amounts.of(seconds)))

    return spec(plain_s), spec(plain_s * (1 + change))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The change that either way of pairing reads.")
    parser.add_argument("--pairs", type=int, default=200, help="of each way")
    parser.add_argument("--programs", type=listed(NAMES), default=NAMES)
    parser.add_argument("--changes", type=lambda text: [float(each) for each in text.split(",")], default=(0.03, 0.1))
    parser.add_argument(
        "--turns",
        type=lambda text: text.split(","),
        default=(SCHEDULERS, str(TURN_NS / 1e6)),
        help="in tandem, ms; 0: the scheduler's",
    )
    parser.add_argument("--minutes", type=float, default=math.inf)
    main(parser.parse_args())
