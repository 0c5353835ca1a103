"""The thirty comparisons of `benchmarks/first_use.py`, and the programs, files and suites that they need."""

from __future__ import annotations

import random
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from benchmarks.processes import build

SLOWER, EQUAL, FASTER = 1, 0, -1
_TRUTHS = {SLOWER: "slower", EQUAL: "equal", FASTER: "faster"}


@dataclass(frozen=True)
class Comparison:
    """What a newcomer would type after `steelyard compare`, and the truth about it."""

    name: str
    words: tuple[str, ...]
    truths: Mapping[str, int]
    """Of each benchmark; "" is the whole command, or every other benchmark."""
    is_long: bool = False
    """Whether one launch takes so long that it needs the default time at least."""

    @property
    def truth(self) -> str:
        """The truth in words: how the sides differ, and in which benchmarks if only some do."""
        changed = [f"{name} {_TRUTHS[sign]}" for name, sign in self.truths.items() if name]
        return ", ".join(changed) or _TRUTHS[self.truths[""]]


def comparisons(folder: Path) -> tuple[list[Comparison], list[str]]:
    """The comparisons whose programs are installed, with their files put into the folder; and what is missing."""
    found: list[Comparison] = []
    missing: list[str] = []
    for needs, make in _KINDS:
        lacking = [name for name in needs if shutil.which(name) is None]
        if lacking:
            missing.append(f"{make.__name__.strip('_')}: {', '.join(lacking)} not installed")
            continue
        try:
            found += make(folder)
        except subprocess.CalledProcessError as error:
            missing.append(f"{make.__name__.strip('_')}: {shlex.join(map(str, error.cmd))} failed")
    return found, missing


def _pair(name: str, baseline: str, candidate: str, truth: int, *words: str) -> Comparison:
    return Comparison(name, (*words, baseline, candidate), MappingProxyType({"": truth}))


def _c_programs(folder: Path) -> list[Comparison]:
    """The demo's program: 233 rounds per ms of work, and 0.7 ms to start."""
    found = []
    # 1 ms is mostly the start of the process, so 5 % of the whole is a larger part of its work.
    for name, rounds, share in (
        ("1 ms", 80, 0.2),
        ("12 ms", 2_800, 0.05),
        ("100 ms", 23_300, 0.05),
        ("1 s", 233_000, 0.05),
    ):
        short = f"./work-{name.replace(' ', '')}"
        for version, factor in (("", 1.0), ("-again", 1.0), ("-more", 1 + share)):
            build(folder / f"{short}{version}", round(rounds * factor))
        found.append(_pair(f"C {name}, equal", short, f"{short}-again", EQUAL))
        found.append(_pair(f"C {name}, +5 %", short, f"{short}-more", SLOWER))
        if name == "12 ms":
            found.append(_pair(f"C {name}, -5 %", f"{short}-more", short, FASTER))
    for version, rounds in (("", 700_000), ("-more", 735_000)):
        build(folder / f"work-3s{version}", rounds)
    return [*found, _pair("C 3 s, +5 %", "./work-3s", "./work-3s-more", SLOWER)]


def _sleep(_: Path) -> list[Comparison]:
    return [replace(_pair("sleep 10 s, +5 %", "sleep 10", "sleep 10.5", SLOWER), is_long=True)]


_PYTHON_LOOP = """import sys
words = {}
for number in range(int(sys.argv[1])):
    key = "word %d" % (number * 7919 % 1009)
    words[key] = words.get(key, 0) + 1
print(len(words))
"""


def _python(folder: Path) -> list[Comparison]:
    for name in ("count.py", "again.py"):
        (folder / name).write_text(_PYTHON_LOOP)
    python = shlex.quote(sys.executable)
    start = f"{python} -c"
    return [
        _pair("Python, equal", f"{python} count.py 200000", f"{python} again.py 200000", EQUAL),
        _pair("Python, +5 %", f"{python} count.py 200000", f"{python} count.py 212000", SLOWER),
        _pair("Python imports", f"{start} 'import json'", f"{start} 'import json, decimal, http.client'", SLOWER),
    ]


_NODE_LOOP = """const words = new Map();
const times = Number(process.argv[2]);
for (let number = 0; number < times; number++) {
  const key = "word " + (number * 7919) % 1009;
  words.set(key, (words.get(key) || 0) + 1);
}
console.log(words.size);
"""


def _node(folder: Path) -> list[Comparison]:
    for name in ("count.js", "again.js"):
        (folder / name).write_text(_NODE_LOOP)
    return [
        _pair("Node, equal", "node count.js 1000000", "node again.js 1000000", EQUAL),
        _pair("Node, +5 %", "node count.js 1000000", "node count.js 1080000", SLOWER),
    ]


def _files(folder: Path) -> list[Comparison]:
    """Pipelines, sort, gzip and xz on a text, on a copy of it, and on a text with 5 % more lines."""
    drawn = random.Random(1)
    words = [f"{drawn.randrange(10**6):x}" for _ in range(5_000)]
    lines = [" ".join(drawn.choices(words, k=6)) for _ in range(63_000)]
    for name, many in (("text", 60_000), ("copy", 60_000), ("more", 63_000)):
        (folder / name).write_text("".join(f"{line}\n" for line in lines[:many]))
        (folder / f"{name}-small").write_text("".join(f"{line}\n" for line in lines[: many // 4]))
    commands = {
        "shell pipeline": ("cut -d' ' -f1 {} | sort | uniq -c | sort -rn | head -3", ("--shell",)),
        "sort": ("sort {}", ()),
        "gzip": ("gzip -6 -c {}", ()),
        "xz": ("xz -1 -c {}-small", ()),
    }
    found = []
    for name, (command, options) in commands.items():
        text, copy, more = (command.format(file) for file in ("text", "copy", "more"))
        found.append(_pair(f"{name}, equal", text, copy, EQUAL, *options))
        found.append(_pair(f"{name}, +5 %", text, more, SLOWER, *options))
    return [*found, _pair("gzip -1 to -9", "gzip -1 -c text", "gzip -9 -c text", SLOWER)]


# At -O1 gcc calls small functions that other code might call too; at -O2 it inlines them into the loop.
_POINTS = """#include "points.h"
int clamp(int value, int low, int high) { return value < low ? low : value > high ? high : value; }
unsigned mix(unsigned hash, unsigned value) { return (hash ^ value) * 16777619u; }
unsigned cell(const int *grid, int x, int y) { return grid[clamp(y, 0, SIDE - 1) * SIDE + clamp(x, 0, SIDE - 1)]; }
unsigned around(const int *grid, int x, int y) {
    unsigned hash = 2166136261u;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) hash = mix(hash, cell(grid, x + dx, y + dy));
    return hash;
}
"""
_HEADER = "#define SIDE 256\nunsigned around(const int *grid, int x, int y);\n"
_MAIN = """#include <stdio.h>
#include "points.h"
static int grid[SIDE * SIDE];
int main(void) {
    unsigned sum = 0;
    for (int i = 0; i < SIDE * SIDE; i++) grid[i] = i * 2654435761u >> 16;
    for (int times = 0; times < 12; times++)
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) grid[y * SIDE + x] += (int)(sum += around(grid, x, y)) & 1;
    printf("%u\\n", sum);
    return 0;
}
"""
_MAKEFILE = """life: main.o points.o
\t$(CC) $(CFLAGS) -o $@ $^
main.o points.o: points.h
"""


def _builds(folder: Path) -> list[Comparison]:
    for name, level in (("O1", "-O1"), ("O2", "-O2"), ("O2-again", "-O2")):
        project = folder / f"life-{name}"
        project.mkdir()
        for file, text in (("points.c", _POINTS), ("points.h", _HEADER), ("main.c", _MAIN), ("Makefile", _MAKEFILE)):
            (project / file).write_text(text)
        subprocess.run(["make", "-s", "CC=gcc", f"CFLAGS={level}"], cwd=project, check=True, capture_output=True)
    return [
        _pair("two builds, -O1 to -O2", "./life-O1/life", "./life-O2/life", FASTER),
        _pair("two builds, equal", "./life-O2/life", "./life-O2-again/life", EQUAL),
    ]


_PYTEST = """import json

NUMBERS = list(range({numbers}))
TEXT = json.dumps({{str(n): [n] * 5 for n in range(200)}})


def test_sum(benchmark):
    benchmark(lambda: sum(n * n for n in NUMBERS))


def test_loads(benchmark):
    benchmark(json.loads, TEXT)
"""


def _pytest_benchmark(folder: Path) -> list[Comparison]:
    for name, numbers in (("old", 10_000), ("new", 10_500)):
        (folder / name).mkdir()
        (folder / name / "pytest.ini").write_text("[pytest]\n")
        (folder / name / "test_speed.py").write_text(_PYTEST.format(numbers=numbers))
    old, new = (f"{shlex.quote(sys.executable)} -m pytest {name}" for name in ("old", "new"))
    truths = {"test_speed.py::test_sum": SLOWER, "": EQUAL}
    return [Comparison("pytest-benchmark, +5 % in one", ("--harness", "auto", old, new), truths)]


_GOOGLE_BENCHMARK = """#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

static volatile unsigned sums = SUMS;

static void BM_Sum(benchmark::State& state) {
    for (auto _ : state) {
        unsigned sum = 0;
        for (unsigned i = 0; i < sums; i++) benchmark::DoNotOptimize(sum += i);
    }
}
BENCHMARK(BM_Sum);

static void BM_Sort(benchmark::State& state) {
    std::mt19937 random(1);
    std::vector<unsigned> numbers(2000);
    for (auto& number : numbers) number = random();
    for (auto _ : state) {
        auto copy = numbers;
        std::sort(copy.begin(), copy.end());
        benchmark::DoNotOptimize(copy.data());
    }
}
BENCHMARK(BM_Sort);

BENCHMARK_MAIN();
"""


def _google_benchmark(folder: Path) -> list[Comparison]:
    source = folder / "bench.cpp"
    source.write_text(_GOOGLE_BENCHMARK)
    for name, sums in (("bench", 10_000), ("bench-again", 10_000), ("bench-new", 10_500)):
        command: Sequence[str | Path] = ["g++", "-O2", f"-DSUMS={sums}", "-o", folder / name, source]
        subprocess.run([*command, "-lbenchmark", "-lpthread"], check=True, capture_output=True)
    words = ("--harness", "auto", "./bench")
    return [
        Comparison("Google Benchmark, equal", (*words, "./bench-again"), {"": EQUAL}),
        Comparison("Google Benchmark, +5 % in one", (*words, "./bench-new"), {"BM_Sum": SLOWER, "": EQUAL}),
    ]


_KINDS: Sequence[tuple[tuple[str, ...], Callable[[Path], list[Comparison]]]] = (
    (("cc",), _c_programs),
    ((), _sleep),
    ((), _python),
    (("node",), _node),
    (("sort", "gzip", "xz"), _files),
    (("gcc", "make"), _builds),
    ((), _pytest_benchmark),
    (("g++",), _google_benchmark),
)
