"""How well the times of threads, pipelines and process trees are corrected for other load.

    python benchmarks/trees.py [ROUNDS] [--seed N]

Each round launches every program alone, beside 1 and 3 busy loops, and within bursts of up to 3, in an order drawn
anew: as it is, and within a cgroup of its own, if one can be made. For each load the median is given as a change from
those launches without load that had the least pressure from other work. `lost` is what the launch server finds by
following all threads (root only); `some` and `full` are the pressure of the cgroup, `main` the delay of the main thread
alone; `cpu` is the processor time itself, which load changes as well, and nothing can correct.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.load import Bursts, busy
from benchmarks.simulation import table
from steelyard.machine.hierarchies import second_version
from steelyard.machine.readings import Tree
from steelyard.measure.launch import Launcher
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import knows_waits, waited_ns

LOADS: dict[str, Callable[[], AbstractContextManager[object]]] = {
    "none": nullcontext,
    "1 loop": partial(busy, 1, apart=True),
    "3 loops": partial(busy, 3, apart=True),
    "bursts": Bursts,
}
# The share of the launches without load that counts, those with the least pressure.
CLEANEST = 1 / 3

THREADS = r"""
#include <pthread.h>
#include <stdlib.h>
static long steps, rounds;
static pthread_barrier_t together;
static void *work(void *unused) {
    volatile unsigned state = 1;
    for (long round = 0; round < rounds; round++) {
        for (long step = 0; step < steps / rounds; step++) state = state * 1664525u + 1013904223u;
        pthread_barrier_wait(&together);
    }
    return unused;
}
int main(int count, char **words) {
    int threads = atoi(words[1]);
    pthread_t started[16];
    steps = atol(words[2]) / threads, rounds = atol(words[3]);
    pthread_barrier_init(&together, 0, threads);
    for (int each = 0; each < threads; each++) pthread_create(started + each, 0, work, 0);
    for (int each = 0; each < threads; each++) pthread_join(started[each], 0);
    return count != 4;
}
"""
PROCESSES = """
import multiprocessing
def work(number):
    return sum(each * each for each in range(number))
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(work, [300_000] * 12, chunksize=1)
"""
MAKEFILE = "all: {objects}\n%.o: %.c\n\tcc -O2 -c -o $@ $<\n"
STEPS = "200000000"
PROGRAMS = {
    "one process": ["gzip", "-c", "data"],
    "a thread beside main": ["./threads", "1", "100000000", "1"],
    "pipeline": ["sh", "-c", "gzip -c data | wc -c"],
    "commands in a row": ["sh", "-c", "for i in 1 2 3 4 5 6 7 8; do head -c 600000 data | gzip -c >/dev/null; done"],
    "make -j2": ["make", "--silent", "--always-make", "-j2"],
    "2 threads": ["./threads", "2", STEPS, "1"],
    "2 threads in step": ["./threads", "2", STEPS, "20"],
    "4 threads in step": ["./threads", "4", STEPS, "5"],
    "multiprocessing": [sys.executable, "processes.py"],
}
WAYS = ("wall", "lost", "lost, in a cgroup", "main", "some", "full", "cpu")


@dataclass(frozen=True)
class Times:
    """The time of one launch by each way that is available, ns; and the machine's pressure meanwhile."""

    by_way: dict[str, float]
    pressed: float


def main(rounds: int, seed: int) -> None:
    """Print one row per program and load."""
    generator = random.Random(seed)
    taken: dict[tuple[str, str], list[Times]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, Launcher() as alone, grouped() as within:
        prepare(Path(folder))
        print(f"the launch server {'follows' if alone.offers.get('switches') else 'does not follow'} all threads\n")
        for _ in range(rounds):
            plan = [(program, load) for load in LOADS for program in PROGRAMS]
            generator.shuffle(plan)
            for program, load in plan:
                spec = spec_of(PROGRAMS[program], folder)
                with LOADS[load]():
                    taken[program, load].append(times(spec, alone, within))
    print(table(("program", "load", "wall, ms", "lost, ms", *WAYS), list(rows(taken))))


def rows(taken: dict[tuple[str, str], list[Times]]) -> Iterator[tuple[str, ...]]:
    """The table's rows."""
    for program in PROGRAMS:
        alone = sorted(taken[program, "none"], key=lambda one: one.pressed)
        calm = alone[: max(1, round(CLEANEST * len(alone)))]
        for load in LOADS:
            told = [change(taken[program, load], calm, way) for way in WAYS]
            wall, lost = (f"{level(taken[program, load], way) / 1e6:.0f}" for way in ("wall", "lost"))
            yield program, load, wall, lost, *told


def level(launches: list[Times], way: str) -> float:
    """The median of a way over launches; NaN if it is not known for all."""
    known = [one.by_way[way] for one in launches if way in one.by_way]
    return median(known) if len(known) == len(launches) else float("nan")


def change(launches: list[Times], calm: list[Times], way: str) -> str:
    """How far the launches lie from the calm ones."""
    off = level(launches, way) / level(calm, way) - 1
    return f"{off:+.1%}" if off == off else "-"


def times(spec: LaunchSpec, alone: Launcher, within: tuple[Launcher, Path] | None) -> Times:
    """Make one launch as it is, and one within the cgroup."""
    measured = launched(alone, spec)
    by_way = {
        "wall": float(measured.wall_ns),
        "main": float(measured.wall_ns - (measured.delay_ns or 0)),
        "cpu": float(measured.user_ns + measured.sys_ns),
    }
    if knows_waits(measured):
        by_way["lost"] = float(measured.wall_ns - (waited_ns(measured) or 0))
    pressed = (measured.pressure_ns or 0) / measured.wall_ns
    if within is not None:
        launcher, group = within
        before = pressure(group)
        measured = launched(launcher, spec)
        by_way |= {name: measured.wall_ns - ns + before[name] for name, ns in pressure(group).items()}
        if knows_waits(measured):
            by_way["lost, in a cgroup"] = float(measured.wall_ns - (waited_ns(measured) or 0))
    return Times(by_way, pressed)


def launched(launcher: Launcher, spec: LaunchSpec) -> Measured:
    """Make one launch, which has to end well."""
    measured = launcher.launch(spec)
    if measured.has_failed():
        sys.exit(f"{spec.argv!r} failed: {measured.stderr!r}")
    return measured


@contextmanager
def grouped() -> Iterator[tuple[Launcher, Path] | None]:
    """A launcher within a cgroup of its own; None if it may not make one, or if it reports no pressure."""
    tree = Tree()
    hierarchy = second_version(tree)
    if hierarchy is None:
        yield None
        return
    group = tree.root / hierarchy.top / f"steelyard-trees-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        yield None
        return
    try:
        if not (group / "cpu.pressure").exists():
            yield None
            return
        with Launcher() as launcher:
            (group / "cgroup.procs").write_text(str(launcher.server_pid))
            yield launcher, group
    finally:
        group.rmdir()


def pressure(group: Path) -> dict[str, float]:
    """How long some of the group's tasks have waited for a processor so far, and how long all ready ones have, ns."""
    lines = (group / "cpu.pressure").read_text().split("\n")
    return {line.split()[0]: 1000.0 * float(line.rpartition("total=")[2]) for line in lines if line}


def spec_of(words: list[str], folder: str) -> LaunchSpec:
    """The launch spec of a program."""
    program = shutil.which(words[0]) if "/" not in words[0] else str(Path(folder, words[0]))
    if program is None:
        sys.exit(f"there is no {words[0]} here")
    environment = tuple(os.fsencode(f"{name}={value}") for name, value in os.environ.items())
    return LaunchSpec(os.fsencode(program), tuple(map(os.fsencode, words)), environment, cwd=os.fsencode(folder))


def prepare(folder: Path) -> None:
    """Make the programs and their files."""
    (folder / "threads.c").write_text(THREADS)
    (folder / "processes.py").write_text(PROCESSES)
    subprocess.run(["cc", "-O2", "-pthread", "-o", "threads", "threads.c"], cwd=folder, check=True)
    words = random.Random(0).choices(["time", "launch", "pair", "margin", "steelyard", "processor"], k=1_500_000)
    (folder / "data").write_text(
        "\n".join(f"{word} {number * number % 9973}" for number, word in enumerate(words))[:9_000_000]
    )
    files = [f"part{number}" for number in range(6)]
    for name in files:
        functions = (f"int {name}_{each}(int a, int b) {{ {_BODY.format(each)} }}\n" for each in range(40))
        (folder / f"{name}.c").write_text("".join(functions))
    (folder / "Makefile").write_text(MAKEFILE.format(objects=" ".join(f"{name}.o" for name in files)))


_BODY = "int s = 0; for (int i = 0; i < a; i++) {{ s += i * b ^ {0}; if (s % 7 == {0} % 7) s -= b; }} return s;"

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rounds", nargs="?", type=int, default=9)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    main(asked.rounds, asked.seed)
