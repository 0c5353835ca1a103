"""Suites of harnesses that tell elapsed time alone, by the clock that stands still: pairs in tandem, and one by one.

    python benchmarks/tandem_suites.py [HARNESS ...] [--pairs N] [--weighings N] [--loads quiet,bursts,neighbour]

A suite is of four benchmarks: a loop, a walk over 256 KiB and one over 4 MiB in a random order, and an allocation; of
each, one as it is and one with 3 % more of the work where a variable of the environment says so, so that both sides are
one file. Shown are of each benchmark the change that is read and the spread of a pair in both ways, and how much longer
it takes beside its like; criterion's and Divan's are the programs of the adapters' tests, to be built before.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.processes import STEELYARD, run, stoppable, with_own_store
from benchmarks.simulation import table
from benchmarks.still_clock import cargo_built
from benchmarks.tandem import load_of
from steelyard.model.files import load
from steelyard.model.launches import FloatArray
from steelyard.stats.summary import quartile_deviation

HEADER = ("harness", "benchmark", "load", "pairs", "one by one", "in tandem", "spread", "in tandem", "longer by")
WAYS = ("adjacent", "tandem")
WORK = r"""
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>
static const bool more = std::getenv("PLANTED") != nullptr;
static std::uint64_t loop(long rounds) {
    std::uint64_t state = 1;
    for (long round = 0; round < rounds; round++) state = state * 6364136223846793005u + 1;
    return state;
}
struct Walk {
    std::vector<std::uint32_t> next;
    explicit Walk(std::size_t bytes) : next(bytes / 4) {
        std::iota(next.begin(), next.end(), 0u);
        std::mt19937 random(1);
        for (std::size_t one = next.size() - 1; one > 0; one--) std::swap(next[one], next[random() % one]);
    }
    std::uint64_t walked(long steps) const {
        std::uint32_t place = 0;
        for (long step = 0; step < steps; step++) place = next[place];
        return place;
    }
};
static std::uint64_t allocated(long times) {
    std::vector<std::string> all;
    for (long time = 0; time < times; time++) all.emplace_back(100 + time % 100, 'x');
    return all.size();
}
static const Walk small(256 << 10), large(4 << 20);
static long as_is(long n) { return n; }
static long planted(long n) { return more ? n * 103 / 100 : n; }
"""
CASES = (
    ("loop", "loop({}(10000))"),
    ("small", "small.walked({}(10000))"),
    ("large", "large.walked({}(10000))"),
    ("allocated", "allocated({}(1000))"),
)
PYPERF = """
import os
import pyperf
MORE = 1.03 if "PLANTED" in os.environ else 1
VALUES = list(range(200_000))
def loop(rounds):
    state = 1
    for _ in range(rounds):
        state = state * 31 % 65537
    return state
def walked(steps):
    return sum(VALUES[one * 7919 % 200_000] for one in range(steps))
runner = pyperf.Runner()
for name, function in (("loop", loop), ("walked", walked)):
    runner.bench_func(name + " as_is", function, 5000)
    runner.bench_func(name + " planted", function, int(5000 * MORE))
"""


def google_benchmark(folder: Path) -> list[str]:
    """Compiled against the system's."""
    text = "#include <benchmark/benchmark.h>\n" + WORK
    for name, call in CASES:
        for kind in ("as_is", "planted"):
            body = f"for (auto one : all) benchmark::DoNotOptimize({call.format(kind)});"
            text += f"static void {name}_{kind}(benchmark::State& all) {{ {body} }}\nBENCHMARK({name}_{kind});\n"
    return [_compiled(folder, text + "BENCHMARK_MAIN();\n", "-lbenchmark", "-lpthread")]


def catch2(folder: Path) -> list[str]:
    """Compiled against the system's single header."""
    text = "#define CATCH_CONFIG_MAIN\n#define CATCH_CONFIG_ENABLE_BENCHMARKING\n#include <catch2/catch.hpp>\n" + WORK
    for name, call in CASES:
        bodies = (f'BENCHMARK("{name}_{kind}") {{ return {call.format(kind)}; }};' for kind in ("as_is", "planted"))
        text += f'TEST_CASE("{name}") {{ {" ".join(bodies)} }}\n'
    return [_compiled(folder, text)]


def pyperf(folder: Path) -> list[str]:
    """Run by this Python."""
    (folder / "bench.py").write_text(PYPERF)
    return [f"{sys.executable} {folder / 'bench.py'}"]


def criterion(folder: Path) -> list[str]:
    """Of the adapter's tests: `work` is the planted one."""
    del folder
    return [str(cargo_built("criterion")), "work", "new", "base", "group/flat/2000"]


def divan(folder: Path) -> list[str]:
    """Of the adapter's tests; nothing is planted."""
    del folder
    return [str(cargo_built("divan")), "*plain", "*generic*"]


SUITES: dict[str, Callable[[Path], list[str]]] = {
    "google-benchmark": google_benchmark,
    "catch2": catch2,
    "pyperf": pyperf,
    "criterion": criterion,
    "divan": divan,
}
"""Each makes its suite in a folder: the command, and the benchmarks of it that are weighed (all, if none is named)."""


def main(words: argparse.Namespace) -> None:
    """Weigh each suite in both ways in turn, and print its rows."""
    with tempfile.TemporaryDirectory() as name, stoppable():
        for harness in words.harness or SUITES:
            folder = Path(name) / harness
            folder.mkdir()
            command, *only = SUITES[harness](folder)
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
        error = 1.253 * quartile_deviation(differences) / np.sqrt(differences.size)
        center = np.median(differences)
        changes.append(f"{100 * np.expm1(center):+.2f} ± {200 * error:.2f} %")
        spreads.append(f"{100 * quartile_deviation(differences):.2f} %")
        levels.append(np.median(logs[0]))
        pairs.append(str(differences.size))
    return [", ".join(pairs), *changes, *spreads, f"{100 * np.expm1(levels[1] - levels[0]):+.1f} %"]


def _weighed(
    folder: Path, harness: str, way: str, command: str, only: Sequence[str], pairs: int
) -> dict[str, FloatArray]:
    """Of each benchmark the logarithms of its pairs' times, measured that way: baseline, candidate."""
    record = folder / "record.json"
    options = [word for pattern in only for word in ("-b", pattern)]
    weighing = [STEELYARD, "compare", "--harness", harness, "--pairing", way, "--json", str(record), *options]
    # No verdict ends it early: where it ended would say something of the change.
    weighing += ["--pairs", str(pairs), "--alpha", "0.00001", command, f"env PLANTED=1 {command}"]
    run(weighing, with_own_store(folder), accept=(0, 1))
    found = load(record)
    sides = [found.launches.pair_values(number, "active") for number in range(len(found.benchmarks))]
    return {one.name: np.log(np.stack(values)) for one, values in zip(found.benchmarks, sides, strict=True)}


def _compiled(folder: Path, text: str, *libraries: str) -> str:
    (folder / "suite.cpp").write_text(text)
    suite = folder / "suite"
    words = ["c++", "-std=c++17", "-O2", "-o", str(suite), str(folder / "suite.cpp"), *libraries]
    subprocess.run(words, check=True)
    return str(suite)


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Suites by the clock that stands still, in tandem and one by one.")
    parser.add_argument("harness", nargs="*", choices=[*SUITES, []], help="all, if none is given")
    parser.add_argument("--pairs", type=int, default=30, metavar="N", help="of each benchmark in a weighing")
    parser.add_argument("--weighings", type=int, default=2, metavar="N", help="in each way")
    parser.add_argument("--loads", default="quiet,bursts", help="of quiet, bursts, neighbour")
    return parser.parse_args()


if __name__ == "__main__":
    main(_words())
