"""A change of 3 % in one of several benchmarks of other harnesses' suites: whether it is found, and nothing else.

    python benchmarks/planted_suites.py [SUITE ...] [--weighings N] [--max-time SECONDS] [--quiet]

The suites are written here, with five benchmarks each, and twelve for pytest, which share their starts; criterion's is
the program of the adapter's tests, which has to be built before (`pytest tests/subjects/adapters/test_criterion.py`).
The change is more rounds of the same loop, by an environment variable, so that both sides are one file and no code
moves. They are weighed at default settings, which give each benchmark 3 s, and 30 s to a suite of fewer than ten, among
bursts of other work unless --quiet is given.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.load import Bursts
from benchmarks.processes import stoppable
from benchmarks.simulation import table
from benchmarks.still_clock import cargo_built
from benchmarks.suites import GO_WORK, HEADER, PYTHON_WORK, Tally, built_go, pytest_command, weigh_suite

GOOGLE = r"""
#include <benchmark/benchmark.h>
#include <cstdint>
#include <cstdlib>
static std::uint64_t work(long rounds) {
    std::uint64_t state = 1;
    for (long round = 0; round < rounds; round++) benchmark::DoNotOptimize(state = state * 6364136223846793005u + 1);
    return state;
}
static void planted(benchmark::State& all) {
    long rounds = std::getenv("PLANTED") ? 10300 : 10000;
    for (auto one : all) benchmark::DoNotOptimize(work(rounds));
}
static void other(benchmark::State& all) {
    for (auto one : all) benchmark::DoNotOptimize(work(all.range(0)));
}
BENCHMARK(planted);
BENCHMARK(other)->Arg(2000)->Arg(5000)->Arg(20000)->Arg(50000);
BENCHMARK_MAIN();
"""
GO = f"""
package suite

import ("fmt"; "os"; "testing")
{GO_WORK}
func BenchmarkPlanted(b *testing.B) {{
    rounds := 10000
    if os.Getenv("PLANTED") != "" {{ rounds = 10300 }}
    for n := 0; n < b.N; n++ {{ work(rounds) }}
}}

func BenchmarkOther(b *testing.B) {{
    for _, rounds := range []int{{2000, 5000, 20000, 50000}} {{
        b.Run(fmt.Sprint(rounds), func(b *testing.B) {{ for n := 0; n < b.N; n++ {{ work(rounds) }} }})
    }}
}}
"""
PYTEST = f"""
import os
import pytest
{PYTHON_WORK}
def test_planted(benchmark):
    benchmark(work, 10300 if "PLANTED" in os.environ else 10000)

@pytest.mark.parametrize("rounds", [2000, 5000, 20000, 50000, *range(6000, 20000, 2000)])
def test_other(benchmark, rounds):
    benchmark(work, rounds)
"""


@dataclass(frozen=True)
class Suite:
    """A command, the same with the change, and which of its benchmarks are weighed (all, if none is named)."""

    command: str
    planted: str
    benchmarks: tuple[str, ...] = ()


def google_benchmark(folder: Path) -> Suite:
    """A suite for Google Benchmark, compiled against the system's library."""
    (folder / "suite.cpp").write_text(GOOGLE)
    suite = folder / "suite"
    words = ["c++", "-std=c++17", "-O2", "-o", str(suite), str(folder / "suite.cpp"), "-lbenchmark", "-lpthread"]
    subprocess.run(words, check=True)
    return Suite(str(suite), f"env PLANTED=1 {suite}")


def go(folder: Path) -> Suite:
    """A suite for Go, the binary of `go test -c`."""
    program = built_go(folder, GO)
    return Suite(str(program), f"env PLANTED=1 {program}")


def pytest(folder: Path, harness: str) -> Suite:
    """A suite for pytest, run by this Python."""
    command = pytest_command(folder, PYTEST, harness)
    return Suite(command, f"env PLANTED=1 {command}")


def criterion(folder: Path) -> Suite:
    """The program of the adapter's tests, whose benchmark `work` reads that variable."""
    del folder
    program = cargo_built("criterion")
    if not program.exists():
        raise SystemExit("criterion's suite is not built: run pytest tests/subjects/adapters/test_criterion.py")
    others = ("new", "base", "sum", "group/flat/2000")
    return Suite(str(program), f"env PLANTED=1 {program}", ("work", *others))


SUITES: dict[str, Callable[[Path], Suite]] = {
    "google-benchmark": google_benchmark,
    "criterion": criterion,
    "go": go,
    "pytest-benchmark": partial(pytest, harness="pytest-benchmark"),
    "protocol": partial(pytest, harness="protocol"),
}


def main(words: argparse.Namespace) -> None:
    """Weigh each suite in turn, and print the table so far after each weighing."""
    with tempfile.TemporaryDirectory() as name, stoppable():
        suites = {}
        for harness in words.harness or SUITES:
            folder = Path(name) / harness
            folder.mkdir()
            suites[harness] = SUITES[harness](folder)
        tallies = {harness: Tally(harness, "+3 % in one") for harness in suites}
        for _ in range(words.weighings):
            for harness, suite in suites.items():
                options = [word for pattern in suite.benchmarks for word in ("-b", pattern)]
                options += [] if words.max_time is None else ["--max-time", words.max_time]
                with nullcontext() if words.quiet else Bursts():
                    found = weigh_suite(Path(name), harness, [suite.command, suite.planted], options)
                tallies[harness].add(*found)
                print(table(HEADER, [tally.row() for tally in tallies.values()]) + "\n", flush=True)


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A change of 3 % in suites of other harnesses.")
    parser.add_argument("harness", nargs="*", choices=[*SUITES, []], help="all, if none is given")
    parser.add_argument("--weighings", type=int, default=5, metavar="N", help="of each suite")
    parser.add_argument("--max-time", metavar="SECONDS", help="of a weighing, in the place of the tool's own choice")
    parser.add_argument("--quiet", action="store_true", help="no bursts around")
    return parser.parse_args()


if __name__ == "__main__":
    main(_words())
