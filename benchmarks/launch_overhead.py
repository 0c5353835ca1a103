"""What a launch costs compared with `hyperfine -N`; the driver's memory over many launches; its share of a processor.

    python benchmarks/launch_overhead.py [LAUNCHES] [--hyperfine PATH] [--memory-launches N] [--seconds S]

It launches /bin/true in blocks, alternately by hyperfine and by Steelyard. Each block starts a new launcher: hyperfine
or the launch server. One comparison is of the wall time that each tool reports, the other of what one launch took
altogether: setting it up, measuring it, checking it and keeping it (for Steelyard in the journal, on disk).
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.loop import ENVIRONMENT, Loop, weighing_of
from benchmarks.processes import ROOT, build, compare, cpu_of_targets, peer, read_record, run, stoppable
from benchmarks.simulation import table
from steelyard.model.records import Weighing

PROGRAM = "/bin/true"
A_BLOCK = 50
# 2,350 rounds of the demo's program take about 10 ms.
ROUNDS_OF_10_MS = 2350
# Too narrow for an early verdict, too wide to be called futile: the weighing uses most of its time.
MARGIN = "0.1%"
# It is called futile now and then all the same, so the longest of this many weighings counts.
TRIES = 5


@dataclass
class Tool:
    """What one tool reported for each launch, and how long a launch took in each of its blocks; both in ms."""

    reported: list[float] = field(default_factory=list)
    elapsed: list[float] = field(default_factory=list)

    def medians(self) -> tuple[float, float]:
        """The medians of the reported and of the elapsed times."""
        return statistics.median(self.reported), statistics.median(self.elapsed)


@dataclass(frozen=True)
class OwnWork:
    """How long a weighing took, and its CPU time without the targets'."""

    seconds: float
    launches: int
    cpu_s: float

    def less(self, other: OwnWork) -> OwnWork:
        """The difference between this weighing and another."""
        return OwnWork(self.seconds - other.seconds, self.launches - other.launches, self.cpu_s - other.cpu_s)

    def cells(self) -> list[str]:
        """Return cells of the table."""
        each = f"{1e3 * self.cpu_s / self.launches:.2f} ms" if self.launches > 0 else ""
        share = f"{self.cpu_s / self.seconds:.1%}" if self.seconds > 0 else ""
        return [f"{self.seconds:.1f} s", str(self.launches), f"{self.cpu_s:.2f} s", each, share]


def main(words: argparse.Namespace) -> None:
    """Print the three tables, one after the other."""
    hyperfine = peer("hyperfine", words.hyperfine)
    with tempfile.TemporaryDirectory() as name, stoppable():
        folder = Path(name)
        _launches(hyperfine, words.launches, folder)
        print("\nmemory that is resident\n", flush=True)
        script = str(ROOT / "benchmarks" / "driver_memory.py")
        subprocess.run([sys.executable, script, str(words.memory_launches)], check=True)
        _own_work(words.seconds, folder)


def _launches(hyperfine: str, launches: int, folder: Path) -> None:
    ours, theirs = Tool(), Tool()
    header = weighing_of(PROGRAM)
    blocks = max(1, launches // A_BLOCK)
    for block in range(1, blocks + 1):
        for tool in random.sample((ours, theirs), 2):
            if tool is ours:
                _block_of_steelyard(ours, header, folder / "weighing.journal")
            else:
                _block_of_hyperfine(theirs, hyperfine, folder / "hyperfine.json")
        if block % 10 == 0 or block == blocks:
            print(_report(ours, theirs), flush=True)


def _block_of_steelyard(tool: Tool, header: Weighing, journal: Path) -> None:
    journal.unlink(missing_ok=True)
    started = time.perf_counter()
    with Loop(header, journal) as loop:
        reported = [wall_ns / 1e6 for wall_ns in loop.pairs(A_BLOCK // 2)]
    tool.elapsed.append(1e3 * (time.perf_counter() - started) / A_BLOCK)
    tool.reported += reported


def _block_of_hyperfine(tool: Tool, hyperfine: str, report: Path) -> None:
    options = ["-N", "--style", "none", "--warmup", "0", "--runs", str(A_BLOCK), "--export-json", str(report)]
    ended = run([hyperfine, *options, PROGRAM], ENVIRONMENT)
    tool.elapsed.append(1e3 * ended.seconds / A_BLOCK)
    tool.reported += [1e3 * taken for taken in json.loads(report.read_text())["results"][0]["times"]]


def _report(ours: Tool, theirs: Tool) -> str:
    tools = {"hyperfine -N": theirs, "Steelyard": ours}
    rows = [(name, len(tool.reported), *(f"{ms:.3f} ms" for ms in tool.medians())) for name, tool in tools.items()]
    ratios = (f"{mine / other:.2f}" for mine, other in zip(ours.medians(), theirs.medians(), strict=True))
    header = (f"{PROGRAM} launched by", "launches", "wall reported, median", "elapsed a launch, median of blocks")
    return table(header, [*rows, ("Steelyard over hyperfine", "", *ratios)]) + "\n"


def _own_work(seconds: float, folder: Path) -> None:
    """Weigh a 10 ms program against itself, briefly and for long, and print what the driver and its server used.

    The brief weighing is mostly the start of Python and the verdict, so that what the long one has over it is
    what the driver does while it launches.
    """
    programs = [str(build(folder / name, ROUNDS_OF_10_MS)) for name in ("work", "work-again")]
    brief = _weigh(programs, ["--pairs", "8"], folder)
    tries = [_weigh(programs, ["--margin", MARGIN, "--max-time", str(seconds)], folder)]
    while tries[-1].seconds < seconds / 2 and len(tries) < TRIES:
        tries.append(_weigh(programs, ["--margin", MARGIN, "--max-time", str(seconds)], folder))
    long = max(tries, key=lambda weighing: weighing.seconds)
    rows = {"brief": brief, "long": long, "what the long one has over it": long.less(brief)}
    header = ("a weighing of a 10 ms program", "elapsed", "launches", "own CPU", "own CPU a launch", "of a processor")
    print("\n" + table(header, [(name, *work.cells()) for name, work in rows.items()]), flush=True)


def _weigh(programs: list[str], options: list[str], folder: Path) -> OwnWork:
    record = folder / "record.json"
    ended = compare([*programs, *options], record)
    kept = read_record(record)
    return OwnWork(ended.seconds, len(kept["launches"]["wall_ns"]), ended.cpu_s - cpu_of_targets(kept))


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What a launch costs, beside hyperfine.")
    parser.add_argument("launches", nargs="?", type=int, default=2000, help="by each tool")
    parser.add_argument("--hyperfine", metavar="PATH", help="where it is, if not on the PATH")
    parser.add_argument("--memory-launches", type=int, default=10_000, metavar="N")
    parser.add_argument("--seconds", type=float, default=20.0, metavar="S", help="of the weighing of a 10 ms program")
    return parser.parse_args()


if __name__ == "__main__":
    main(_words())
