"""Whether weighings need as many pairs as `steelyard doctor --measure` says: on this machine, alone and under loads.

    python benchmarks/doctor_measure.py [--minutes M] [--loads A,B] [--works A,B] [--lengths 10,30,100]

For each load it makes one measurement, then for M minutes weighings of a probe against itself with 1 % more to do, of
each kind and length in turn, at default settings except `--max-time 20`. Loads: `alone`; `loops`, three busy loops;
`memory`, a program that walks through 64 MiB all the time on the last processor. A weighing that is not found slower
counts as needing the pairs at which its interval would be narrow enough. On a busy machine most cells have few
weighings, whose median is off by chance.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import shlex
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from math import inf, log
from pathlib import Path
from typing import Any, get_args

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.load import busy, neighbour
from benchmarks.processes import STEELYARD, compare, read_record, run, with_own_store
from benchmarks.simulation import table
from steelyard.design.noise.probes import Probes, Rate
from steelyard.design.runner.runner import Runner
from steelyard.design.runner.tandem import COMMANDS_GAIN_FROM_NS
from steelyard.measure import native
from steelyard.measure.launch import Launcher
from steelyard.model.launch_spec import Draw
from steelyard.model.noise import Work

LOADS = ("alone", "loops", "memory")
CHANGE = 0.01
HEADER = ("load", "program", "ms", "pairing", "predicted", "range", "weighings", "not slower", "needed", "factor")
_NEIGHBOUR = ("random-u64", "2097143", str(10**15))


@dataclass
class Cell:
    """The weighings of one kind and length under one load."""

    pairs: list[float] = field(default_factory=list)
    others: int = 0
    """How many were not found slower."""

    def needed(self) -> float:
        """The pairs after which half of the weighings had found the change."""
        return statistics.median(self.pairs)


def load_of(name: str) -> AbstractContextManager[object]:
    """Other work on the machine."""
    if name == "loops":
        return busy(3, apart=True)
    return neighbour([str(native.PROBES), *_NEIGHBOUR]) if name == "memory" else nullcontext()


def rates() -> dict[Work, Rate]:
    """How long the probes take on this machine."""
    probes = Probes(os.environ)
    with Launcher() as launcher:
        return {work: probes.rate(work, Runner(launcher)) for work in get_args(Work)}


def commands(work: Work, ms: float, rate: Rate) -> list[str]:
    """A probe, and the same probe with the longer time of the change."""
    probes = Probes(os.environ)
    return [
        shlex.join(map(os.fsdecode, probes.targets(work, rate.iterations(length))(Draw(1, 0)).spec.argv))
        for length in (ms, ms * (1 + CHANGE))
    ]


def measured(folder: Path) -> Mapping[str, Any]:
    """Return what `doctor --measure` reports now."""
    run([STEELYARD, "doctor", "--measure", "--json", str(folder / "noise.json")], with_own_store(folder))
    noise: Mapping[str, Any] = json.loads((folder / "noise.json").read_text())["noise"]
    return noise


def weigh(cell: Cell, two: Sequence[str], folder: Path) -> None:
    """One weighing."""
    record = folder / "record.json"
    compare([*two, "--max-time", "20"], record)
    seen = read_record(record)
    is_found = seen["verdict"] == "slower"
    cell.pairs.append(seen["pairs"] if is_found else pairs_at_change(seen))
    cell.others += not is_found


def pairs_at_change(seen: Mapping[str, Any]) -> float:
    """After how many pairs the interval is so narrow that half of the weighings exclude "no change".

    What a weighing says of its own pairs to a verdict is about the change that it happened to see.
    """
    if seen["interval"] is None:
        return inf
    low, high = (log(1 + end) for end in seen["interval"])
    return float(seen["pairs"]) * ((high - low) / 2 / log(1 + CHANGE)) ** 2


def predicted(noise: Mapping[str, Any], work: str, ms: float) -> Mapping[str, Any]:
    """Return its prediction for the nearest kind and length, run as a command is by default."""
    way = noise["pairing"][work] if ms * 1e6 >= COMMANDS_GAIN_FROM_NS else "adjacent"
    kind = [one for one in noise["expected"] if (one["work"], one["pairing"], one["change"]) == (work, way, CHANGE)]
    return min(kind, key=lambda one: abs(log(one["ms"] / ms)))


def rows(load: str, noise: Mapping[str, Any], cells: Mapping[tuple[Work, float], Cell]) -> Iterator[list[object]]:
    """For the table."""
    for (work, ms), cell in sorted(cells.items()):
        told, needed = predicted(noise, work, ms), cell.needed()
        factor = f"{told['pairs'] / needed:.2f}" if needed < inf else "-"
        shown = f"{needed:.0f}" if needed < inf else "more"
        limits = f"{told['low']} to {told['high']}"
        yield [
            load,
            work,
            f"{ms:g}",
            told["pairing"],
            told["pairs"],
            limits,
            len(cell.pairs),
            cell.others,
            shown,
            factor,
        ]


def main(asked: argparse.Namespace) -> None:
    """Print the table so far after each load."""
    taken, done = rates(), list[list[object]]()
    for load in asked.loads.split(","):
        places = list(itertools.product(asked.works.split(","), map(float, asked.lengths.split(","))))
        cells: dict[tuple[Work, float], Cell] = {}
        with tempfile.TemporaryDirectory() as name, load_of(load):
            folder = Path(name)
            noise = measured(folder)
            end = time.monotonic() + 60 * asked.minutes
            while time.monotonic() < end:
                for work, ms in random.sample(places, len(places)):
                    if time.monotonic() < end or (work, ms) not in cells:
                        weigh(cells.setdefault((work, ms), Cell()), commands(work, ms, taken[work]), folder)
        done += rows(load, noise, cells)
        print(table(HEADER, done) + "\n", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2.5, help="how long to weigh under each load")
    parser.add_argument("--loads", default=",".join(LOADS))
    parser.add_argument("--works", default=",".join(get_args(Work)))
    parser.add_argument("--lengths", default="10,30,100", help="in ms")
    main(parser.parse_args())
