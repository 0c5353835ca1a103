"""What driving a harness costs: the time of a weighing compared with its launches, for 100 benchmarks x 20 pairs.

    python benchmarks/harness_driver.py [--benchmarks N] [--pairs N]

Each launch takes a few ms: samples of one iteration of 1 ms, as many as the weighing chooses.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.processes import compare, read_record, stoppable
from benchmarks.simulation import table

SOURCE = Path(__file__).resolve().parent / "fixed_harness.c"


def main(words: argparse.Namespace) -> None:
    """Weigh once and print the times."""
    with tempfile.TemporaryDirectory() as name, stoppable():
        folder = Path(name)
        program, record = folder / "fixed", folder / "record.json"
        subprocess.run(["cc", "-O2", f"-DBENCHMARKS={words.benchmarks}", "-o", program, SOURCE], check=True)
        commands = [str(program), f"{program} again"]
        ended = compare(["--harness", "protocol", *commands, "--metric", "wall", "--pairs", str(words.pairs)], record)
        measured = read_record(record)
    walls = [wall / 1e9 for wall in measured["launches"]["wall_ns"]]
    header = (
        "launches",
        "median ms",
        "sum of launches s",
        "measuring s",
        "ratio",
        "with listing and trying s",
        "ratio",
    )
    row = [len(walls), f"{statistics.median(walls) * 1e3:.1f}", f"{sum(walls):.1f}", f"{measured['seconds']:.1f}"]
    row += [f"{measured['seconds'] / sum(walls):.3f}", f"{ended.seconds:.1f}", f"{ended.seconds / sum(walls):.3f}"]
    print(table(header, [row]))


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What driving a harness costs.")
    parser.add_argument("--benchmarks", type=int, default=100, metavar="N")
    parser.add_argument("--pairs", type=int, default=20, metavar="N")
    return parser.parse_args()


if __name__ == "__main__":
    main(_words())
