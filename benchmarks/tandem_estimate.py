"""What change pairs one after the other and pairs in tandem read, where it is known.

    python benchmarks/tandem_estimate.py [--pairs N] [--programs A,B] [--changes 0.03,0.1] [--minutes M]

The programs of benchmarks/tandem.py, whose work is so much more that the whole takes as much longer as is said (by the
least processor time of some launches). A pair of each way in turn, the order of the ways and that of the sides drawn,
so that what else the machine does meets both ways alike. Shown is the Hodges-Lehmann centre of `active`, with the 95 %
interval of the signed ranks, and that of the processor time of pairs in tandem.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import expm1, log
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from benchmarks.simulation import table
from benchmarks.tandem import Program, amounts_of, listed, programs
from steelyard.measure.launch import Launcher
from steelyard.model.launch_spec import MAPPING_PAGES
from steelyard.model.launches import LaunchSpec, Measured
from steelyard.stats.signed_rank import estimate
from steelyard.stats.summary import quartile_deviation

NAMES = ("loop of 45 ms", "loop of 15 ms", "4 MiB of memory", "CPython", "gzip")
HEADER = (
    "program",
    "change",
    "pairs each",
    "load",
    "one after the other",
    "tandem",
    "tandem, `cpu`",
    "spread of a pair",
    "in tandem",
)


@dataclass
class Cell:
    """The log-ratios of one program with one change."""

    specs: tuple[LaunchSpec, LaunchSpec]
    adjacent: list[float] = field(default_factory=list)
    tandem: list[float] = field(default_factory=list)
    tandem_cpu: list[float] = field(default_factory=list)
    loads: list[float] = field(default_factory=list)

    def add(self, launcher: Launcher) -> None:
        """A pair of each way."""
        for way in random.sample((self._add_adjacent, self._add_tandem), 2):
            way(launcher)
        self.loads.append(os.getloadavg()[0])

    def _add_adjacent(self, launcher: Launcher) -> None:
        first, specs = random.randrange(2), self._placed()
        one, other = (launcher.launch(specs[side]) for side in (first, 1 - first))
        before, after = (one, other) if first == 0 else (other, one)
        self.adjacent.append(log(active(after) / active(before)))

    def _add_tandem(self, launcher: Launcher) -> None:
        first, begins, specs = random.randrange(2), random.randrange(2), self._placed()
        one, other = launcher.launch_together(specs[first], specs[1 - first], second_begins=bool(begins))
        before, after = (one, other) if first == 0 else (other, one)
        self.tandem.append(log(active(after) / active(before)))
        self.tandem_cpu.append(log((after.cpu_ns or 0) / (before.cpu_ns or 1)))

    def _placed(self) -> list[LaunchSpec]:
        """Both, with their memory in one place, as in a weighing."""
        pages = random.randrange(MAPPING_PAGES)
        return [replace(spec, mapping_pages=pages) for spec in self.specs]

    def row(self) -> Iterator[str]:
        """For a table."""
        yield str(len(self.tandem))
        yield f"{min(self.loads):.0f}-{max(self.loads):.0f}"
        yield from map(shown, (self.adjacent, self.tandem, self.tandem_cpu))
        for ratios in (self.adjacent, self.tandem):
            yield f"{quartile_deviation(np.array(ratios)):.2%}"


def active(measured: Measured) -> float:
    """What a launch took, in ns, less what it waited for a processor."""
    return float(measured.wall_ns - (measured.delay_ns or 0))


def shown(ratios: Sequence[float]) -> str:
    """The change that they say, with its interval."""
    found = estimate(np.array(ratios), 0.05)
    return f"{expm1(found.centre):+.2%} ({expm1(found.lower):+.2%} to {expm1(found.upper):+.2%})"


def main(asked: argparse.Namespace) -> None:
    """A pair of each way of every program and change in turn; the table as it stands now and then."""
    end = time.monotonic() + 60 * asked.minutes
    with tempfile.TemporaryDirectory() as name, Launcher() as launcher:
        known = {label: each for label, each in programs(Path(name)).items() if label in asked.programs}
        cells = {(label, change): Cell(_specs(known[label], change)) for label in known for change in asked.changes}
        for number in range(1, asked.pairs + 1):
            for cell in random.sample([*cells.values()], len(cells)):
                cell.add(launcher)
            over = number == asked.pairs or time.monotonic() > end
            if over or number % 20 == 0:
                rows = [[label, f"{change:+.0%}", *cell.row()] for (label, change), cell in cells.items()]
                print(table(HEADER, rows) + "\n", flush=True)
            if over:
                return


def _specs(program: Program, change: float) -> tuple[LaunchSpec, LaunchSpec]:
    amounts, plain_s = amounts_of(program), program.ms / 1e3

    def spec(seconds: float) -> LaunchSpec:
        words = [os.fsencode(word) for word in program.command(amounts.of(seconds))]
        return LaunchSpec(program=words[0], argv=tuple(words), env=())

    return spec(plain_s), spec(plain_s * (1 + change))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The change that either way of pairing reads.")
    parser.add_argument("--pairs", type=int, default=200, help="of each way")
    parser.add_argument("--programs", type=listed(NAMES), default=NAMES)
    parser.add_argument("--changes", type=lambda text: [float(each) for each in text.split(",")], default=(0.03, 0.1))
    parser.add_argument("--minutes", type=float, default=math.inf)
    main(parser.parse_args())
