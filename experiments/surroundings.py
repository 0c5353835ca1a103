"""The surroundings of a program: launches of the same work under different names, sizes and places.

For the experiments on the environment and the working directory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

from experiments.ending import table
from experiments.launching import Change, active_ns, built, changes, in_rounds
from steelyard.measure.launch import Launcher
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.report import figures

STACK = Path(__file__).resolve().parent / "environment" / "stack.c"
STEP = 16
"""The stack begins at a multiple of this many bytes."""
SIZES = range(0, 4096, STEP)
ADDITIONS = 1_000_000

Scan = Mapping[int, float]
"""Size -> the least processor time of some launches, in ns."""


def stack_program(place: Path) -> Path:
    """Build the program whose speed depends on where its stack begins."""
    return built(STACK, place / "stack")


def scanned(launcher: Launcher, launch: Callable[[int], LaunchSpec], sizes: Sequence[int], rounds: int) -> Scan:
    """Return the least time of each size, because other work only adds time."""
    found = in_rounds(launcher, {str(size): launch(size) for size in sizes}, rounds)
    return {int(size): least_ns(launches) for size, launches in found.items()}


def least_ns(launches: Sequence[Measured]) -> float:
    """Return the least processor time of some launches, in ns."""
    return float(min(launch.user_ns + launch.sys_ns if launch.cpu_ns is None else launch.cpu_ns for launch in launches))


def slowest(scan: Scan) -> tuple[int, float]:
    """Return the slowest size, and by how much it is above the median."""
    size = max(scan, key=lambda one: scan[one])
    return size, scan[size] / median(scan.values()) - 1


def told_of_scans(scans: Mapping[str, Scan]) -> str:
    """Return a table of scans."""
    lines = []
    for name, scan in scans.items():
        size, more = slowest(scan)
        least = min(scan.values()) / median(scan.values()) - 1
        known = [figures.duration(median(scan.values())), figures.change(least), figures.change(more)]
        lines.append([name, str(len(scan)), *known, f"{size:,}"])
    return table(("the same program", "sizes", "median", "fastest", "slowest", "at bytes"), lines)


def curve(scan: Scan) -> list[tuple[float, float]]:
    """Return the points of the scan, each size relative to the median."""
    centre = median(scan.values())
    return [(float(size), time / centre) for size, time in sorted(scan.items())]


def changed(found: Mapping[str, Sequence[Measured]]) -> dict[str, Change]:
    """Return how the others differ from the first in active time."""
    return changes({name: [active_ns(launch) for launch in launches] for name, launches in found.items()})


def certain(known: Mapping[str, Change]) -> list[str]:
    """Return the names of those that differ beyond the noise."""
    return [name for name, change in known.items() if change.is_certain()]


def told_of_variants(kinds: Mapping[str, Mapping[str, Change]], source: Mapping[str, float]) -> str:
    """Return a table of variants, each against the first, by kind of launches, beside the source's seconds."""
    first, *others = source
    header = ["", *(cell for kind in kinds for cell in (kind, "interval, 99 % for all")), "the source: time, change"]
    lines = [[first, *[""] * (2 * len(kinds)), f"{source[first] * 1e3:.0f} ms"]]
    for name in others:
        there = f"{source[name] * 1e3:.0f} ms, {figures.change(source[name] / source[first] - 1)}"
        lines.append([name, *(cell for known in kinds.values() for cell in known[name].told()), there])
    return table(header, lines)
