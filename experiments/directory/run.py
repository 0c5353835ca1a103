"""The same program started in several directories, and by several names.

    python experiments/directory/run.py [--quick]

Ends in tables, a figure and a sentence; experiments/README.md says what they show. Needs gcc.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from experiments.ending import Conditions, Page, begin
from experiments.figure import curves
from experiments.launching import CALLS, ENVIRONMENT, Change, folder, in_rounds, launch_of
from experiments.surroundings import (
    ADDITIONS,
    SIZES,
    STEP,
    Scan,
    certain,
    changed,
    curve,
    scanned,
    slowest,
    stack_program,
    told_of_scans,
    told_of_variants,
)
from steelyard.measure.launch import Launcher
from steelyard.model.launch_spec import LaunchSpec
from steelyard.report import figures

SEED = {"PYTHONHASHSEED": "3"}
# Seconds in each of the source's three directories, with the paths to Python and to the script relative to it
# (https://vstinner.github.io/journey-to-stable-benchmark-average.html).
SOURCE = {"beside Python": 0.215, "beside the script": 0.203, "above both": 0.200}
FIXED, DRAWN = "addresses fixed", "addresses drawn anew"
BY_NAME, BY_DIRECTORY, BY_PWD = "what it is called", "its directory", "its directory, told as PWD"
# A file's name must be shorter than the longest of SIZES.
LENGTHS = range(STEP, 240, STEP)


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    scans: int
    rounds: int
    calls: int


def main(effort: Effort) -> None:
    """Scan a program's names and directories, then vary CPython's directory as the source did."""
    page = Page("directory")
    with folder() as place, Launcher() as launcher:
        program = stack_program(place)
        for length in LENGTHS:
            _place(place, length).mkdir()
        scans = {
            BY_NAME: scanned(launcher, lambda size: _called(program, "x" * (1 + size)), SIZES, effort.scans),
            BY_DIRECTORY: scanned(
                launcher, lambda size: _within(program, _place(place, size)), LENGTHS, 10 * effort.scans
            ),
            BY_PWD: scanned(
                launcher, lambda size: _within(program, _place(place, size), told=True), LENGTHS, 10 * effort.scans
            ),
        }
        page.tell(f"## A number across the end of a line, or of a page: {ADDITIONS:,} additions", told_of_scans(scans))
        kinds: dict[str, dict[str, Change]] = {}
        for kind, fixed in ((FIXED, True), (DRAWN, False)):
            found = in_rounds(launcher, _variants(effort.calls, fixed=fixed), effort.rounds)
            kinds[kind] = changed(found)
        alone = Conditions.of(launch for launches in found.values() for launch in launches)
    heading = f"## `{CALLS.name}`, from three directories by relative paths, {effort.rounds} rounds"
    page.tell(heading, told_of_variants(kinds, SOURCE), alone.told())
    page.end(drawn(scans), sentence(scans, kinds))


def _place(place: Path, length: int) -> Path:
    return place / ("d" * length)


def _called(program: Path, name: str) -> LaunchSpec:
    return launch_of([program, str(ADDITIONS)], {}, named=name, fixed=True)


def _within(program: Path, directory: Path, *, told: bool = False) -> LaunchSpec:
    environment = {"PWD": str(directory)} if told else {}
    return launch_of([program, str(ADDITIONS)], environment, directory=directory, fixed=True)


def _variants(rounds: int, *, fixed: bool) -> dict[str, LaunchSpec]:
    python, environment = Path(sys.executable), ENVIRONMENT | SEED
    above = Path(os.path.commonpath([python, CALLS]))
    found = {}
    for name, directory in zip(SOURCE, (python.parent, CALLS.parent, above), strict=True):
        there = environment | {"PWD": str(directory)}
        words: list[str | Path] = [python, "-S", os.path.relpath(CALLS, directory), str(rounds)]
        found[name] = launch_of(
            words, there, named=f"./{os.path.relpath(python, directory)}", directory=directory, fixed=fixed
        )
    return found


def drawn(scans: Mapping[str, Scan]) -> str:
    """Return a figure of the time by length, each scan against its median."""
    axes = ("bytes of the name, or of the directory", "times the median")
    return curves(
        "One program, by its name and its directory", axes, {name: curve(scan) for name, scan in scans.items()}
    )


def sentence(scans: Mapping[str, Scan], kinds: Mapping[str, Mapping[str, Change]]) -> str:
    """Return the result in a sentence."""
    size, more = slowest(scans[BY_NAME])
    plain, told = (slowest(scans[name])[1] for name in (BY_DIRECTORY, BY_PWD))
    moved = certain(kinds[FIXED])
    python = (
        f"CPython differs beyond the noise {' and '.join(moved)}"
        if moved
        else "of CPython, which took 7 % longer in one of the source's directories, nothing is beyond the noise here"
    )
    if more < 0.1:
        return f"On this processor no name makes the program slower by 10 % or more; {python}."
    return (
        f"Called by a name of {size + 1:,} bytes the same program is {figures.percent(more)} slower than by most; its "
        f"directory by itself moves it by {figures.percent(plain)} at most, and told as PWD, as a shell does, by "
        f"{figures.percent(told)}; {python}."
    )


if __name__ == "__main__":
    begin(main, __doc__, long=Effort(5, 30, 2000), quick=Effort(2, 15, 1500))
