"""What watching the heap costs: programs that allocate much, with and without the preloaded library, in turns.

    python benchmarks/heap_overhead.py [LAUNCHES]

Each round has one launch without a library, one with ours, and one with a library that only passes calls on, in random
order: the last shows what it costs anyone to be called in place of the allocator. The times on a processor are
compared, and the table shows the medians of the rounds' ratios, with quartiles, as well as the calls of the allocator,
and the share of time in it as the library reports it.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.simulation import table
from benchmarks.words import whole_numbers
from steelyard.measure import heap
from steelyard.measure.launch import Launcher
from steelyard.measure.preloading import preloaded
from steelyard.model.heap import HeapUse
from steelyard.model.launch_spec import LaunchSpec

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
# The worst case: a block is allocated and freed again and again, and nothing is done with it.
NOTHING_ELSE = r"""
#include <cstdlib>
int main() { for (long i = 0; i < 20000000; i++) { void *volatile block = malloc(24 + (i & 63)); free(block); } }
"""
# Called in glibc's place, it only passes calls on.
PASSING_ON = r"""
void *__libc_malloc(unsigned long), *__libc_calloc(unsigned long, unsigned long);
void *__libc_realloc(void *, unsigned long);
void __libc_free(void *);
void *malloc(unsigned long bytes) { return __libc_malloc(bytes); }
void *calloc(unsigned long count, unsigned long bytes) { return __libc_calloc(count, bytes); }
void *realloc(void *block, unsigned long bytes) { return __libc_realloc(block, bytes); }
void free(void *block) { __libc_free(block); }
"""
PYTHON = "import json\nfor _ in range(40): json.loads(json.dumps([{'a': [i, str(i), None]} for i in range(4000)]))"


def main(launches: int) -> None:
    """Print the table."""
    rows = []
    with tempfile.TemporaryDirectory() as name, Launcher() as launcher:
        folder = Path(name)
        passing_on = _built(folder, "passing_on", PASSING_ON, "-x", "c", "-shared", "-fPIC")
        for title, words in _programs(folder).items():
            taken = Taken(launcher, [os.fsencode(word) for word in words], passing_on, folder)
            for _ in range(launches):
                taken.round()
            plain, use = statistics.median(taken.plain_ns), taken.use
            share = "" if use is None or use.allocator_ns is None else f"{use.allocator_ns / plain:.0%}"
            calls = 2 * use.allocations if use is not None else 0
            ratios = [quartiles(one) for one in (taken.watched_ratios, taken.passing_ratios)]
            rows.append((title, f"{plain / 1e6:.0f} ms", f"{calls / 1e6:.1f} million", share, *ratios))
            print(f"{title}: {'; passing on: '.join(ratios)}", file=sys.stderr, flush=True)
    header = ("program", "without", "calls", "in the allocator", "with the library over without", "passing on alone")
    print(table(header, rows))


def quartiles(ratios: list[float]) -> str:
    """The median, with the quartiles."""
    low, middle, high = statistics.quantiles(ratios, n=4)
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"


def _programs(folder: Path) -> dict[str, list[str | Path]]:
    every = [sys.executable, "-Sc", PYTHON]
    return {
        "words: maps, strings, vectors": [_built(folder, "words", WORDS)],
        "trees: a block for every node": [_built(folder, "trees", TREES)],
        "Python's json, PYTHONMALLOC=malloc": ["/usr/bin/env", "PYTHONMALLOC=malloc", *every],
        "malloc and free, and nothing else": [_built(folder, "nothing_else", NOTHING_ELSE)],
    }


def _built(folder: Path, name: str, source: str, *options: str) -> Path:
    file, program = folder / f"{name}.cpp", folder / name
    file.write_text(source)
    subprocess.run(["c++", "-O2", *options, "-o", program, file], check=True)
    return program


@dataclass
class Taken:
    """Launches of one program: the times without a library in ns, and the others' ratios to these, round by round."""

    launcher: Launcher
    words: list[bytes]
    passing_on: Path
    folder: Path
    plain_ns: list[float] = field(default_factory=list)
    watched_ratios: list[float] = field(default_factory=list)
    passing_ratios: list[float] = field(default_factory=list)
    use: HeapUse | None = None
    """What the library saw last."""

    def round(self) -> None:
        """Make one launch of each kind, in random order."""
        plain = LaunchSpec(self.words[0], tuple(self.words), ())
        times = {}
        with heap.HeapWatcher().attached(plain) as attachment:
            specs = {
                "plain": plain,
                "watched": attachment.spec,
                "passing": preloaded(plain, self.passing_on, {}),
            }
            for kind in random.sample(sorted(specs), 3):
                measured = self.launcher.launch(specs[kind])
                if measured.has_failed() or measured.cpu_ns is None:
                    raise SystemExit(f"{self.words[0]!r} failed, or its time is not known: {measured.stderr!r}")
                times[kind] = float(measured.cpu_ns)
                if kind == "watched":
                    self.use = attachment.read(measured)
        self.plain_ns.append(times["plain"])
        self.watched_ratios.append(times["watched"] / times["plain"])
        self.passing_ratios.append(times["passing"] / times["plain"])


if __name__ == "__main__":
    main(*whole_numbers(__doc__, launches=25))
