"""Whole weighings on this machine: false alarms and power of `steelyard compare`, among bursts of other work.

    python benchmarks/live_weighings.py [WEIGHINGS]

It weighs the demo's 12 ms program against itself, and against a version that does 1 % more, with the `steelyard`
installed beside this Python, as a user would: one process per weighing, at default settings.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.load import Bursts
from benchmarks.processes import build, compare, read_record, stoppable
from benchmarks.simulation import VERDICTS, table
from benchmarks.words import whole_numbers

ROUNDS = 2800


@dataclass
class Cell:
    """The weighings of one true change."""

    words: Counter[str] = field(default_factory=Counter)
    pairs: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    covered: int = 0


def main(weighings: int) -> None:
    """Alternate the two cells, so that a bad hour hits both, and print the table so far every ten weighings."""
    with tempfile.TemporaryDirectory() as name, stoppable(), Bursts():
        folder = Path(name)
        baseline = build(folder / "work", ROUNDS)
        # The second baseline is a file of its own: the same program in another place.
        candidates = {0.0: build(folder / "work-again", ROUNDS), 0.01: build(folder / "work+1%", ROUNDS * 101 // 100)}
        cells = {change: Cell() for change in candidates}
        for number in range(1, weighings + 1):
            for change, candidate in candidates.items():
                _weigh(cells[change], change, baseline, candidate, folder / "record.json")
            if number % 10 == 0 or number == weighings:
                print(_report(cells), flush=True)


def _weigh(cell: Cell, change: float, baseline: Path, candidate: Path, record: Path) -> None:
    ended = compare([str(baseline), str(candidate)], record)
    seen = read_record(record)
    cell.seconds.append(ended.seconds)
    cell.words[seen["verdict"]] += 1
    cell.pairs.append(seen["pairs"])
    low, high = seen["interval"]
    cell.covered += low <= change <= high


def _report(cells: dict[float, Cell]) -> str:
    header = ("true change", "weighings", *VERDICTS, "median pairs", "seconds", "covered")
    return table(header, ([f"{change:+.0%}", *_row(cell)] for change, cell in cells.items())) + "\n"


def _row(cell: Cell) -> list[object]:
    counts = [cell.words[word] for word in VERDICTS]
    measured = [f"{statistics.median(cell.pairs):.0f}", f"{statistics.median(cell.seconds):.1f}", cell.covered]
    return [len(cell.pairs), *counts, *measured]


if __name__ == "__main__":
    main(*whole_numbers(__doc__, weighings=200))
