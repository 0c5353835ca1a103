"""How pairs in tandem measure a change at the start of a program, by how long one of the two leads.

    python benchmarks/catching_up.py [--pairs N] [--programs A,B] [--change 0.01] [--leads 0,1,5] [--minutes M]

Of two launches at once, the one behind profits from what caches and branch predictors keep of the other one, and
catches up: if neither leads by more than that saves, a change is hidden. The programs are those of
benchmarks/tandem_programs.py, and a CPython with its whole start. A library that is loaded before them first computes
for some time, on one side longer by a part of the program's time: a change before all of the rest. Pairs of each way
take turns, in a drawn order. The table shows the centre of the signed ranks, by `active`, with its 95 % interval, the
spread of a pair, and the time of the unchanged side.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import log
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from benchmarks.launches import spec_of
from benchmarks.simulation import table
from benchmarks.tandem_estimate import active, drawn_for_a_pair, shown
from benchmarks.tandem_programs import SEVERAL, SUM, commands
from steelyard.measure.launch import LEAD_NS, Launcher
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.rows import ran_ns
from steelyard.stats.summary import quartile_deviation

ALONE = "one after the other"
SPIN = """
#include <stdlib.h>
__attribute__((constructor)) static void spin(void) {
    unsigned long left = strtoul(getenv("SPIN"), 0, 10), state = 88172645463325252ul;
    while (left--) { state ^= state << 13; state ^= state >> 7; state ^= state << 17; }
    if (!state) abort();
    unsetenv("LD_PRELOAD"); // not what it starts
}
"""
# Both sides first compute for this many rounds.
LEAST_ROUNDS = 100_000


@dataclass(frozen=True)
class Spinning:
    """A program that computes for some time before it begins, and how long all of it takes."""

    spec: LaunchSpec
    rounds_per_ns: float
    takes_ns: float
    starts_others: bool

    def longer_by(self, part: float) -> LaunchSpec:
        """The same, but longer by a part of the whole."""
        rounds = LEAST_ROUNDS + round(part * self.takes_ns * self.rounds_per_ns)
        return replace(self.spec, env=(*self.spec.env, b"SPIN=%09d" % rounds))


def programs(folder: Path, launcher: Launcher, wanted: list[str] | None) -> Iterator[tuple[str, Spinning]]:
    """Yield the programs that are installed."""
    library = folder / "spin.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-xc", "-", "-o", library], input=SPIN, text=True, check=True)
    preload = b"LD_PRELOAD=%b" % os.fsencode(library)
    least_ns, more_ns = (
        _cpu_ns(launcher, spec_of(["true"], (preload, b"SPIN=%d" % rounds)), least=True)
        for rounds in (LEAST_ROUNDS, 401 * LEAST_ROUNDS)
    )
    per_ns = 400 * LEAST_ROUNDS / (more_ns - least_ns)
    for label, words in [*commands(folder), ("CPython with its site", [sys.executable, "-c", SUM])]:
        program = shutil.which(words[0])
        if program is not None and (wanted is None or label in wanted):
            spec = spec_of(words, (b"LC_ALL=C", b"PATH=" + os.environb[b"PATH"], preload))
            takes_ns = _cpu_ns(launcher, replace(spec, env=(*spec.env, b"SPIN=%d" % LEAST_ROUNDS)))
            yield label, Spinning(spec, per_ns, takes_ns, label.startswith(SEVERAL))


def _cpu_ns(launcher: Launcher, spec: LaunchSpec, *, least: bool = False) -> float:
    found = [ran_ns(launcher.launch(spec)) for _ in range(15)]
    return float(min(found) if least else np.median(found))


class Ran(NamedTuple):
    """A pair: its log-ratio, and how long the unchanged side took, ms."""

    ratio: float
    ms: float


def run(launcher: Launcher, program: Spinning, change: float, lead_ms: float | None) -> Ran:
    """Run one pair, in tandem with a lead, or one after the other."""
    specs, first = drawn_for_a_pair([program.longer_by(0), program.longer_by(change)]), random.randrange(2)
    one, other = specs[first], specs[1 - first]
    if lead_ms is None:
        both = launcher.launch(one), launcher.launch(other)
    else:
        begins = bool(random.randrange(2))
        lead_ns, followed = round(lead_ms * 1e6), program.starts_others
        both = launcher.launch_together(one, other, second_begins=begins, followed=followed, lead_ns=lead_ns)
    unchanged, changed = active(both[first]), active(both[1 - first])
    return Ran(log(changed / unchanged), unchanged / 1e6)


def main(asked: argparse.Namespace) -> None:
    """Run a pair of each way of every program in turn, then print the tables."""
    end = time.monotonic() + 60 * asked.minutes
    ways = {ALONE: None} | {f"a lead of {lead:g} ms": lead for lead in asked.leads}
    pairs: defaultdict[tuple[str, str], list[Ran]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name, Launcher() as launcher:
        known = dict(programs(Path(name), launcher, asked.programs))
        for _ in range(asked.pairs):
            for label, program in known.items():
                for way in random.sample([*ways], len(ways)):
                    pairs[label, way].append(run(launcher, program, asked.change, ways[way]))
            if time.monotonic() > end:
                break
    ratios = {place: [one.ratio for one in found] for place, found in pairs.items()}
    read = [[label, *(shown(ratios[label, way]) for way in ways)] for label in known]
    print(f"{asked.change:+.1%} is read as:\n\n{table(('program', *ways), read)}\n")
    spread = [[label, *(f"{quartile_deviation(np.array(ratios[label, way])):.2%}" for way in ways)] for label in known]
    print(f"A pair spreads by:\n\n{table(('program', *ways), spread)}\n")
    takes = [
        [
            label,
            *(f"{np.median([one.ms for one in pairs[label, way]]):.1f}" for way in ways),
            f"{one.takes_ns / 1e6:.1f}",
        ]
        for label, one in known.items()
    ]
    print(f"The unchanged side takes, ms:\n\n{table(('program', *ways, 'to plant by'), takes)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The change that pairs in tandem read, by how long one leads.")
    parser.add_argument("--pairs", type=int, default=60, help="of each way")
    parser.add_argument("--programs", type=lambda text: text.split(","), help="all")
    parser.add_argument("--change", type=float, default=0.01)
    parser.add_argument("--leads", type=lambda text: [*map(float, text.split(","))], default=(0.0, LEAD_NS / 1e6))
    parser.add_argument("--minutes", type=float, default=math.inf)
    main(parser.parse_args())
