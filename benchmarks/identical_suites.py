"""False alarms of suites of ten benchmarks, weighed against themselves, live.

    python benchmarks/identical_suites.py [pytest-benchmark|protocol|go|criterion|pyperf] [--weighings N]
        [--own-starts] [--keep FOLDER]

The benchmarks of pytest-benchmark, and of our own fixture by the protocol, share their starts; those of Go are timed by
their processes; those of pyperf, and five of the program of criterion's tests, which has to be built before (`pytest
tests/subjects/adapters/test_criterion.py`), are timed by a clock that stands still, the latter in tandem.

Each weighing is one run of the installed `steelyard` with one command on both sides, a negligible margin and 16 pairs.
Every benchmark is judged by itself with several alphas, as in `live_identical.py`. As those of one weighing share its
disturbances, results are given for whole weighings as well as for single benchmarks.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.live_identical import HEADER, NO_MARGIN, Seen, row, seen
from benchmarks.processes import STEELYARD, run, with_own_store
from benchmarks.simulation import table
from benchmarks.still_clock import cargo_built
from benchmarks.suites import GO_WORK, PYTHON_WORK, built_go, pytest_command
from steelyard.model.files import load
from steelyard.model.records import Weighing

ROUNDS = (2000, 5000, 8000, 12000, 20000)
WORK = f"""
{PYTHON_WORK}
def text(rounds):
    return "".join(sorted(str(number) for number in range(rounds // 10)))
"""
PYTEST = f"""
import pytest
{WORK}
@pytest.mark.parametrize("rounds", {ROUNDS})
def test_work(benchmark, rounds):
    benchmark(work, rounds)

@pytest.mark.parametrize("rounds", {ROUNDS})
def test_text(benchmark, rounds):
    benchmark(text, rounds)
"""
PYPERF = f"""
import pyperf
{WORK}
runner = pyperf.Runner()
for rounds in {ROUNDS}:
    runner.bench_func(f"work {{rounds}}", work, rounds)
    runner.bench_func(f"text {{rounds}}", text, rounds)
"""
GO = rf"""
package suite

import ("fmt"; "slices"; "strings"; "testing")
{GO_WORK}
func text(rounds int) {{
    var numbers []string
    for number := 0; number < rounds / 10; number++ {{ numbers = append(numbers, fmt.Sprint(number)) }}
    slices.Sort(numbers)
    sink += uint64(len(strings.Join(numbers, "")))
}}

func BenchmarkAll(b *testing.B) {{
    for _, rounds := range []int{{2000, 5000, 8000, 12000, 20000}} {{
        b.Run(fmt.Sprint("work_", rounds), func(b *testing.B) {{ for n := 0; n < b.N; n++ {{ work(rounds) }} }})
        b.Run(fmt.Sprint("text_", rounds), func(b *testing.B) {{ for n := 0; n < b.N; n++ {{ text(rounds) }} }})
    }}
}}
"""
PAIRS = 16
CRITERION = ("work", "new", "base", "sum", "group/flat/2000")


def suite_of(harness: str, folder: Path) -> tuple[str, tuple[str, ...]]:
    """The command of a suite for this harness, and which of its benchmarks are weighed (all, if none is named)."""
    if harness == "criterion":
        return str(cargo_built("criterion")), CRITERION
    if harness == "pyperf":
        (folder / "suite.py").write_text(PYPERF)
        return shlex.join([sys.executable, str(folder / "suite.py")]), ()
    return str(built_go(folder, GO)) if harness == "go" else pytest_command(folder, PYTEST, harness), ()


def main(words: argparse.Namespace) -> None:
    """Weigh, and print the table so far after each weighing."""
    cells: dict[str, list[Seen]] = defaultdict(list)
    words.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        command, only = suite_of(words.harness, Path(name))
        for number in range(words.weighings):
            kept = words.keep / f"{os.getpid()}-{number}.json.gz"
            options = ["--pairs", str(PAIRS), "--margin", f"{NO_MARGIN:.3%}", "--json", str(kept)]
            options += ["--own-starts"] if words.own_starts else []
            options += [word for pattern in only for word in ("-b", pattern)]
            line = [STEELYARD, "compare", "--harness", words.harness, command, command, *options]
            run(line, with_own_store(Path(name)), accept=(0, 1))
            record = load(kept)
            if not isinstance(record, Weighing):
                raise SystemExit(f"{kept} is no weighing")
            for place, benchmark in enumerate(record.benchmarks):
                cells[benchmark.name].append(seen(record, place, os.getloadavg()[0]))
            ways = [record.settings.starts or one.clock or "own" for one in record.benchmarks]
            rows = [
                [label.rpartition("::")[2], way, *row(cell)]
                for (label, cell), way in zip(cells.items(), ways, strict=True)
            ]
            every = [one for cell in cells.values() for one in cell]
            print(table(HEADER, [*rows, ["all", "", *row(every)]]) + "\n", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "harness",
        nargs="?",
        choices=("pytest-benchmark", "protocol", "go", "criterion", "pyperf"),
        default="pytest-benchmark",
    )
    parser.add_argument("--weighings", type=int, default=20)
    parser.add_argument("--own-starts", action="store_true")
    parser.add_argument("--keep", type=Path, default=Path("build/identical-suites"), help="where the records go")
    main(parser.parse_args())
