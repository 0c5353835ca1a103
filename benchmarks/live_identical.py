"""False alarms of whole weighings of identical programs, live, judged with several alphas at once.

    python benchmarks/live_identical.py [--minutes M | --weighings N] [--programs A,B] [--ways A,B] [--keep FOLDER]
    python benchmarks/live_identical.py --judge FOLDER

Each weighing is one run of the installed `steelyard` with one command on both sides. Its margin is negligible, so that
it is never `same`, and it has too few pairs to be called futile: it measures until "no change" is rejected at alpha
1 %, or to the end of its pairs or its time. Whatever is rejected at 1 % has been rejected at 5 % and at 20 % by then,
so all looks of the kept record are repeated with these.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import os
import random
import shlex
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
from scipy.stats import binom

from benchmarks.processes import compare
from benchmarks.simulation import one_budget, table
from benchmarks.tandem import Amounts, Program, amounts_of, listed, programs
from steelyard.design.budgets import BUDGET_ENDS
from steelyard.design.judging.pairs import MetricPairs
from steelyard.model.files import load
from steelyard.model.records import Weighing
from steelyard.stats.looks import plan_looks
from steelyard.stats.paired import FUTILE_FROM_PAIRS
from steelyard.stats.sequential import Hypothesis, run_tests
from steelyard.stats.verdict import CHANGED

ALPHAS = (0.01, 0.05, 0.2)
WAYS = ("adjacent", "tandem")
NO_MARGIN = 2e-5
HEADER = (
    "program",
    "pairing",
    "weighings",
    "load",
    "median pairs",
    "rejected at 1 %",
    "5 %",
    "20 %",
    "as many or more by chance: 1 %",
    "5 %",
    "20 %",
)


@dataclass(frozen=True)
class Budget:
    """The budget of a weighing of a program."""

    pairs: int
    seconds: float


BUDGETS = {
    "loop of 7 ms": Budget(FUTILE_FROM_PAIRS, 3),
    "loop of 15 ms": Budget(FUTILE_FROM_PAIRS, 3),
    "4 MiB of memory": Budget(FUTILE_FROM_PAIRS, 8),
    "CPython": Budget(FUTILE_FROM_PAIRS, 20),
}


def main(asked: argparse.Namespace) -> None:
    """Weigh until the time or the number of weighings is over, and print the table so far now and then."""
    end = time.monotonic() + 60 * asked.minutes if asked.minutes else None
    asked.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        known = {label: each for label, each in programs(Path(name)).items() if label in asked.programs}
        amounts = {label: amounts_of(program) for label, program in known.items()}
        places = list(itertools.product(known, asked.ways))
        for turn in itertools.count():
            for label, way in random.sample(places, len(places)):
                if end is not None and time.monotonic() > end:
                    return
                weigh(known[label], amounts[label], BUDGETS[label], way, asked.keep / f"{label}-{way}-{time.time_ns()}")
            if end is None and turn + 1 >= asked.weighings:
                return


def weigh(program: Program, amounts: Amounts, budget: Budget, way: str, kept: Path) -> None:
    """Weigh a program against itself, and keep the record with the load of the machine in its name."""
    command = shlex.join(program.command(amounts.of(program.ms / 1e3)))
    with tempfile.TemporaryDirectory() as name:
        record = Path(name) / "record.json.gz"
        options = ["--pairs", str(budget.pairs), "--max-time", str(budget.seconds), "--pairing", way]
        options += ["--margin", f"{NO_MARGIN:.3%}", "--alpha", str(ALPHAS[0])]
        compare([command, command, *options], record)
        load_now = os.getloadavg()[0]
        kept.with_name(f"{kept.name}-{load_now:.1f}.json.gz").write_bytes(record.read_bytes())


@dataclass(frozen=True)
class Seen:
    """One weighing, judged with every alpha."""

    load: float
    pairs: int
    rejected: tuple[bool, ...]


def judged(file: Path) -> Seen:
    """Take all looks of a kept record with every alpha; SystemExit if the weighing's own alpha disagrees with it."""
    record = load(file)
    if not isinstance(record, Weighing):
        raise SystemExit(f"{file} is no weighing")
    *_, load_now = file.name.removesuffix(".json.gz").split("-")
    found = seen(record, 0, float(load_now))
    if record.derived is None or found.rejected[0] != (record.derived.verdicts[0].verdict in CHANGED):
        raise SystemExit(f"{file} is not judged as it was")
    return found


def seen(record: Weighing, number: int, load_now: float) -> Seen:
    """Take all looks of one benchmark with every alpha."""
    pairs = MetricPairs(record.launches, number, record.settings.metrics[0])
    baseline, candidate = map(np.log, pairs.first(pairs.count()))
    ended = record.stop[number] in BUDGET_ENDS

    def is_rejected(alpha: float) -> bool:
        looks = plan_looks(len(baseline), ended=ended, budgets=one_budget(alpha))
        d, levels = candidate - baseline, (candidate + baseline) / 2
        return bool(looks) and run_tests(d, levels, looks, [Hypothesis(0.0, alpha)], keep=False)[0].rejected

    return Seen(load_now, len(baseline), tuple(map(is_rejected, ALPHAS)))


def report(folder: Path) -> str:
    """The table of all kept weighings, by program and by way."""
    cells: dict[tuple[str, str], list[Seen]] = collections.defaultdict(list)
    for file in sorted(folder.glob("*.json.gz")):
        label, way, *_ = file.name.split("-")
        cells[label, way].append(judged(file))
    rows = [[label, way, *row(cells[label, way])] for label in BUDGETS for way in WAYS if (label, way) in cells]
    every = [seen for cell in cells.values() for seen in cell]
    return table(HEADER, [*rows, ["all", "", *row(every)]]) if every else ""


def row(cell: Sequence[Seen]) -> list[str]:
    """The row for weighings of one kind."""
    rejected = [sum(seen.rejected[number] for seen in cell) for number in range(len(ALPHAS))]
    return [
        str(len(cell)),
        f"{statistics.median(seen.load for seen in cell):.1f}",
        f"{statistics.median(seen.pairs for seen in cell):.0f}",
        *map(str, rejected),
        *(f"{at_least(found, len(cell), alpha):.3f}" for found, alpha in zip(rejected, ALPHAS, strict=True)),
    ]


def at_least(found: int, tries: int, chance: float) -> float:
    """The probability of `found` or more out of `tries`."""
    return float(binom.sf(found - 1, tries, chance))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, help="how long to weigh")
    parser.add_argument("--weighings", type=int, default=200, help="how many of each, without --minutes")
    parser.add_argument("--programs", type=listed(list(BUDGETS)), default=list(BUDGETS))
    parser.add_argument("--ways", type=listed(WAYS), default=list(WAYS))
    parser.add_argument("--keep", type=Path, default=Path("build/identical"), help="where the records go")
    parser.add_argument("--judge", type=Path, metavar="FOLDER", help="only judge what is there")
    parsed = parser.parse_args()
    if parsed.judge is None:
        main(parsed)
    print(report(parsed.judge or parsed.keep))
