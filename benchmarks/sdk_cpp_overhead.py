"""What an iteration of an empty body costs with the C++ header, compared with Google Benchmark and nanobench.

    python benchmarks/sdk_cpp_overhead.py [--repetitions N] [--iterations N] [--nanobench FOLDER] [--compiler NAME]

Each tool runs a given number of iterations of two bodies in a process of its own: an empty one, and an empty `asm
volatile`, which no compiler may remove. In each repetition every tool runs once, in an order drawn anew. The table
shows the median over the repetitions, and the ratio to the better of the two peers: the Hodges-Lehmann estimate and
99 % interval of the ratios within a repetition. All times are CPU times of the thread, as waiting on a busy machine is
not a property of a loop. A loop that the compiler has removed is not compared.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.processes import ROOT, stoppable
from benchmarks.protocol import samples_of
from benchmarks.simulation import table
from steelyard.stats.signed_rank import estimate

SDK = ROOT / "sdk" / "cpp"
BODIES = ("nothing", "empty asm")
# An iteration takes less than a tenth of a cycle of the fastest processors only if there is no loop any more.
REMOVED_NS = 0.02
LEVEL = 0.01

_STEELYARD = """
#include "steelyard.hpp"
STEELYARD_BENCH_WITH(nothing, steelyard::name("nothing")) { state.run([] {}); }
STEELYARD_BENCH_WITH(empty, steelyard::name("empty asm")) { state.run([] { asm volatile(""); }); }
STEELYARD_MAIN()
"""
_STEELYARD_C = """
#include "steelyard.h"
STEELYARD_BENCH(nothing) { STEELYARD_RUN(state) {} }
STEELYARD_BENCH_NAMED(empty, "empty asm") { STEELYARD_RUN(state) { __asm__ volatile(""); } }
STEELYARD_MAIN()
"""
_IMPLEMENTATION = """
#define STEELYARD_IMPLEMENTATION
#include "steelyard.hpp"
"""
_GOOGLE = """
#include <benchmark/benchmark.h>
#include <cstdlib>
static void nothing(benchmark::State& state) { for (auto _ : state) {} }
static void empty(benchmark::State& state) { for (auto _ : state) asm volatile(""); }
int main(int count, char** words) {
    const long iterations = std::atol(words[1]);
    benchmark::RegisterBenchmark("nothing", nothing)->Iterations(iterations);
    benchmark::RegisterBenchmark("empty asm", empty)->Iterations(iterations);
    benchmark::Initialize(&count, words);
    benchmark::RunSpecifiedBenchmarks();
}
"""
_NANOBENCH = """
#define ANKERL_NANOBENCH_IMPLEMENT
#include <nanobench.h>
#include <time.h>
#include <cstdio>
#include <cstdlib>
#include <string>
static double now() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e9 * time.tv_sec + time.tv_nsec;
}
// It reports no CPU time, so that is taken around it; what it does once, in the first run of a program, is done before.
template <class Body>
static void run(double iterations, Body body) {
    ankerl::nanobench::Bench bench;
    bench.output(nullptr).warmup(0).epochs(1).epochIterations(1).run(body);
    bench.epochIterations(static_cast<uint64_t>(iterations));
    const double before = now();
    bench.run(body);
    std::printf("%.9f", (now() - before) / iterations);
}
int main(int, char** words) {
    const double iterations = std::atof(words[1]);
    if (words[2] == std::string("nothing")) run(iterations, [] {});
    else run(iterations, [] { asm volatile(""); });
}
"""


_Ask = Callable[[str, int], float]
"""Runs a body so many times; CPU ns an iteration."""


@dataclass
class Tool:
    """A built program, how it is called for the ns per iteration, and its answers for each body."""

    ask: _Ask
    taken: dict[str, list[float]] = field(default_factory=lambda: {body: [] for body in BODIES})

    def median(self, body: str) -> float:
        """The median over the repetitions, in ns per iteration."""
        return statistics.median(self.taken[body])


@dataclass(frozen=True)
class MissingError(Exception):
    """A peer that cannot be built here; says why."""

    why: str


def main(words: argparse.Namespace) -> None:
    """Build what can be built, run the tools in turns, print the table."""
    with tempfile.TemporaryDirectory() as name, stoppable():
        tools = _tools(Path(name), words.compiler, words.nanobench)
        turns = [(tool, body) for tool in tools.values() for body in BODIES]
        for _ in range(words.repetitions):
            for tool, body in random.sample(turns, len(turns)):
                tool.taken[body].append(tool.ask(body, words.iterations))
        print(_report(tools, words))


def _tools(folder: Path, compiler: str, nanobench: str | None) -> dict[str, Tool]:
    build = _Builder(folder, compiler)
    tools = {
        "steelyard.hpp": Tool(_asking_steelyard(build("steelyard", _STEELYARD))),
        "steelyard.h (C)": Tool(_asking_steelyard(build.in_c("steelyard_c", _STEELYARD_C))),
    }
    peers: dict[str, Callable[[], _Ask]] = {
        "Google Benchmark": lambda: _asking_google(_google(build)),
        "nanobench": lambda: _asking_nanobench(_nanobench(build, nanobench)),
    }
    for name, make in peers.items():
        try:
            tools[name] = Tool(make())
        except MissingError as missing:
            print(f"missing: {name}: {missing.why}", flush=True)
    return tools


@dataclass(frozen=True)
class _Builder:
    folder: Path
    compiler: str

    def __call__(self, name: str, source: str, *words: str) -> Path:
        """Build a program from C++; CalledProcessError with the compiler's output."""
        file, program = self.folder / f"{name}.cpp", self.folder / name
        file.write_text(source)
        self._compile("-std=c++17", "-O2", f"-I{SDK}", str(file), *words, "-pthread", "-o", str(program))
        return program

    def in_c(self, name: str, source: str) -> Path:
        """Build a program whose benchmarks are in C."""
        file, made = self.folder / f"{name}.c", self.folder / f"{name}.o"
        file.write_text(source)
        subprocess.run(["cc", "-std=c11", "-O2", f"-I{SDK}", "-c", str(file), "-o", str(made)], check=True)
        return self(name, _IMPLEMENTATION, str(made))

    def has(self, header: str, *words: str) -> bool:
        """Whether a header can be included."""
        source = self.folder / "has.cpp"
        source.write_text(f"#include <{header}>\n")
        done = subprocess.run([self.compiler, "-E", *words, str(source)], capture_output=True, check=False)
        return done.returncode == 0

    def _compile(self, *words: str) -> None:
        done = subprocess.run([self.compiler, *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{self.compiler} {' '.join(words)}\n{done.stderr}")


def _google(build: _Builder) -> Path:
    if not build.has("benchmark/benchmark.h"):
        raise MissingError("no <benchmark/benchmark.h>; install it (Debian: apt-get install libbenchmark-dev)")
    return build("google", _GOOGLE, "-lbenchmark")


def _nanobench(build: _Builder, folder: str | None) -> Path:
    include = [f"-I{folder}"] if folder else []
    if not build.has("nanobench.h", *include):
        raise MissingError("no <nanobench.h>; get this one file of martinus/nanobench and give --nanobench FOLDER")
    return build("nanobench", _NANOBENCH, *include)


def _asking_steelyard(program: Path) -> _Ask:
    def ask(body: str, iterations: int) -> float:
        (sample,) = samples_of([str(program)], body, iterations, 1)
        return float(sample["cpu_ns"]) / iterations

    return ask


def _asking_google(program: Path) -> _Ask:
    def ask(body: str, iterations: int) -> float:
        options = [f"--benchmark_filter=^{body}/", "--benchmark_format=json"]
        answer = json.loads(_output([str(program), str(iterations), *options]))
        (result,) = answer["benchmarks"]
        assert result["iterations"] == iterations
        assert result["time_unit"] == "ns"
        return float(result["cpu_time"])

    return ask


def _asking_nanobench(program: Path) -> _Ask:
    def ask(body: str, iterations: int) -> float:
        return float(_output([str(program), str(iterations), body]))

    return ask


def _output(command: Sequence[str]) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout


def _report(tools: Mapping[str, Tool], words: argparse.Namespace) -> str:
    rows = [(name, *(cell for body in BODIES for cell in _cells(tools, name, body))) for name in tools]
    header = ("an iteration through", *(cell for body in BODIES for cell in (body, "over the better peer")))
    said = f"{words.iterations} iterations a repetition, {words.repetitions} repetitions, {words.compiler} -O2"
    return f"{table(header, rows)}\n\n{said}"


def _cells(tools: Mapping[str, Tool], name: str, body: str) -> tuple[str, str]:
    median = f"{tools[name].median(body):.4f} ns"
    if tools[name].median(body) < REMOVED_NS:
        return median, "loop removed"
    peers = [tool for name, tool in tools.items() if not name.startswith("steelyard")]
    there = [peer for peer in peers if peer.median(body) >= REMOVED_NS]
    if not there:
        return median, "none to compare"
    better = min(there, key=lambda peer: peer.median(body))
    return median, "1" if better is tools[name] else _ratio(tools[name].taken[body], better.taken[body])


def _ratio(ours: list[float], theirs: list[float]) -> str:
    within = estimate([math.log(mine / other) for mine, other in zip(ours, theirs, strict=True)], LEVEL)
    return f"{math.exp(within.centre):.4f} [{math.exp(within.lower):.4f}, {math.exp(within.upper):.4f}]"


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="An empty body beside Google Benchmark and nanobench.")
    parser.add_argument("--repetitions", type=int, default=200, metavar="N")
    parser.add_argument("--iterations", type=int, default=20_000_000, metavar="N", help="of a repetition")
    parser.add_argument("--nanobench", metavar="FOLDER", help="where nanobench.h is, if the compiler does not find it")
    parser.add_argument("--compiler", default=shutil.which("g++") or "c++", metavar="NAME")
    return parser.parse_args()


if __name__ == "__main__":
    main(_words())
