"""A benchmark of a container run first and last in one process, and alone in a process of its own.

    python experiments/heap_order/run.py [--quick]

Ends in tables, a figure and a sentence; experiments/README.md says what they show. Needs g++.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import expm1, log
from pathlib import Path
from random import Random
from statistics import median

from steelyard.design.check.session import CheckRequest, check_target
from steelyard.design.runner.draws import draw_pair
from steelyard.design.runner.runner import Runner
from steelyard.design.runner.target import Target
from steelyard.design.suite.selection import Selection
from steelyard.design.world import World
from steelyard.measure.heap import HeapWatcher
from steelyard.measure.launch import Launcher
from steelyard.model.heap import HeapLaunch
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.rows import judged_samples
from steelyard.model.settings import Settings
from steelyard.model.soundness import Looked
from steelyard.model.subject import Subject
from steelyard.report import figures
from steelyard.report.figures import duration
from steelyard.stats.signed_rank import estimate
from steelyard.subjects.command import command_subject, launch_maker
from steelyard.subjects.harness import Work
from steelyard.subjects.protocol import ProtocolHarness

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))

from experiments.ending import Page, begin, table
from experiments.figure import Row, rows
from experiments.launching import Change, built, folder

FIRST, LAST = "fill_first", "fill_last"
TOGETHER, APART = "first and last in one process", "each in a process of its own"
SEED = 1
LEVEL = 0.01
HEAP_LAUNCHES = 5

Pairs = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    pairs: int
    check_s: float


def main(effort: Effort) -> None:
    """Build, measure, and tell the results."""
    page = Page("heap_order")
    with folder() as place, Launcher() as launcher:
        runner, program = Runner(launcher), built(HERE / "containers.cpp", place / "containers")
        subject = command_subject(str(program), "containers", "measured", shell=False)
        found = {TOGETHER: _together(program, effort.pairs), APART: _apart(subject, runner, effort.pairs)}
        page.tell(f"## {FIRST} and {LAST}, the same benchmark", told(found))
        page.tell("## What the allocator takes of the processor time")
        page.tell(table(("process", "allocations", "share of the time, estimated"), _shares(subject, runner)))
        page.tell("## What `steelyard check` says", _findings(subject, effort.check_s))
    page.end(drawn(found), sentence(found))


def _together(program: Path, launches: int) -> Pairs:
    """Return the times of the first and of the last benchmark in the same process, in ns."""
    found = []
    for _ in range(launches):
        done = subprocess.run([program, "--together"], capture_output=True, text=True, check=True)
        first, last = map(float, done.stdout.split())
        found.append((first, last))
    return found


def _apart(subject: Subject, runner: Runner, pairs: int) -> Pairs:
    """Return the times of both in fresh processes, in pairs whose order is drawn at random, in ns."""
    harness, random = ProtocolHarness(), Random(SEED)
    make = launch_maker(subject, Settings(metrics=["active"]), {})
    found = []
    for number in range(pairs):
        times = {}
        for name in random.sample((FIRST, LAST), 2):
            work = Work(name, 1, 6)
            measured = runner.run(harness.running(make(draw_pair(SEED, 0, number)), work))
            samples = judged_samples(harness.samples(measured, work))
            times[name] = median(sample.time_ns("active") or sample.ns for sample in samples)
        found.append((times[FIRST], times[LAST]))
    return found


def told(found: Mapping[str, Pairs]) -> str:
    """Return a table of both ways to run them."""
    lines = []
    for name, pairs in found.items():
        medians = [duration(median(times)) for times in zip(*pairs, strict=True)]
        lines.append([name, *medians, *changed(pairs).told()])
    return table(("how they were run", "first", "last", "last against first", "interval, 99 %"), lines)


def changed(pairs: Pairs) -> Change:
    """Return how much longer the last one takes."""
    found = estimate([log(two / one) for one, two in pairs], LEVEL)
    return Change(*map(expm1, (found.centre, found.lower, found.upper)))


def drawn(found: Mapping[str, Pairs]) -> str:
    """Return a figure of how much longer the last one took, pair by pair."""
    shown = [
        Row(name, [two / one for one, two in pairs], None, 1 + changed(pairs).change, colour)
        for colour, (name, pairs) in enumerate(found.items())
    ]
    axis = "time of the last, times that of the first"
    return rows("The same benchmark, first and last", axis, shown, told=told(found), reference=1.0, logarithmic=True)


def sentence(found: Mapping[str, Pairs]) -> str:
    """Return the result in a sentence."""
    together, apart = (changed(found[name]) for name in (TOGETHER, APART))
    return (
        f"Behind another benchmark in its process the same benchmark takes {figures.change(together.change)}"
        f"{'' if together.is_certain() else ', which is within the noise,'} and by itself "
        f"{figures.change(apart.change)} "
        f"({apart.told()[1]}), whatever its name and its place."
    )


def _shares(subject: Subject, runner: Runner) -> list[list[str]]:
    """Return what malloc and free take in a process that runs both, and in one for each: medians of a few launches."""
    harness = ProtocolHarness()
    plain = launch_maker(subject, Settings(), {})(draw_pair(SEED, 0, 0))
    launches = {"both in one": replace(plain, argv=(*plain.argv, b"--together"))}
    launches |= {f"{name} alone": harness.running(plain, Work(name, 1, 6)) for name in (FIRST, LAST)}
    return [[name, *_heap_of(launch, runner)] for name, launch in launches.items()]


def _heap_of(launch: LaunchSpec, runner: Runner) -> list[str]:
    uses = []
    for _ in range(HEAP_LAUNCHES):
        reading = runner.launch(Target("one of them", launch), HeapWatcher(), lambda reading: reading)
        use, measured = reading.value, reading.measured
        if use is None:
            raise SystemExit("the heap could not be watched: is native/heap built?")
        cpu_ns = measured.user_ns + measured.sys_ns
        uses.append(HeapLaunch(benchmark=0, side=0, use=use, wall_ns=measured.wall_ns, cpu_ns=cpu_ns))
    share = median(one.share() or 0.0 for one in uses)
    return [f"{median(one.use.allocations for one in uses):,.0f}", f"{share:.0%}"]


def _findings(subject: Subject, seconds: float) -> str:
    settings = Settings(metrics=["active"], harness="protocol", timeout_s=60)
    request = CheckRequest(subject=subject, settings=settings, selection=Selection(only=[FIRST, LAST]))
    found = check_target(request, World(), lambda progress: None, seconds=seconds)  # noqa: ARG005 - the table is short
    rows = [[one.benchmark, one.code, one.outcome, one.finding] for one in found.looked if _is_told(one)]
    return table(("benchmark", "rule", "outcome", "finding"), rows)


def _is_told(one: Looked) -> bool:
    return one.outcome != "sound" or one.code == "order"


if __name__ == "__main__":
    begin(main, __doc__, long=Effort(60, 60.0), quick=Effort(15, 24.0))
