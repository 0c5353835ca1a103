"""The same program with environments and arguments of different sizes, its addresses fixed and drawn anew.

    python experiments/environment/run.py [--quick]

Ends in tables, a figure and a sentence; experiments/README.md says what they show. Needs gcc.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from experiments.ending import Conditions, Page, begin
from experiments.figure import curves
from experiments.launching import CALLS, ENVIRONMENT, Change, folder, in_rounds, launch_of
from experiments.surroundings import (
    ADDITIONS,
    SIZES,
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
# Seconds, by what was added (https://vstinner.github.io/journey-to-stable-benchmark-average.html).
ARGUMENTS = {
    "no argument": 0.201,
    "1 argument": 0.198,
    "3 arguments": 0.203,
    "5 arguments": 0.206,
    "6 arguments": 0.210,
}
VARIABLES = {"no variable": 0.201, "4 variables": 0.202, "5 variables": 0.198}
FIXED, DRAWN = "addresses fixed", "addresses drawn anew"
BY_ENVIRONMENT, BY_ARGUMENT, BY_CHANCE = (
    "environment, addresses fixed",
    "argument, addresses fixed",
    "any, addresses drawn",
)


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    scans: int
    rounds: int
    calls: int


def main(effort: Effort) -> None:
    """Scan the sizes with a program that is sensitive to them, then vary them for CPython as the source did."""
    page = Page("environment")
    with folder() as place, Launcher() as launcher:
        program = stack_program(place)
        scans = {
            BY_ENVIRONMENT: scanned(launcher, lambda size: _sized(program, size, 0), SIZES, effort.scans),
            BY_ARGUMENT: scanned(launcher, lambda size: _sized(program, 0, size), SIZES, effort.scans),
            # One round, because each launch has addresses of its own, so there is no least of several.
            BY_CHANCE: scanned(launcher, lambda size: _sized(program, size, 0, fixed=False), SIZES, 1),
        }
        page.tell(f"## A number across the end of a line, or of a page: {ADDITIONS:,} additions", told_of_scans(scans))
        kinds: dict[str, dict[str, Change]] = {}
        for kind, fixed in ((FIXED, True), (DRAWN, False)):
            kinds[kind] = {}
            for launches in _variants(effort.calls, fixed=fixed):
                found = in_rounds(launcher, launches, effort.rounds)
                kinds[kind] |= changed(found)
        alone = Conditions.of(launch for launches in found.values() for launch in launches)
    for heading, source in (("Arguments", ARGUMENTS), ("Variables of the environment", VARIABLES)):
        page.tell(
            f"## {heading} of `{CALLS.name}` that it ignores, {effort.rounds} rounds", told_of_variants(kinds, source)
        )
    page.tell(alone.told())
    page.end(drawn(scans), sentence(scans, kinds))


def _sized(program: Path, environment: int, argument: int, *, fixed: bool = True) -> LaunchSpec:
    words: list[str | Path] = [program, str(ADDITIONS), "x" * argument]
    return launch_of(words, {"PADDING": "x" * environment}, fixed=fixed)


def _variants(rounds: int, *, fixed: bool) -> list[dict[str, LaunchSpec]]:
    words: Sequence[str | Path] = (sys.executable, "-S", CALLS, str(rounds))
    fewer = ENVIRONMENT | SEED
    arguments = {
        name: launch_of([*words, *(f"arg{number}" for number in range(_added(name)))], fewer, fixed=fixed)
        for name in ARGUMENTS
    }
    variables = {
        name: launch_of(words, fewer | {f"VAR{number}": str(number) for number in range(_added(name))}, fixed=fixed)
        for name in VARIABLES
    }
    return [arguments, variables]


def _added(name: str) -> int:
    number = name.split()[0]
    return 0 if number == "no" else int(number)


def drawn(scans: Mapping[str, Scan]) -> str:
    """Return a figure of the time by size, each scan against its median."""
    axes = ("bytes more in the environment or in an argument", "times the median")
    return curves(
        "One program, by the size of what it ignores", axes, {name: curve(scan) for name, scan in scans.items()}
    )


def sentence(scans: Mapping[str, Scan], kinds: Mapping[str, Mapping[str, Change]]) -> str:
    """Return the result in a sentence."""
    size, more = slowest(scans[BY_ENVIRONMENT])
    moved = certain(kinds[FIXED])
    python = (
        f"CPython with fixed addresses is moved beyond the noise by {', '.join(moved)}"
        if moved
        else "of CPython, which the source saw move by 6 %, nothing is beyond the noise here"
    )
    if more < 0.1:
        return f"On this processor no size of the environment makes the program slower by 10 % or more; {python}."
    (_, argument), (_, chance) = slowest(scans[BY_ARGUMENT]), slowest(scans[BY_CHANCE])
    launches = len(scans[BY_CHANCE])
    return (
        f"With fixed addresses an environment of {size:,} bytes makes the same program {figures.percent(more)} slower "
        f"than most sizes do, and one length of an argument {figures.percent(argument)}; with addresses drawn anew "
        f"a launch meets that place by chance, and the slowest of {launches} was {figures.percent(chance)} slower; "
        f"{python}."
    )


if __name__ == "__main__":
    begin(main, __doc__, long=Effort(5, 30, 2000), quick=Effort(2, 15, 1500))
