"""Suites of criterion and Divan, by the clock that stands still: pairs in tandem, and one after the other.

    python benchmarks/tandem_suites.py [criterion|divan ...] [--pairs N] [--weighings N] [--loads quiet,bursts]

The programs are those of the adapters' tests, which have to be built before (`pytest
tests/subjects/adapters/test_criterion.py tests/subjects/adapters/test_divan.py`). One of criterion's, `work`, does 3 %
more of its loop if an environment variable says so, which takes less than 3 % longer. For each benchmark the table
shows the measured change and the spread of a pair in both ways, and how much longer a launch takes beside its like.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.processes import compare, stoppable
from benchmarks.simulation import table
from benchmarks.still_clock import cargo_built
from benchmarks.tandem import load_of
from benchmarks.tandem_estimate import shown
from steelyard.model.files import load
from steelyard.model.launches import FloatArray
from steelyard.stats.summary import quartile_deviation

HEADER = ("harness", "benchmark", "load", "pairs", "one by one", "in tandem", "spread", "in tandem", "longer by")
WAYS = ("adjacent", "tandem")


def criterion() -> list[str]:
    """The program of the adapter's tests, with `work` as the planted benchmark."""
    return [str(cargo_built("criterion")), "work", "new", "base", "group/flat/2000"]


def divan() -> list[str]:
    """The program of the adapter's tests, with nothing planted."""
    return [str(cargo_built("divan")), "*plain", "*generic*"]


SUITES: dict[str, Callable[[], list[str]]] = {"criterion": criterion, "divan": divan}
"""What is weighed of each: the command, and its benchmarks."""


def main(words: argparse.Namespace) -> None:
    """Weigh each suite in both ways in turn, and print its rows."""
    with tempfile.TemporaryDirectory() as name, stoppable():
        for harness in words.harness or SUITES:
            folder = Path(name) / harness
            folder.mkdir()
            command, *only = SUITES[harness]()
            for noise in words.loads.split(","):
                rows = _rows(folder, harness, noise, command, only, words)
                print(table(HEADER, rows) + "\n", flush=True)


def _rows(
    folder: Path, harness: str, noise: str, command: str, only: Sequence[str], words: argparse.Namespace
) -> list[list[str]]:
    values: dict[str, dict[str, list[FloatArray]]] = defaultdict(lambda: defaultdict(list))
    for _ in range(words.weighings):
        for way in WAYS:
            with load_of(noise, folder):
                for benchmark, found in _weighed(folder, harness, way, command, only, words.pairs).items():
                    values[benchmark][way].append(found)
    return [[harness, benchmark, noise, *_cells(ways)] for benchmark, ways in values.items()]


def _cells(ways: dict[str, list[FloatArray]]) -> list[str]:
    changes, spreads, levels, pairs = [], [], [], []
    for way in WAYS:
        logs = np.concatenate(ways[way], axis=1)
        differences = logs[1] - logs[0]
        changes.append(shown(differences.tolist()))
        spreads.append(f"{100 * quartile_deviation(differences):.2f} %")
        levels.append(np.median(logs[0]))
        pairs.append(str(differences.size))
    return [", ".join(pairs), *changes, *spreads, f"{100 * np.expm1(levels[1] - levels[0]):+.1f} %"]


def _weighed(
    folder: Path, harness: str, way: str, command: str, only: Sequence[str], pairs: int
) -> dict[str, FloatArray]:
    """The logarithms of the pairs' times of each benchmark, measured one way: baseline, candidate."""
    record = folder / "record.json"
    options = ["--harness", harness, "--pairing", way, *(word for pattern in only for word in ("-b", pattern))]
    # No verdict ends it early, as where it ended would depend on the change.
    options += ["--pairs", str(pairs), "--alpha", "0.00001"]
    compare([*options, command, f"env PLANTED=1 {command}"], record)
    found = load(record)
    sides = [found.launches.metric_of_pairs(number, "active") for number in range(len(found.benchmarks))]
    return {one.name: np.log(np.stack(values)) for one, values in zip(found.benchmarks, sides, strict=True)}


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Suites by the clock that stands still, in tandem and one by one.")
    parser.add_argument("harness", nargs="*", choices=[*SUITES, []], help="all, if none is given")
    parser.add_argument("--pairs", type=int, default=30, metavar="N", help="of each benchmark in a weighing")
    parser.add_argument("--weighings", type=int, default=2, metavar="N", help="in each way")
    parser.add_argument("--loads", default="quiet,bursts", help="of quiet, bursts")
    return parser.parse_args()


if __name__ == "__main__":
    main(_words())
