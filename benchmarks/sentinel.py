"""The watch's fixed work: whether it shows which launches a machine has slowed down where no counter does.

    python benchmarks/sentinel.py [--seconds S] [--processor P]

A loop and a walk through 4 MiB are launched in turn for S seconds and watched. For each of them, and for the fixed work
in looks, the launch's own start (`spawn_ns`) and the counters (stolen time, the clock rate), the table shows how well
the figure distinguishes the slowest fifth of the launches from the quickest three fifths (the chance that it is higher
for one of the former; 0.5 is useless), and how much longer launches took where it is 3 % above its quickest quarter.
All times are without waits.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.launches import spec_of
from benchmarks.simulation import table
from steelyard.machine.watch.watcher import Watcher
from steelyard.measure import native
from steelyard.measure.launch import Launcher
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.watch import Stretch
from steelyard.stats.rank_sum import superiority
from steelyard.stats.shifts import chances_of_higher

FloatArray = npt.NDArray[np.float64]

WORKS: Mapping[str, Sequence[str]] = {
    "loop": ("linear-i32", "1023", "400000"),
    "walk": ("random-u64", "524287", "300000"),
}
SLOW = 1.03


def launched(seconds: float, processor: int | None) -> tuple[dict[str, list[Measured]], list[Stretch]]:
    """The launches of each work, and what was seen beside them."""
    found: dict[str, list[Measured]] = {work: [] for work in WORKS}
    specs = {work: _spec(words, processor) for work, words in WORKS.items()}
    until = time.monotonic() + seconds
    with Launcher() as launcher, Watcher({launcher.server_pid}, processor) as watcher:
        while time.monotonic() < until:
            for work, spec in specs.items():
                found[work].append(launcher.launch(spec))
    return found, watcher.taken()


def _spec(words: Sequence[str], processor: int | None) -> LaunchSpec:
    return spec_of([str(native.PROBES), *words], cpus=None if processor is None else (processor,))


def seen(launches: Sequence[Measured], stretches: Sequence[Stretch]) -> dict[str, FloatArray]:
    """The value of each sign for each launch; launches of one stretch share its value."""
    ends = [one.end_ns for one in stretches]
    middles = [one.start_ns + one.wall_ns // 2 for one in launches]
    of_each = [stretches[min(place, len(ends) - 1)] for place in np.searchsorted(ends, middles)]
    return {
        "fixed work": np.array([one.work_ns for one in of_each], dtype=np.float64),
        "own start": np.array([one.spawn_ns for one in launches], dtype=np.float64),
        "stolen time": np.array([one.steal_ns or 0 for one in of_each], dtype=np.float64),
        "clock rate": np.array([-(one.mhz or 0) for one in of_each], dtype=np.float64),
    }


def told(sign: FloatArray, longer: FloatArray) -> tuple[str, ...]:
    """How well a sign distinguishes slow launches, as cells of the table."""
    low, high = np.quantile(longer, [0.6, 0.8])
    if np.ptp(sign) == 0:
        return ("the same all the time", "", "", "")
    chance = superiority(sign[longer <= low], sign[longer >= high])
    slow = sign > SLOW * np.quantile(sign, 0.25)
    by = np.expm1(np.median(longer[slow]) - np.median(longer[~slow])) if 0 < slow.sum() < len(slow) else 0.0
    return (f"{chance:.2f}", f"{slow.mean():.0%}", f"{by:+.1%}", f"{chances_of_higher(slow, longer)[0]:.3f}")


def main(words: argparse.Namespace) -> None:
    """Print the table."""
    launches, stretches = launched(words.seconds, words.processor)
    rows = []
    for work, measured in launches.items():
        active = np.log([one.wall_ns - (one.delay_ns or 0) for one in measured])
        longer = active - np.median(active)
        for name, sign in seen(measured, stretches).items():
            rows.append((work, str(len(measured)), f"{longer.std():.1%}", name, *told(sign, longer)))
    print(table(("work", "launches", "spread", "sign", "tells slow ones", "slow", "longer by", "chance of it"), rows))
    share = sum(one.cost_ns for one in stretches) / sum(one.end_ns - one.start_ns for one in stretches)
    print(f"\n{len(stretches)} looks: {share:.2%} of a processor")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0, help="of launches")
    parser.add_argument("--processor", type=int, help="that the launches are pinned to")
    main(parser.parse_args())
