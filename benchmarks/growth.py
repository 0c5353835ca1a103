"""How the tool's own work grows with the number of benchmarks in a weighing.

    python benchmarks/growth.py [BENCHMARKS ...]

It weighs /bin/true against itself in suites of 10, 100 and 1,000 benchmarks, 12 pairs of each, and shows the finished
record again. The tool's own work is all CPU time but the targets': driver, launch server, start and verdicts.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.processes import STEELYARD, compare, cpu_of_targets, read_record, run, stoppable, with_own_store
from benchmarks.simulation import table

SIZES = (10, 100, 1000)
PAIRS = 12
SHOWN = 3
HEADER = ("benchmarks", "pairs", "elapsed", "own CPU", "own CPU a pair", "record", "read and shown again")


def main(sizes: Sequence[int]) -> None:
    """Print the table so far after each size."""
    rows = []
    with tempfile.TemporaryDirectory() as name, stoppable():
        for size in sizes:
            rows.append(_weigh(size, Path(name)))
            print(table(HEADER, rows) + "\n", flush=True)


def _weigh(benchmarks: int, folder: Path) -> list[str]:
    record = folder / "record.json"
    commands = ["/bin/true {n}", "/bin/true again {n}"]
    suite = ["--parameter-scan", "n", "1", str(benchmarks), "1", "--pairs", str(PAIRS)]
    ended = compare([*commands, *suite], record)
    kept = read_record(record)
    own = ended.cpu_s - cpu_of_targets(kept)
    pairs = len(kept["launches"]["wall_ns"]) // 2
    show = [STEELYARD, "show", str(record)]
    shown = statistics.median(run(show, with_own_store(folder)).seconds for _ in range(SHOWN))
    cells = [f"{ended.seconds:.1f} s", f"{own:.2f} s", f"{1e3 * own / pairs:.2f} ms"]
    return [str(benchmarks), str(pairs), *cells, f"{record.stat().st_size / 1e6:.1f} MB", f"{shown:.2f} s"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The tool's own work as the number of benchmarks in a weighing grows.")
    parser.add_argument("benchmarks", nargs="*", type=int, default=SIZES, help="the sizes of the suites")
    main(parser.parse_args().benchmarks)
