"""Whole weighings of ordinary programs at default settings: identical ones, and ones changed at their very start.

    python benchmarks/early_changes.py [--minutes M] [--programs A,B] [--change 0.01] [--load none] [--ways auto]

The programs and their changes are those of benchmarks/catching_up.py, which two launches in tandem could hide from each
other. Each weighing is a process, as for a user, and the ways of one program and change follow each other. The table
shows the verdicts, the mean of the estimates, how often the interval held the truth, and the medians of pairs and
seconds.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import shlex
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.catching_up import Spinning, programs
from benchmarks.processes import compare, read_record
from benchmarks.simulation import VERDICTS, table
from benchmarks.tandem import LOADS, load_of
from steelyard.measure.launch import Launcher
from steelyard.model.rows import IN_TANDEM

NAMES = ["loop of 45 ms", "CPython: sum", "CPython with its site", "gzip", "bzip2", "sed", "git log"]
HEADER = ("program", "change", "pairing", *VERDICTS, "read", "held the truth", "in tandem", "pairs", "seconds")


class Weighed(NamedTuple):
    """The result of one weighing."""

    word: str
    change: float
    holds: bool
    tandem: float
    pairs: int
    seconds: float


def weighed(program: Spinning, change: float, way: str) -> Weighed:
    """Make one weighing."""
    with tempfile.TemporaryDirectory() as name:
        record = Path(name) / "record.json"
        started = time.monotonic()
        compare([_command(program, 0), _command(program, change), "--pairing", way], record)
        seconds, seen = time.monotonic() - started, read_record(record)
    low, high = seen["interval"] or (-1.0, 1.0)
    orders = seen["launches"]["order"]
    tandem = sum(order >= IN_TANDEM for order in orders) / len(orders)
    return Weighed(seen["verdict"], seen["change"], low <= change <= high, tandem, seen["pairs"], seconds)


def _command(program: Spinning, change: float) -> str:
    """Return the command line, by `env`, which is replaced by the program."""
    spec = program.longer_by(change)
    return shlex.join(["env", *map(os.fsdecode, (*spec.env, *spec.argv))])


def row(label: str, change: float, way: str, found: list[Weighed]) -> list[object]:
    """Return a row of the table."""
    words = [sum(one.word == word for one in found) for word in VERDICTS]
    read = f"{statistics.mean(one.change for one in found):+.2%}"
    holds, tandem = sum(one.holds for one in found), statistics.mean(one.tandem for one in found)
    pairs, seconds = (statistics.median(getattr(one, name) for one in found) for name in ("pairs", "seconds"))
    return [label, f"{change:+.1%}", way, *words, read, holds, f"{tandem:.0%}", f"{pairs:.0f}", f"{seconds:.1f}"]


def main(asked: argparse.Namespace) -> None:
    """Weigh until the time is over, and print the table."""
    end = time.monotonic() + 60 * asked.minutes
    found: defaultdict[tuple[str, float, str], list[Weighed]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        with Launcher() as launcher:
            known = dict(programs(Path(name), launcher, asked.programs))
        with load_of(asked.load, Path(name)):
            for label, change in itertools.cycle(itertools.product(known, (0.0, asked.change))):
                if time.monotonic() > end:
                    break
                for way in random.sample(asked.ways, len(asked.ways)):
                    found[label, change, way].append(weighed(known[label], change, way))
    print(table(HEADER, [row(*place, found[place]) for place in sorted(found)]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Whole weighings of programs that are changed at their start.")
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--programs", type=lambda text: text.split(","), default=NAMES)
    parser.add_argument("--change", type=float, default=0.01)
    parser.add_argument("--load", choices=LOADS, default="bursts")
    parser.add_argument("--ways", type=lambda text: text.split(","), default=["auto", "adjacent"])
    main(parser.parse_args())
