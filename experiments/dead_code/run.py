"""A program with and without uncalled functions: in one layout, averaged over layouts, and as copies of one file.

    python experiments/dead_code/run.py [--quick]

Ends in a table, a figure and a sentence; experiments/README.md says what they show. Needs gcc.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from steelyard.design.request import Request
from steelyard.design.session import measure
from steelyard.design.world import World
from steelyard.model.derived import Verdict
from steelyard.model.launches import Launches
from steelyard.model.records import Weighing
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark
from steelyard.report import figures
from steelyard.subjects.command import command_subject

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))

from experiments.ending import Conditions, Page, begin, table
from experiments.figure import Row, rows
from experiments.launching import compiled, folder

COMPILER = ("gcc", "-O2")
ROUNDS = 300
# A change of one layout must be this large to count, and the average of many is known to within this.
MOVED, MARGIN = 0.02, 0.04
COPIES = 10
# https://vstinner.github.io/journey-to-stable-benchmark-deadcode.html
SOURCE = 0.06
TITLES = ("the two sides", "builds of each", "verdict", "change", "interval, 99 %", "each layout by itself")


@dataclass(frozen=True)
class Effort:
    """How many layouts are averaged, and how many are tried to find one that changes the speed."""

    layouts: int
    most_tried: int


@dataclass(frozen=True)
class Weighed:
    """The result of one weighing."""

    verdict: Verdict
    launches: Launches


def main(effort: Effort) -> None:
    """Build, weigh, and tell the results."""
    page, layouts = Page("dead_code"), effort.layouts
    with folder() as place:
        world = World(environment={**os.environ, "XDG_STATE_HOME": str(place / "state")})
        alone, tried = _one_layout(place, world, effort.most_tried)
        for layout in range(1, layouts + 1):
            build(place / f"old-{layout}", drawn_functions(layout))
            build(place / f"new-{layout}", [*functions(1), *drawn_functions(layouts + layout)])
        averaged = _weighed(place, "old", "new", world, MARGIN, layouts)
        for copy in range(1, COPIES + 1):
            for side in ("one", "other"):
                shutil.copy(place / "old-1", place / f"{side}-{copy}")
        copies = _weighed(place, "one", "other", world, MARGIN, COPIES)
    known = {
        "an unused function more, one layout": alone.verdict,
        "an unused function more, layouts averaged": averaged.verdict,
        "copies of one file": copies.verdict,
    }
    page.tell(told(known), Conditions.of(copies.launches.rows()).told())
    page.end(drawn(known), sentence(alone.verdict, tried, averaged.verdict))


def told(known: Mapping[str, Verdict]) -> str:
    """Return a table of the weighings, beside the source's."""
    lines = [_row(name, verdict) for name, verdict in known.items()]
    lines.append(["the source: two unused functions in CPython", "1", "", figures.change(SOURCE), "", ""])
    return table(TITLES, lines)


def drawn(known: Mapping[str, Verdict]) -> str:
    """Return a figure of each layout's own change, and the change with its interval."""
    shown = []
    for colour, (name, verdict) in enumerate(known.items()):
        each = [] if verdict.layouts is None else [100 * change for change in verdict.layouts.changes.values()]
        low, high = verdict.interval or (verdict.change or 0.0,) * 2
        shown.append(Row(name, each, (100 * low, 100 * high), 100 * (verdict.change or 0.0), colour))
    return rows("A function that nobody calls", "% slower", shown, told=told(known), reference=0.0)


def functions(count: int, seed: int = 0) -> list[str]:
    """Return functions in C that nobody calls, of random length."""
    drawn = Random(seed)
    return [_function(f"unused_{seed}_{number}", drawn) for number in range(count)]


def _function(name: str, drawn: Random) -> str:
    steps = [
        f"    x = x * {drawn.randrange(3, 9999)}u + {drawn.randrange(9999)}u; x ^= x >> {drawn.randrange(1, 31)};"
        for _ in range(drawn.randrange(1, 12))
    ]
    return "\n".join([f"unsigned {name}(unsigned x) {{", *steps, "    return x;", "}"])


def drawn_functions(seed: int) -> list[str]:
    """Return up to seven of them, which make a layout."""
    return functions(Random(seed).randrange(8), seed)


def build(program: Path, unused: list[str]) -> None:
    """Compile the program after functions that nobody calls; its own code is compiled only once.

    Raises MeasurementError if there is no compiler.
    """
    source = program.with_suffix(".c")
    source.write_text("\n".join([*unused, "typedef int none;\n"]))
    own = program.parent / "count.o"
    if not own.exists():
        compiled(HERE / "count.c", [*COMPILER, "-c", str(HERE / "count.c"), "-o", str(own)])
    compiled(source, [*COMPILER, str(source), str(own), "-o", str(program)])


def _one_layout(place: Path, world: World, most_tried: int) -> tuple[Weighed, int]:
    """Return the first layout in which an unused function makes the program slower by enough, else the slowest.

    Beside it, the number of layouts that were tried.
    """
    found: list[Weighed] = []
    for layout in range(1, most_tried + 1):
        build(place / "without", drawn_functions(layout))
        build(place / "with", [*functions(1), *drawn_functions(layout)])
        found.append(_weighed(place, "without", "with", world, MOVED))
        if found[-1].verdict.verdict == "slower" and _moved(found[-1].verdict):
            return found[-1], layout
    return max(found, key=lambda one: one.verdict.change or 0.0), most_tried


def _moved(verdict: Verdict) -> bool:
    return abs(verdict.change or 0.0) >= MOVED


def _weighed(place: Path, baseline: str, candidate: str, world: World, margin: float, layouts: int = 0) -> Weighed:
    several = "-{layout}" if layouts else ""
    names = [f"{place / name}{several}" for name in (baseline, candidate)]
    subjects = [command_subject(f"{name} {ROUNDS}", name, name, shell=False) for name in names]
    settings = Settings(metrics=["active"], margin=margin, layouts=layouts, pairs=8 * (layouts or 10), max_time_s=120)
    request = Request(subjects, settings, [Benchmark(name="count")])
    outcome = measure(request, lambda progress: None, world)  # noqa: ARG005 - the table is short
    if outcome.error is not None:
        raise outcome.error
    record = outcome.record
    if not isinstance(record, Weighing) or record.derived is None:
        raise SystemExit("nothing was measured")
    return Weighed(record.derived.verdicts[0], record.launches)


def _row(what: str, verdict: Verdict) -> list[str]:
    interval = "none" if verdict.interval is None else " to ".join(map(figures.change, verdict.interval))
    changes = [] if verdict.layouts is None else sorted(verdict.layouts.changes.values())
    each = f"{figures.change(changes[0])} to {figures.change(changes[-1])}" if changes else ""
    builds = str(len(changes) or 1)
    return [what, builds, verdict.verdict, figures.change(verdict.change or 0.0), interval, each]


def sentence(alone: Verdict, tried: int, averaged: Verdict) -> str:
    """Return the result in a sentence."""
    if alone.verdict != "slower" or not _moved(alone):
        return (
            f"This machine does not show it: in none of {tried} layouts an unused function made the program slower by "
            f"{figures.percent(MOVED)} or more."
        )
    moved, mean = figures.extent(alone.change or 0.0), figures.change(averaged.change or 0.0)
    return (
        f"A function that nobody calls made one build slower by {moved} (the first such of {tried} layouts); averaged "
        f"over layouts it is {averaged.verdict} ({mean})."
    )


if __name__ == "__main__":
    begin(main, __doc__, long=Effort(100, 30), quick=Effort(12, 4))
