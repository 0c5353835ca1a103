"""How often the interval of a suite's geometric mean holds the true mean, stopping included, with a known truth.

    python benchmarks/suite_mean.py [--minutes M] [--suites N] [--apart]

For M minutes it simulates weighings of each kind of noise and each change, as one of 20 benchmarks that share alpha.
Suites of 2 to 100 benchmarks are then drawn from these: all of one noise or of any, with the changes of a row. A cell
is the share of suites whose interval held the mean, and half of the interval's median width.

With --apart the suites are of two runs each, as `steelyard diff` compares them, under the noises and drifts of
benchmarks/diff_unpaired.py, with benchmarks that drift independently, and with ones that all drift alike.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from benchmarks.diff_unpaired import SESSIONS, Sessions
from benchmarks.simulation import SYNTHETIC, FloatArray, Noise, table, trace, weigh_once, window_of
from steelyard.stats.geometric_mean import geometric_mean
from steelyard.stats.unpaired import RunValues, judge_unpaired

ALPHA, MARGIN, MEMBERS, MOST_PAIRS = 0.01, 0.005, 20, 160
CHANGES = (0.0, 0.003, 0.01, -0.01, 0.03)
ROWS = {
    "no change": (0.0,),
    "all +0.3 %": (0.003,),
    "all +1 %": (0.01,),
    "half +1 %": (0.0, 0.01),
    "-1 to +3 %": CHANGES,
}
SIZES = (2, 5, 20, 100)
OF_A_RUN, OWN_NOISE = 200, 0.01
NOISES: dict[str, Noise] = {
    "ambient, active": window_of(trace("ambient", "active")),
    "bursts, wall": window_of(trace("bursts", "wall")),
    **{name: noise for name, noise in SYNTHETIC.items() if name != "heavy"},
}
# (noise, change) -> rows of (estimate, lower, upper) minus the true change, log-ratios
Errors = dict[tuple[str, float], FloatArray]


def weighed(minutes: float) -> Errors:
    """Simulate weighings of each noise and change in turn, until the time is up."""
    found: dict[tuple[str, float], list[tuple[float, float, float]]] = defaultdict(list)
    generator, end = np.random.default_rng(1), time.monotonic() + 60 * minutes
    while time.monotonic() < end:
        for (name, noise), change in product(NOISES.items(), CHANGES):
            sides = noise(generator, MOST_PAIRS) * np.array([1.0, 1.0 + change])
            one = weigh_once(sides, margin=MARGIN, alpha=ALPHA, members=MEMBERS)
            found[name, change].append((one.estimate.centre, one.lower, one.upper))
    return {key: np.array(rows) - np.log1p(key[1]) for key, rows in found.items()}


def cell(errors: Errors, names: tuple[str, ...], changes: tuple[float, ...], size: int, suites: int) -> str:
    """Return a cell: `suites` suites of a size, drawn from these noises and changes."""
    generator = np.random.default_rng(size)
    held, half_widths = 0, []
    for _ in range(suites):
        keys = [(str(generator.choice(names)), float(generator.choice(changes))) for _ in range(size)]
        drawn = np.array([generator.choice(errors[key]) for key in keys])
        known = drawn[np.isfinite(drawn).all(axis=1)]
        _, lower, upper = geometric_mean(*known.T, independent=True)
        held += lower <= 0.0 <= upper
        half_widths.append((upper - lower) / 2)
    return f"{held / suites:.1%}, {np.median(half_widths):.2%}"


def apart(sessions: Sessions, size: int, suites: int, *, alike: bool) -> str:
    """Return a cell: `suites` suites of two runs of one program each; if `alike`, all benchmarks share their drifts."""
    generator = np.random.default_rng(size)
    held, half_widths = 0, []
    for _ in range(suites):
        common = sessions(generator, OF_A_RUN)
        found = []
        for _ in range(size):
            one, other = (_noisier(side, generator) for side in common) if alike else sessions(generator, OF_A_RUN)
            judged = judge_unpaired(one, other, MARGIN, ALPHA / size)
            found.append((judged.shift.centre, judged.lower, judged.upper))
        known = np.array(found)[np.isfinite(found).all(axis=1)]
        if not len(known):
            continue
        _, lower, upper = geometric_mean(*known.T, independent=False)
        held += lower <= 0.0 <= upper
        half_widths.append((upper - lower) / 2)
    return f"{held / len(half_widths):.1%}, {np.median(half_widths):.2%}" if half_widths else "no interval"


def _noisier(side: RunValues, generator: np.random.Generator) -> RunValues:
    noise = OWN_NOISE * generator.standard_normal(len(side.logs))
    return RunValues(side.logs + noise, side.seconds, None if side.unwaited is None else side.unwaited + noise)


def show_apart(suites: int) -> None:
    """Print the table of two runs."""
    sizes = SIZES[1:3]
    rows = [
        (name, "alike" if alike else "each", *(apart(sessions, size, suites, alike=alike) for size in sizes))
        for (name, sessions), alike in product(SESSIONS.items(), (False, True))
    ]
    print(table(("sessions", "drift", *(f"{size} benchmarks" for size in sizes)), rows))


def main(minutes: float, suites: int) -> None:
    """Print the table."""
    errors = weighed(minutes)
    kinds: dict[str, tuple[str, ...]] = {**{name: (name,) for name in NOISES}, "any of these": (*NOISES,)}
    rows = [
        (kind, row, *(cell(errors, names, changes, size, suites) for size in SIZES))
        for (kind, names), (row, changes) in product(kinds.items(), ROWS.items())
    ]
    print(f"{min(map(len, errors.values()))} weighings of each kind or more")
    print(table(("noise", "changes", *(f"{size} benchmarks" for size in SIZES)), rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The interval of a suite's geometric mean, simulated.")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--suites", type=int, default=500)
    parser.add_argument("--apart", action="store_true", help="of two runs, measured one after the other")
    asked = parser.parse_args()
    if asked.apart:
        show_apart(asked.suites)
    else:
        main(asked.minutes, asked.suites)
