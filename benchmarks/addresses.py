"""How far two launches of one program differ with equal memory addresses, and with random ones.

    python benchmarks/addresses.py [--pairs N] [--programs A,B] [--minutes M]

Pairs of each kind of addresses and each way of pairing take turns, with their order and that of the sides drawn, so
that whatever else the machine does hits all of them alike; hash seed and size of the environment are drawn for each
pair, as in a weighing. The table shows the spread of a pair's log-ratio of `active`, and for pairs in tandem the
Hodges-Lehmann centre with the 95 % interval of the signed ranks, which only chance makes differ from 0. In "with one
more allocation" the candidate allocates some memory before it begins, and never uses it.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field, replace
from itertools import product
from math import log
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from benchmarks.launches import spec_of
from benchmarks.simulation import table
from benchmarks.tandem import amounts_of, listed, programs
from benchmarks.tandem_estimate import active, shown
from steelyard.measure.launch import Launcher
from steelyard.model.launch_spec import MAPPING_PAGES, LaunchSpec
from steelyard.stats.summary import quartile_deviation

# Buffers on the heap, on the stack and in static data, and functions of the C library.
SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char table[8192];
static unsigned step(char **blocks, char *stack, unsigned state) {
    char text[32];
    for (int number = 0; number < 16; number++) {
        memcpy(stack, blocks[number] + (state & 63), 512);
        state = state * 31 + (unsigned char)stack[state & 511] + table[(state >> 3) & 8191];
        blocks[number][state & 4095] = state;
    }
    return state + snprintf(text, sizeof text, "%u", state) + text[0];
}
int main(int count, char **words) {
    char *blocks[16], stack[2048] = {0};
    char *volatile unused = count > 2 ? malloc(1024 * atol(words[2])) : 0;
    if (unused) unused[0] = 1;
    for (int number = 0; number < 16; number++) blocks[number] = calloc(1, 4096 + 16 * number);
    unsigned state = 1;
    for (long round = atol(words[1]); round > 0; round--) state = step(blocks, stack, state);
    return state == 0;
}
"""
PERL = "my %h; for my $i (1..150000) { $h{$i % 977} .= $i % 7 } print length join q(), map { $h{$_} } sort keys %h"
MORE_KIB = (4, 12, 20, 40, 100)
OTHERS = ("blocks", "blocks, with one more allocation", "sort", "perl")
NAMES = ("loop of 45 ms", "4 MiB of memory", "CPython", "gzip", *OTHERS)
KINDS = tuple(product(("one after the other", "tandem"), ("own", "shared")))
HEADER = ("program", "pairs each", *(f"{way}, {kind}" for way, kind in KINDS), "change, own", "change, shared")


@dataclass
class Cell:
    """The log-ratios of a program's pairs, by their kind."""

    specs: list[tuple[LaunchSpec, LaunchSpec]]
    """Pairs of commands to draw from."""
    ratios: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, launcher: Launcher) -> None:
        """Run a pair of each kind."""
        for way, kind in random.sample(KINDS, len(KINDS)):
            first, begins = random.randrange(2), random.randrange(2)
            pages = random.randrange(MAPPING_PAGES) if kind == "shared" else None
            seed = random.randrange(1, 2**32)
            drawn = {"PYTHONHASHSEED": seed, "PERL_HASH_SEED": hex(seed), "PADDING": "x" * random.randrange(4096)}
            env = tuple(os.fsencode(f"{name}={value}") for name, value in drawn.items())
            specs = [replace(spec, mapping_pages=pages, env=env) for spec in random.choice(self.specs)]
            one, other = specs[first], specs[1 - first]
            if way == "tandem":
                both = launcher.launch_together(one, other, second_begins=bool(begins))
            else:
                both = launcher.launch(one), launcher.launch(other)
            before, after = both[first], both[1 - first]
            self.ratios[way, kind].append(log(active(after) / active(before)))

    def row(self) -> list[str]:
        """Return the row of the table."""
        spreads = [f"{quartile_deviation(np.array(self.ratios[kind])):.2%}" for kind in KINDS]
        changes = [shown(self.ratios["tandem", kind]) for kind in ("own", "shared")]
        return [str(len(self.ratios[KINDS[0]])), *spreads, *changes]


def cells_of(folder: Path, names: tuple[str, ...]) -> dict[str, Cell]:
    """The programs that are launched, of about 45 to 160 ms each."""
    known = {
        label: program.command(amounts_of(program).of(program.ms / 1e3))
        for label, program in programs(folder).items()
        if label in names
    }
    (folder / "blocks.c").write_text(SOURCE)
    blocks = str(folder / "blocks")
    subprocess.run(["cc", "-O2", "-o", blocks, str(folder / "blocks.c")], check=True)
    text = folder / "text"
    drawn = random.Random(1)
    text.write_text("".join(f"{drawn.getrandbits(200):x}\n" for _ in range(40_000)))
    known |= {"blocks": [blocks, "120000"], "sort": ["sort", str(text)], "perl": ["perl", "-e", PERL]}
    cells = {label: Cell([(spec_of(words), spec_of(words))]) for label, words in known.items() if label in names}
    if OTHERS[1] in names:
        shifted = [[blocks, "120000", str(more)] for more in MORE_KIB]
        cells[OTHERS[1]] = Cell([(spec_of([blocks, "120000"]), spec_of(words)) for words in shifted])
    return cells


def main(asked: argparse.Namespace) -> None:
    """Run a pair of each kind of every program in turn, and print the table so far now and then."""
    end = time.monotonic() + 60 * asked.minutes
    with tempfile.TemporaryDirectory() as name, Launcher() as launcher:
        cells = cells_of(Path(name), asked.programs)
        for number in range(1, asked.pairs + 1):
            for cell in random.sample([*cells.values()], len(cells)):
                cell.add(launcher)
            over = number == asked.pairs or time.monotonic() > end
            if over or number % 50 == 0:
                rows = [[label, *cell.row()] for label, cell in cells.items()]
                print(table(HEADER, rows) + "\n", flush=True)
            if over:
                return


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The spread of pairs by where their memory lies.")
    parser.add_argument("--pairs", type=int, default=200, help="of each kind")
    parser.add_argument("--programs", type=listed(NAMES), default=NAMES)
    parser.add_argument("--minutes", type=float, default=math.inf)
    main(parser.parse_args())
