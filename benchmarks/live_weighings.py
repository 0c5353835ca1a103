"""Whole weighings on this machine: false alarms and power of `steelyard compare`, bursts of other work around it.

    python benchmarks/live_weighings.py [WEIGHINGS]

Weighs the demo's 12 ms program against itself, and against a version that does 1 % more, with the `steelyard` beside
this Python, as a user would: one process a weighing, default settings.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.load import Bursts
from benchmarks.simulation import table

STEELYARD = Path(sys.executable).with_name("steelyard")
SOURCE = ROOT / "examples" / "demo" / "work.c"
ROUNDS = 2800


@dataclass
class Cell:
    """The weighings of one true change."""

    words: Counter[str] = field(default_factory=Counter)
    pairs: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    covered: int = 0


def main(weighings: int) -> None:
    """Alternate the two cells, so that a bad hour meets both, and print the table as it stands every ten weighings."""
    with tempfile.TemporaryDirectory() as name, Bursts():
        folder = Path(name)
        baseline = _build(folder / "work", ROUNDS)
        # The baseline again, as a file of its own: the same program, found elsewhere.
        candidates = {0.0: _build(folder / "work-again", ROUNDS), 0.01: _build(folder / "work+1%", ROUNDS * 101 // 100)}
        cells = {change: Cell() for change in candidates}
        for number in range(1, weighings + 1):
            for change, candidate in candidates.items():
                _weigh(cells[change], change, baseline, candidate, folder / "record.json")
            if number % 10 == 0 or number == weighings:
                print(_report(cells), flush=True)


def _build(program: Path, rounds: int) -> Path:
    subprocess.run(["cc", "-O2", f"-DROUNDS={rounds}", "-o", str(program), str(SOURCE)], check=True)
    return program


def _weigh(cell: Cell, change: float, baseline: Path, candidate: Path, record: Path) -> None:
    started = time.monotonic()
    command = [str(STEELYARD), "compare", str(baseline), str(candidate), "--json", str(record)]
    status = subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode
    if status not in (0, 1):
        raise SystemExit(f"the weighing failed with status {status}")
    seen: dict[str, Any] = json.loads(record.read_text())
    cell.seconds.append(time.monotonic() - started)
    cell.words[seen["verdict"]] += 1
    cell.pairs.append(seen["pairs"])
    low, high = seen["interval"]
    cell.covered += low <= change <= high


def _report(cells: dict[float, Cell]) -> str:
    header = ("true change", "weighings", "slower", "faster", "same", "undecided", "median pairs", "seconds", "covered")
    return table(header, ([f"{change:+.0%}", *_row(cell)] for change, cell in cells.items())) + "\n"


def _row(cell: Cell) -> list[object]:
    counts = [cell.words[word] for word in ("slower", "faster", "same", "undecided")]
    measured = [f"{statistics.median(cell.pairs):.0f}", f"{statistics.median(cell.seconds):.1f}", cell.covered]
    return [len(cell.pairs), *counts, *measured]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Whole weighings on this machine, with bursts of other work around.")
    parser.add_argument("weighings", nargs="?", type=int, default=200, help="of each change")
    main(parser.parse_args().weighings)
