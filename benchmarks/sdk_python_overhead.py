"""What an iteration of an empty body costs with the Python SDK, compared with timeit and pyperf.

    python benchmarks/sdk_python_overhead.py [--repetitions N] [--iterations N] [--samples K] [--pyperf PYTHON]

There are two bodies: the statement `pass`, and a call of an empty function. In each repetition every tool runs each of
them once, in a fresh process, in an order drawn anew; the first of its samples is dropped, and the median of the others
taken. The table shows the median over the repetitions, and the ratio to each peer: the Hodges-Lehmann estimate and 99 %
interval of the ratios within a repetition. The bar is 1.0 for both.

`steelyard, one copy` is the same loop with the body once, as in the peers' loops, instead of eight times.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.protocol import samples_of
from benchmarks.simulation import table
from steelyard.stats.signed_rank import estimate

PASS, CALL = "pass", "empty function"
BODIES = (PASS, CALL)
STEELYARD, ONE_COPY, TIMEIT, PYPERF = "steelyard", "steelyard, one copy", "timeit", "pyperf"
LEVEL = 0.01

_BENCH = "from steelyard import bench\n\n@bench\ndef empty(): pass\n"
_ONE_COPY = (
    "import runpy\nfrom steelyard.harness import loop\nloop._LONGEST_COPIED = -1\n"
    "runpy.run_module('steelyard.harness', run_name='__main__')"
)
_TIMEIT = (
    "import sys, timeit\ndef empty(): pass\nbody = 'pass' if sys.argv[1] == 'pass' else empty\n"
    "print(*timeit.repeat(body, number=int(sys.argv[2]), repeat=int(sys.argv[3])))"
)
_PYPERF = "import pyperf\ndef empty(): pass\npyperf.Runner().bench_func('empty', empty)\n"

_Ask = Callable[[str], list[float]]
"""Runs a body; ns an iteration, sample by sample."""


@dataclass
class Tool:
    """How a tool is called, and the median of each of its answers, for each body."""

    ask: _Ask
    taken: dict[str, list[float]] = field(default_factory=lambda: {body: [] for body in BODIES})

    def turn(self, body: str) -> None:
        """Run one more process."""
        self.taken[body].append(statistics.median(self.ask(body)[1:]))


@dataclass(frozen=True)
class Asking:
    """The tools' command lines."""

    folder: Path
    iterations: int
    samples: int

    def steelyard(self, program: Sequence[str]) -> _Ask:
        """Call through the protocol, like the driver."""
        file = self.folder / "bench_empty.py"
        file.write_text(_BENCH)

        def ask(body: str) -> list[float]:
            own, name = (["--timeit", "pass"], "timeit") if body == PASS else ([str(file)], "bench_empty.py::empty")
            taken = samples_of([*program, *own], name, self.iterations, self.samples)
            return [sample["ns"] / sample["loops"] for sample in taken]

        return ask

    def timeit(self) -> _Ask:
        """Call the standard library's timeit."""

        def ask(body: str) -> list[float]:
            command = [sys.executable, "-c", _TIMEIT, body, str(self.iterations), str(self.samples)]
            said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
            return [1e9 * float(seconds) / self.iterations for seconds in said.split()]

        return ask

    def pyperf(self, python: str) -> _Ask:
        """Call one of pyperf's workers."""
        file = self.folder / "pyperf_empty.py"
        file.write_text(_PYPERF)

        def ask(body: str) -> list[float]:
            out = self.folder / "pyperf.json"
            out.unlink(missing_ok=True)
            program = [python, "-m", "pyperf", "timeit", "pass"] if body == PASS else [python, str(file)]
            count = ["-l", str(self.iterations), "-n", str(self.samples), "-w", "0"]
            subprocess.run([*program, "--worker", *count, "-o", str(out)], check=True, stdout=subprocess.DEVNULL)
            (benchmark,) = json.loads(out.read_text())["benchmarks"]
            return [1e9 * seconds for seconds in benchmark["runs"][0]["values"]]

        return ask


def main(words: argparse.Namespace) -> None:
    """Run the tools in turns, print the table."""
    with tempfile.TemporaryDirectory() as name:
        tools = _tools(Asking(Path(name), words.iterations, words.samples), words.pyperf)
        turns = [(tool, body) for tool in tools.values() for body in BODIES]
        for _ in range(words.repetitions):
            for tool, body in random.sample(turns, len(turns)):
                tool.turn(body)
    print(_report(tools))
    version = sys.version.split()[0]
    print(f"\nPython {version}; {words.iterations} iterations a sample, {words.samples} samples a process,", end=" ")
    print(f"{words.repetitions} processes a tool and body")


def _tools(asking: Asking, pyperf: str) -> dict[str, Tool]:
    tools = {
        STEELYARD: Tool(asking.steelyard([sys.executable, "-m", "steelyard.harness"])),
        ONE_COPY: Tool(asking.steelyard([sys.executable, "-c", _ONE_COPY])),
        TIMEIT: Tool(asking.timeit()),
    }
    program = "import pyperf, sys; print(sys.version)"
    found = subprocess.run([pyperf, "-c", program], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        print("missing: pyperf: pip install it into an environment of this Python, and give --pyperf PYTHON\n")
    elif found.stdout.strip() != sys.version.strip():
        print(f"missing: pyperf: {pyperf} is another Python than this one, so its loop is another too\n")
    else:
        tools[PYPERF] = Tool(asking.pyperf(pyperf))
    return tools


def _report(tools: Mapping[str, Tool]) -> str:
    peers = [name for name in (TIMEIT, PYPERF) if name in tools]
    header = ["an iteration of", "through", "ns", *(f"over {peer}" for peer in peers)]
    rows = []
    for body in BODIES:
        for name, tool in tools.items():
            ratios = [_ratio(tool, tools[peer], body) if name != peer else "" for peer in peers]
            rows.append([body, name, f"{statistics.median(tool.taken[body]):.2f}", *ratios])
    return table(header, rows)


def _ratio(ours: Tool, theirs: Tool, body: str) -> str:
    pairs = zip(ours.taken[body], theirs.taken[body], strict=True)
    within = estimate([math.log(mine / other) for mine, other in pairs], LEVEL)
    return f"{math.exp(within.centre):.3f} [{math.exp(within.lower):.3f}, {math.exp(within.upper):.3f}]"


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="An empty body beside timeit and pyperf.")
    parser.add_argument("--repetitions", type=int, default=40, metavar="N")
    parser.add_argument("--iterations", type=int, default=1_000_000, metavar="N", help="of a sample")
    parser.add_argument("--samples", type=int, default=11, metavar="K", help="of a process; the first is dropped")
    parser.add_argument("--pyperf", default=sys.executable, metavar="PYTHON", help="a Python that has pyperf")
    return parser.parse_args()


if __name__ == "__main__":
    main(_words())
