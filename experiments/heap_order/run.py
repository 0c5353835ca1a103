"""One benchmark of a container first and last in one process, and each in a process of its own.

    python experiments/heap_order/run.py [--quick]

Prints three tables as Markdown; experiments/README.md says what they show.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from math import expm1, log
from pathlib import Path
from random import Random
from statistics import median

from steelyard.design.check.session import check_target
from steelyard.design.runner.draws import draw_pair
from steelyard.design.runner.runner import Runner
from steelyard.design.runner.target import Target
from steelyard.design.world import World
from steelyard.measure.heap import HeapWatcher
from steelyard.measure.launch import Launcher
from steelyard.model.heap import HeapLaunch
from steelyard.model.launches import LaunchSpec, judged_samples
from steelyard.model.records import Settings, Subject
from steelyard.model.soundness import Looked
from steelyard.report.figures import duration
from steelyard.stats.signed_rank import estimate
from steelyard.subjects.command import command_subject, launch_maker
from steelyard.subjects.harness import Work
from steelyard.subjects.protocol import ProtocolHarness

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))

from experiments.linear_random.run import table

FIRST, LAST = "fill_first", "fill_last"
SEED = 1
LEVEL = 0.01
CHECK_SECONDS = 60.0
HEAP_LAUNCHES = 5

Pairs = Sequence[tuple[float, float]]


def main(pairs: int) -> None:
    """Build, measure, and print."""
    with tempfile.TemporaryDirectory(prefix="steelyard-") as folder, Launcher() as launcher:
        runner = Runner(launcher)
        program = _built(Path(folder))
        subject = command_subject(str(program), "containers", "measured", shell=False)
        print(f"## {FIRST} and {LAST}, the same benchmark\n")
        rows = [
            _row("first and last in one process", _together(program, pairs)),
            _row("each in a process of its own", _apart(subject, runner, pairs)),
        ]
        print(table(("how they were run", "first", "last", "last against first", "interval, 99 %"), rows), flush=True)
        print("\n## What the allocator takes of the processor time\n")
        print(table(("process", "allocations", "share of the time, estimated"), _shares(subject, runner)), flush=True)
        print("\n## What `steelyard check` says\n")
        print(_findings(subject))


def _built(folder: Path) -> Path:
    program = folder / "containers"
    header = HERE.parent.parent / "sdk/cpp"
    words = ["g++", "-std=c++17", "-O2", "-I", str(header), str(HERE / "containers.cpp"), "-o", str(program)]
    subprocess.run(words, check=True)
    return program


def _together(program: Path, launches: int) -> Pairs:
    """Times of the first and of the last in the same process, in ns."""
    found = []
    for _ in range(launches):
        done = subprocess.run([program, "--together"], capture_output=True, text=True, check=True)
        first, last = map(float, done.stdout.split())
        found.append((first, last))
    return found


def _apart(subject: Subject, runner: Runner, pairs: int) -> Pairs:
    """Times of both in fresh processes, in pairs whose order is drawn at random, in ns."""
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


def _row(name: str, pairs: Pairs) -> list[str]:
    first, last = (median(times) for times in zip(*pairs, strict=True))
    found = estimate([log(two / one) for one, two in pairs], LEVEL)
    low, high = (f"{100 * expm1(end):+.1f} %" for end in (found.lower, found.upper))
    return [name, duration(first), duration(last), f"{100 * expm1(found.centre):+.1f} %", f"{low} to {high}"]


def _shares(subject: Subject, runner: Runner) -> list[list[str]]:
    """What malloc and free take in a process that runs both, and in one for each: medians of a few launches."""
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


def _findings(subject: Subject) -> str:
    found = check_target(
        subject,
        Settings(metrics=["active"], harness="protocol", timeout_s=60),
        World(),
        lambda progress: None,  # noqa: ARG005 - the table is short
        only=[FIRST, LAST],
        seconds=CHECK_SECONDS,
    )
    rows = [[one.benchmark, one.code, one.outcome, one.finding] for one in found.looked if _is_told(one)]
    return table(("benchmark", "rule", "outcome", "finding"), rows)


def _is_told(one: Looked) -> bool:
    return one.outcome != "sound" or one.code == "order"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer launches, for a first look")
    main(20 if parser.parse_args().quick else 60)
