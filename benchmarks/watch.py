"""The watch: whether it affects what it watches, what it costs, and whether it names the right disturber.

    python benchmarks/watch.py [--seconds S] [--planted N] [--processor P]

First it launches the demo's program (20 ms), watched and unwatched in adjacent pairs whose order is drawn, for S
seconds. A look that is due beside an unwatched launch waits for the next watched one, so that these have twice the
looks of a weighing. The means over blocks of 50 pairs are judged as `steelyard compare` judges a pair, at a margin of
0.2 %. From the same blocks come the processor time of the looks, and how much longer a launch with a look in it is than
the two around it.

Then it makes N measurements by the installed `steelyard run`, as a weighing would end as soon as its verdict stands or
is out of reach. Each has a disturber planted beside the middle of it: a program with a name of its own that works all
the time, in bursts of 0.05 to 1.5 s, or by children of 0.1 s, pinned to the processor of the launches or to another
one. It is named if its name is among the up to three in the report, and first if it comes first; it is in the record if
it was tied to launches.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.processes import STEELYARD, build, read_record, run, stoppable, with_own_store
from benchmarks.simulation import table
from steelyard.machine.watch.watcher import Watcher
from steelyard.measure.launch import Launcher
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.watch import Disturber
from steelyard.report.disturbances import disturbers_sentence
from steelyard.stats.paired import judge

MARGIN, ALPHA = 0.002, 0.01
# 4,700 rounds of the demo's program take about 20 ms; a block lasts a second, with two or three looks in it.
ROUNDS, A_BLOCK = 4700, 50
NAMES = (
    "cc1plus", "rustc", "chrome", "node", "java", "postgres", "mysqld", "ffmpeg", "gzip", "rsync",
    "updatedb", "dockerd", "clamscan", "runner", "webpack", "ld.lld", "gopls", "tracker-miner", "make", "backup",
)  # fmt: skip
KINDS = ("steady", "bursts", "children")
# Beside the middle of the launches.
BEGINS_S, ENDS_S, LASTS_S = 1.0, 3.0, 4
STEADY = "while :; do :; done"
# Loops of a shell take about 0.5 us each.
BURSTS = "while :; do i=0; while [ $i -lt {loops} ]; do i=$((i + 1)); done; sleep {pause}; done"
CHILD = "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done"


@dataclass
class Blocks:
    """The mean of each block in ns, watched or not, and how long the looks took."""

    active: dict[bool, list[float]] = field(default_factory=lambda: {False: [], True: []})
    wall: dict[bool, list[float]] = field(default_factory=lambda: {False: [], True: []})
    looks: int = 0
    cost_ns: int = 0
    watched_ns: int = 0
    launches: int = 0
    """The launches of the watched blocks."""
    with_look: list[float] = field(default_factory=list)
    """ln(active time over that of the two around it) of each launch in which a look fell."""

    def effect(self) -> tuple[float, float, float]:
        """How much longer launches with a look are, its standard error, and how much longer that makes all launches."""
        longer = float(np.mean(self.with_look))
        error = float(np.std(self.with_look, ddof=1)) / len(self.with_look) ** 0.5
        return longer, error, longer * len(self.with_look) / self.launches

    def verdict(self, metric: dict[bool, list[float]]) -> tuple[str, ...]:
        """The verdict and figures of a metric."""
        without, watched = (np.array(metric[is_watched]) for is_watched in (False, True))
        judged = judge(lambda count: (without[:count], watched[:count]), len(without), MARGIN, ALPHA, ended=True)
        if judged is None:
            return ("too few", "", "", str(len(without)))
        ends = (np.expm1(end) * 100 for end in (judged.lower, judged.upper))
        interval = ", ".join(f"{end:+.3f} %" for end in ends)
        return (judged.verdict, f"{100 * np.expm1(judged.estimate.centre):+.3f} %", f"[{interval}]", str(len(without)))


def weigh(program: Path, seconds: float, processor: int | None) -> Blocks:
    """Weigh watched blocks against unwatched ones."""
    spec = LaunchSpec(
        program=os.fsencode(program),
        argv=(os.fsencode(program),),
        env=(),
        cpus=None if processor is None else (processor,),
    )
    blocks, until = Blocks(), time.monotonic() + seconds
    with Launcher() as launcher:
        while time.monotonic() < until:
            _block(launcher, spec, blocks)
    return blocks


class Gated(Watcher):
    """A watcher that looks only while the gate is open; closing it waits for the end of a look."""

    gate = threading.Lock()

    def look(self) -> int:
        """Wait for the gate, and look."""
        with self.gate:
            return super().look()


def _block(launcher: Launcher, spec: LaunchSpec, blocks: Blocks) -> None:
    watcher = Gated({launcher.server_pid}, spec.cpus[0] if spec.cpus else None)
    launched: list[tuple[bool, Measured]] = []
    with watcher:
        for _ in range(A_BLOCK):
            for is_watched in random.sample((False, True), 2):
                with nullcontext() if is_watched else watcher.gate:
                    launched.append((is_watched, launcher.launch(spec)))
    for is_watched in (False, True):
        mine = [one for watched, one in launched if watched == is_watched]
        blocks.wall[is_watched].append(float(np.mean([one.wall_ns for one in mine])))
        blocks.active[is_watched].append(float(np.mean([one.wall_ns - (one.delay_ns or 0) for one in mine])))
    # Looks at the ends of a block are outside of its launches, and come once per weighing.
    stretches = watcher.taken()[:-1]
    blocks.looks += len(stretches)
    blocks.cost_ns += sum(one.cost_ns for one in stretches)
    blocks.watched_ns += sum(one.end_ns - one.start_ns for one in stretches)
    blocks.launches += A_BLOCK
    looks = [(one.end_ns, one.end_ns + one.cost_ns) for one in stretches]
    blocks.with_look += _with_look([one for _, one in launched], looks)


def _with_look(launched: Sequence[Measured], looks: Sequence[tuple[int, int]]) -> list[float]:
    active = [one.wall_ns - (one.delay_ns or 0) for one in launched]
    found = []
    for place in range(1, len(launched) - 1):
        begin, end = launched[place].start_ns, launched[place].start_ns + launched[place].wall_ns
        if any(first < end and last > begin for first, last in looks):
            found.append(float(np.log(2 * active[place] / (active[place - 1] + active[place + 1]))))
    return found


@dataclass(frozen=True)
class Plant:
    """A disturber: its name, how it works, and on which processor."""

    name: str
    kind: str
    processor: int

    def script(self, folder: Path) -> Path:
        """Write the program, whose name the kernel takes from that of its file."""
        path = folder / self.name
        path.write_text(f"#!/bin/sh\n{self._work(folder)}\n")
        path.chmod(0o755)
        return path

    def _work(self, folder: Path) -> str:
        if self.kind == "children":
            child = folder / "children" / self.name
            child.parent.mkdir(exist_ok=True)
            child.write_text(f"#!/bin/sh\n{CHILD}\n")
            child.chmod(0o755)
            return f"while :; do {shlex.quote(str(child))}; done"
        if self.kind == "bursts":
            burst_s = random.uniform(0.05, 1.5)
            return BURSTS.format(loops=int(burst_s / 0.5e-6), pause=round(random.uniform(0.0, burst_s), 2))
        return STEADY


@contextmanager
def growing(plant: Plant, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start the disturber, which begins a second from now and ends by itself, or with the context."""
    pinned = partial(os.sched_setaffinity, 0, {plant.processor})
    words = ["/bin/sh", "-c", f"sleep {BEGINS_S}; exec timeout {ENDS_S - BEGINS_S} {plant.script(folder)}"]
    process = subprocess.Popen(words, preexec_fn=pinned, start_new_session=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 15)
        process.wait()


@dataclass(frozen=True)
class Told:
    """What is said about a plant: its place among those named, 0 for none; whether the record has it; the report."""

    place: int
    in_record: bool
    said: str


def tried(plant: Plant, program: Path, processor: int, folder: Path) -> Told:
    """Launch for some seconds beside a plant, and return what is said about it."""
    out = folder / "run.json"
    words = [STEELYARD, "run", str(program), "--cpu", str(processor), "--max-time", str(LASTS_S), "--json", str(out)]
    with growing(plant, folder):
        run(words, with_own_store(folder))
    summary = read_record(out)["derived"]["summaries"][0]
    found = [Disturber.model_validate(one) for one in summary.get("disturbers", [])]
    said = disturbers_sentence(found, 0, has_waited=summary["disturbed"] > 0) or "nothing"
    names = [one.name for one in found]
    is_named = plant.name in names and f"{plant.name} ran beside" in said
    return Told(names.index(plant.name) + 1 if is_named else 0, plant.name in names, said)


def show_weighed(blocks: Blocks) -> None:
    """Print what the watch does to launches, and what it costs."""
    rows = [(metric, *blocks.verdict(getattr(blocks, metric))) for metric in ("active", "wall")]
    print(table(("metric", f"watched, margin {MARGIN:.1%}", "change", "interval at 99 %", "pairs of blocks"), rows))
    each_ms, share = blocks.cost_ns / max(1, blocks.looks) / 1e6, blocks.cost_ns / max(1, blocks.watched_ns)
    print(f"\n{blocks.looks} looks of {each_ms:.2f} ms: {share:.2%} of a processor")
    if len(blocks.with_look) > 1:
        longer, error, of_all = blocks.effect()
        print(f"{len(blocks.with_look)} of {blocks.launches} launches had a look in them, and took {longer:+.3%}")
        print(f"(standard error {error:.3%}): all together {of_all:+.4%}")


def show_planted(told: Sequence[tuple[Plant, Told]], processor: int) -> None:
    """Print what was said about each plant."""
    rows = [
        (
            plant.name,
            plant.kind,
            "the same" if plant.processor == processor else "another",
            one.place or "not named",
            one.said,
        )
        for plant, one in told
    ]
    print()
    print(table(("planted", "works", "processor", "named at place", "the report"), rows))
    named, first = sum(one.place > 0 for _, one in told), sum(one.place == 1 for _, one in told)
    kept = sum(one.in_record for _, one in told)
    print(f"\nnamed: {named} of {len(told)}, first: {first}, in the record: {kept}")


def main(words: argparse.Namespace) -> None:
    """Print both tables."""
    others = sorted(os.sched_getaffinity(0) - {words.processor}) or [words.processor]
    plants = [
        Plant(NAMES[n % len(NAMES)], KINDS[n % len(KINDS)], words.processor if n % 2 else others[-1])
        for n in range(words.planted)
    ]
    with tempfile.TemporaryDirectory() as name, stoppable():
        folder = Path(name)
        program = build(folder / "work", ROUNDS)
        show_weighed(weigh(program, words.seconds, words.processor))
        show_planted([(plant, tried(plant, program, words.processor, folder)) for plant in plants], words.processor)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0, help="of the comparison of watched with unwatched")
    parser.add_argument("--planted", type=int, default=20, help="disturbers that are planted")
    parser.add_argument("--processor", type=int, default=0, help="that the launches are pinned to")
    main(parser.parse_args())
