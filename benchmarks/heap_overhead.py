"""What watching the heap costs: programs that allocate much, with the library preloaded and without, in turns.

    python benchmarks/heap_overhead.py [LAUNCHES]

Each pair is one launch with and one without, in random order; what is compared is the time on a processor, and shown
is the median of the pairs' ratios, with their quartiles. Beside it: calls of the allocator, and what the library says
of the share of time in it.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.simulation import table
from steelyard.measure import heap
from steelyard.measure.launch import Launcher
from steelyard.model.heap import HeapUse
from steelyard.model.launches import LaunchSpec

# Sets, strings and vectors: 2.3 million blocks, a sixth of the time in the allocator.
WORDS = r"""
#include <cstdio>
#include <map>
#include <string>
#include <vector>
int main() {
    unsigned long state = 88172645463325252ul, total = 0;
    for (int round = 0; round < 4; round++) {
        std::map<std::string, std::vector<int>> words;
        for (int i = 0; i < 200000; i++) {
            state ^= state << 13; state ^= state >> 7; state ^= state << 17;
            words["a-word-with-a-long-prefix-" + std::to_string(state % 30000)].push_back(i);
        }
        for (auto &entry : words) total += entry.second.size() + entry.first.size();
    }
    return total == 0;
}
"""
# The game's binary trees: a block for every node, and next to nothing else.
TREES = r"""
struct Node { Node *left, *right; };
static Node *make(int depth) { return depth ? new Node{make(depth - 1), make(depth - 1)} : new Node{0, 0}; }
static long count(Node *node) { return node->left ? 1 + count(node->left) + count(node->right) : 1; }
static void drop(Node *node) { if (node->left) { drop(node->left); drop(node->right); } delete node; }
int main() {
    long total = 0;
    for (int depth = 4; depth <= 16; depth += 4)
        for (long i = 0; i < 1l << (20 - depth); i++) { Node *tree = make(depth); total += count(tree); drop(tree); }
    return total == 0;
}
"""
# The worst there is: a block is taken and given back, again and again, and nothing is done with it.
NOTHING_ELSE = r"""
#include <cstdlib>
int main() { for (long i = 0; i < 20000000; i++) { void *volatile block = malloc(24 + (i & 63)); free(block); } }
"""
PYTHON = "import json\nfor _ in range(40): json.loads(json.dumps([{'a': [i, str(i), None]} for i in range(4000)]))"


def main(launches: int) -> None:
    """The table."""
    rows = []
    with tempfile.TemporaryDirectory() as name, Launcher() as launcher:
        folder = Path(name)
        for title, words in _programs(folder).items():
            ratios, times, use = _measured(launcher, [os.fsencode(word) for word in words], folder, launches)
            low, middle, high = statistics.quantiles(ratios, n=4)
            calls = 2 * use.allocations
            share = "" if use.allocator_ns is None else f"{use.allocator_ns / statistics.median(times):.0%}"
            plain = f"{statistics.median(times) / 1e6:.0f} ms"
            ratio = f"{middle:.3f} ({low:.3f} to {high:.3f})"
            rows.append((title, plain, f"{calls / 1e6:.1f} million", share, ratio))
            print(f"{title}: {ratio}", file=sys.stderr, flush=True)
    header = ("program", "without", "calls", "in the allocator", "with the library over without (quartiles)")
    print(table(header, rows))


def _programs(folder: Path) -> dict[str, list[str | Path]]:
    every = [sys.executable, "-Sc", PYTHON]
    return {
        "words: maps, strings, vectors": [_built(folder, "words", WORDS)],
        "trees: a block for every node": [_built(folder, "trees", TREES)],
        "Python's json, PYTHONMALLOC=malloc": ["/usr/bin/env", "PYTHONMALLOC=malloc", *every],
        "malloc and free, and nothing else": [_built(folder, "nothing_else", NOTHING_ELSE)],
    }


def _built(folder: Path, name: str, source: str) -> Path:
    file, program = folder / f"{name}.cpp", folder / name
    file.write_text(source)
    subprocess.run(["c++", "-O2", "-o", program, file], check=True)
    return program


def _measured(
    launcher: Launcher, words: list[bytes], folder: Path, launches: int
) -> tuple[list[float], list[float], HeapUse]:
    """The ratios of the pairs, the times without the library in ns, and what it saw last."""
    ratios, plain_times, use = [], [], None
    plain = LaunchSpec(words[0], tuple(words), ())
    for _ in range(launches):
        times = {}
        for watched in random.sample((False, True), 2):
            with tempfile.TemporaryDirectory(dir=folder) as numbers:
                measured = launcher.launch(heap.watched(plain, Path(numbers)) if watched else plain)
                if measured.has_failed() or measured.cpu_ns is None:
                    raise SystemExit(f"{words[0]!r} failed, or its time is not known: {measured.stderr!r}")
                times[watched] = float(measured.cpu_ns)
                use = heap.read_use(Path(numbers)) if watched else use
        ratios.append(times[True] / times[False])
        plain_times.append(times[False])
    assert use is not None
    return ratios, plain_times, use


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("launches", nargs="?", type=int, default=25, help="pairs of launches of each program")
    main(parser.parse_args().launches)
