"""A program with and without functions that nobody calls: by one layout, with layouts averaged, and copies of one file.

    python experiments/dead_code/run.py [--quick]

Prints a table as Markdown, and a sentence; experiments/README.md says what they show. Needs gcc.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

from steelyard.design.request import Request
from steelyard.design.session import measure
from steelyard.design.world import World
from steelyard.model.errors import SteelyardError
from steelyard.model.records import Benchmark, Settings, Verdict, Weighing
from steelyard.report import figures
from steelyard.subjects.command import command_subject

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))

from experiments.linear_random.run import table

COMPILER = ("gcc", "-O2")
ROUNDS = 300
# One layout is told from another by so much, and the average of many is known to so much.
MOVED, MARGIN = 0.02, 0.04
MOST_TRIED = 30
COPIES = 10
TITLES = ("the two sides", "builds of each", "verdict", "change", "interval, 99 %", "each layout by itself")


def main(layouts: int) -> None:
    """Build, weigh, and print each row as soon as it is known."""
    with tempfile.TemporaryDirectory(prefix="steelyard-") as name:
        folder = Path(name)
        world = World(environment={**os.environ, "XDG_STATE_HOME": str(folder / "state")})
        alone, tried = _one_layout(folder, world)
        rows = [_row("an unused function more, one layout", 1, alone)]
        for layout in range(1, layouts + 1):
            build(folder / f"old-{layout}", drawn_functions(layout))
            build(folder / f"new-{layout}", [*functions(1), *drawn_functions(layouts + layout)])
        averaged = _weighed(folder, "old", "new", world, layouts)
        rows.append(_row("an unused function more, layouts averaged", layouts, averaged))
        for copy in range(1, COPIES + 1):
            for side in ("one", "other"):
                shutil.copy(folder / "old-1", folder / f"{side}-{copy}")
        rows.append(_row("copies of one file", COPIES, _weighed(folder, "one", "other", world, COPIES)))
        print(table(TITLES, rows))
        print(f"\n{_sentence(alone, tried, averaged)}")


def functions(count: int, seed: int = 0) -> list[str]:
    """Functions in C that nobody calls, of random length."""
    drawn = Random(seed)
    return [_function(f"unused_{seed}_{number}", drawn) for number in range(count)]


def _function(name: str, drawn: Random) -> str:
    steps = [
        f"    x = x * {drawn.randrange(3, 9999)}u + {drawn.randrange(9999)}u; x ^= x >> {drawn.randrange(1, 31)};"
        for _ in range(drawn.randrange(1, 12))
    ]
    return "\n".join([f"unsigned {name}(unsigned x) {{", *steps, "    return x;", "}"])


def drawn_functions(seed: int) -> list[str]:
    """Up to seven of them: what makes a layout."""
    return functions(Random(seed).randrange(8), seed)


def build(program: Path, unused: list[str]) -> None:
    """Compile the program behind functions that nobody calls; its own code once."""
    source = program.with_suffix(".c")
    source.write_text("\n".join([*unused, "typedef int none;\n"]))
    own = program.parent / "count.o"
    if not own.exists():
        subprocess.run([*COMPILER, "-c", str(HERE / "count.c"), "-o", str(own)], check=True)
    subprocess.run([*COMPILER, str(source), str(own), "-o", str(program)], check=True)


def _one_layout(folder: Path, world: World) -> tuple[Verdict, int]:
    """The first layout in which an unused function makes it slower by enough, else the one that it moved most.

    With how many were tried.
    """
    found: list[Verdict] = []
    for layout in range(1, MOST_TRIED + 1):
        build(folder / "without", drawn_functions(layout))
        build(folder / "with", [*functions(1), *drawn_functions(layout)])
        found.append(_weighed(folder, "without", "with", world))
        if found[-1].verdict == "slower" and _moved(found[-1]):
            return found[-1], layout
    return max(found, key=lambda verdict: verdict.change or 0.0), MOST_TRIED


def _moved(verdict: Verdict) -> bool:
    return abs(verdict.change or 0.0) >= MOVED


def _weighed(folder: Path, baseline: str, candidate: str, world: World, layouts: int = 0) -> Verdict:
    several = "-{layout}" if layouts else ""
    names = [f"{folder / name}{several}" for name in (baseline, candidate)]
    subjects = [command_subject(f"{name} {ROUNDS}", name, name, shell=False) for name in names]
    settings = Settings(metrics=["active"], margin=MARGIN, layouts=layouts, pairs=8 * (layouts or 10), max_time_s=120)
    request = Request(subjects, settings, [Benchmark(name="count")])
    outcome = measure(request, lambda progress: None, world)  # noqa: ARG005 - the table is short
    if outcome.error is not None:
        raise outcome.error
    record = outcome.record
    if not isinstance(record, Weighing) or record.derived is None:
        raise SystemExit("nothing was measured")
    return record.derived.verdicts[0]


def _row(what: str, builds: int, verdict: Verdict) -> list[str]:
    interval = "none" if verdict.interval is None else " to ".join(map(figures.change, verdict.interval))
    changes = [] if verdict.layouts is None else sorted(verdict.layouts.changes.values())
    each = f"{figures.change(changes[0])} to {figures.change(changes[-1])}" if changes else ""
    return [what, str(builds), verdict.verdict, figures.change(verdict.change or 0.0), interval, each]


def _sentence(alone: Verdict, tried: int, averaged: Verdict) -> str:
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
    parser = argparse.ArgumentParser(description="Functions that nobody calls, by one layout and by many.")
    parser.add_argument("--quick", action="store_true", help="fewer layouts, for a first look")
    try:
        main(30 if parser.parse_args().quick else 100)
    except SteelyardError as error:
        raise SystemExit(str(error)) from None
