"""How long samples in turn should be: how precise a pair whose samples alternate is, by the samples' length.

    python benchmarks/turn_lengths.py [PAIRS] [--lengths 50,100,200,400,1500] [--loaded]

Python statements are compared with themselves, each side with 40 ms of samples per launch whatever their length, and
the lengths of a statement take turns. For each length the table shows the time of an iteration, which longer samples
would change if refilling caches after the other side were a large part of it, and the robust spread of the pairs. With
--loaded there are bursts of other work.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.load import Bursts
from benchmarks.lockstep import PYTHON, difference, launch_of, lockstep, robust_spread
from benchmarks.simulation import table
from steelyard.design.suite.loops import iteration_ns
from steelyard.measure.launch import Launcher
from steelyard.model.launch_spec import LaunchSpec
from steelyard.subjects.harness import Work

LAUNCH_NS = 40_000_000
TURN_COST_NS = 10_000
# name: (what is timed, what runs before)
STATEMENTS = {
    "loop": ("for _ in range(500): state = state * 31 % 65537", "state = 1"),
    "dumps": ("dumps(rows)", "from json import dumps; rows = [[place / 7] * 4 for place in range(9)]"),
    "sorted": ("sorted(values)", "values = [place * 7919 % 1009 for place in range(300)]"),
    "crc 64 KiB": ("crc32(block)", "from zlib import crc32; block = bytes(1 << 16)"),
    "crc 1 MiB": ("crc32(block)", "from zlib import crc32; block = bytes(1 << 20)"),
    "copy": ("bytes(block)", "block = bytearray(200_000)"),
    "words": ("' '.join(word.upper() for word in words)", "words = ['word'] * 60"),
}


def main(pairs: int, lengths_us: Sequence[int], *, loaded: bool) -> None:
    """Run the pairs, and print a row for each statement and length as soon as it is known."""
    rows = []
    with Launcher() as launcher, Bursts() if loaded else nullcontext():
        for name, (statement, setup) in STATEMENTS.items():
            spec = launch_of([*PYTHON, statement, "--setup", setup])
            rows += _of_one(launcher, name, spec, pairs, lengths_us)
            print(table(["statement", "sample", "samples", "iteration", "spread of a pair"], rows) + "\n", flush=True)


def _of_one(launcher: Launcher, name: str, spec: LaunchSpec, pairs: int, lengths_us: Sequence[int]) -> list[list[str]]:
    tried = lockstep(launcher, (spec, spec), Work("timeit", 1, 20, seed=1), 0)
    works = {length: _work(length, iteration_ns(tried[0])) for length in lengths_us}
    differences, times = defaultdict[int, list[float]](list), defaultdict[int, list[float]](list)
    for _ in range(pairs):
        for length in random.sample([*works], len(works)):
            both = lockstep(launcher, (spec, spec), works[length], random.getrandbits(1))
            differences[length].append(100 * difference(both, "active"))
            times[length].append(median(sample.ns / sample.loops for sample in both[0]))
    rows = []
    for length, work in works.items():
        ns = median(times[length])
        sample, each = f"{ns * work.loops / 1000:.0f} µs", f"{ns / 1000:.3f} µs"
        rows.append([name, sample, str(work.samples), each, f"{robust_spread(differences[length]):.2f} %"])
    return rows


def _work(length_us: int, each_ns: float) -> Work:
    loops = max(1, round(1000 * length_us / each_ns))
    return Work("timeit", loops, max(8, round(LAUNCH_NS / (loops * each_ns + TURN_COST_NS))), seed=1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("pairs", type=int, nargs="?", default=20)
    parser.add_argument("--lengths", default="50,100,200,400,1500", metavar="A,B", help="in µs")
    parser.add_argument("--loaded", action="store_true", help="bursts of other work around")
    words = parser.parse_args()
    main(words.pairs, [*map(int, words.lengths.split(","))], loaded=words.loaded)
