"""False alarms of pytest-benchmark's suites, weighed against themselves, live: ten benchmarks that share their starts.

    python benchmarks/identical_suites.py [--weighings N] [--own-starts] [--keep FOLDER]

Each weighing is one run of the installed `steelyard` with one command on both sides, a margin of next to nothing and 16
pairs. Every benchmark is judged by itself with several alphas, as in `live_identical.py`; those of one weighing share
what disturbed it, and are told of together and one by one.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.live_identical import HEADER, NO_MARGIN, Seen, row, seen
from benchmarks.processes import STEELYARD, run, with_own_store
from benchmarks.simulation import table
from benchmarks.suites import PYTHON_WORK, pytest_command
from steelyard.model.files import load
from steelyard.model.records import Weighing

SUITE = f"""
import pytest
{PYTHON_WORK}
def text(rounds):
    return "".join(sorted(str(number) for number in range(rounds // 10)))

@pytest.mark.parametrize("rounds", [2000, 5000, 8000, 12000, 20000])
def test_work(benchmark, rounds):
    benchmark(work, rounds)

@pytest.mark.parametrize("rounds", [2000, 5000, 8000, 12000, 20000])
def test_text(benchmark, rounds):
    benchmark(text, rounds)
"""
PAIRS = 16


def main(words: argparse.Namespace) -> None:
    """Weigh, and print the table as it stands after each weighing."""
    cells: dict[str, list[Seen]] = defaultdict(list)
    words.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        suite = Path(name, "test_suite.py")
        suite.write_text(SUITE)
        command = pytest_command(suite)
        for number in range(words.weighings):
            kept = words.keep / f"{os.getpid()}-{number}.json.gz"
            options = ["--pairs", str(PAIRS), "--margin", f"{NO_MARGIN:.3%}", "--json", str(kept)]
            options += ["--own-starts"] if words.own_starts else []
            line = [STEELYARD, "compare", "--harness", "pytest-benchmark", command, command, *options]
            run(line, with_own_store(Path(name)), accept=(0, 1))
            record = load(kept)
            if not isinstance(record, Weighing):
                raise SystemExit(f"{kept} is no weighing")
            for place, benchmark in enumerate(record.benchmarks):
                cells[benchmark.name].append(seen(record, place, os.getloadavg()[0]))
            way = record.settings.starts or "own"
            rows = [[label.rpartition("::")[2], way, *row(cell)] for label, cell in cells.items()]
            every = [one for cell in cells.values() for one in cell]
            print(table(HEADER, [*rows, ["all", "", *row(every)]]) + "\n", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weighings", type=int, default=20)
    parser.add_argument("--own-starts", action="store_true")
    parser.add_argument("--keep", type=Path, default=Path("build/identical-suites"), help="where the records go")
    main(parser.parse_args())
