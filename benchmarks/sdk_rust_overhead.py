"""What an iteration of an empty body takes: steelyard-bench (sdk/rust) compared with criterion and divan, in one run.

    python benchmarks/sdk_rust_overhead.py [ROUNDS]

It builds the three programs of benchmarks/sdk_rust_overhead (cargo fetches criterion and divan), and runs each once in
each round, in random order. A run is 100 samples of about half a millisecond. It counts with its median sample, and
with its smallest one: the loop itself always takes the same time, and anything above that is the machine's. The table
has the medians over the runs; a ratio is the median over the rounds, so that what slows the whole machine for a while
hits both sides. Divan subtracts what it believes its loop to cost; here its loop is timed from outside.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.processes import ROOT
from benchmarks.protocol import samples_of
from benchmarks.simulation import table
from benchmarks.words import whole_numbers

PROJECT = ROOT / "benchmarks" / "sdk_rust_overhead"
LOOPS, SAMPLES = 2_000_000, 100
OURS, CRITERION, DIVAN = "steelyard-bench", "criterion", "divan"

# The samples of one run, in ns per iteration.
Run = Callable[[], list[float]]


def main(rounds: int) -> None:
    """Make the runs, and print the table."""
    programs = _build()
    with tempfile.TemporaryDirectory() as folder:
        runs: dict[str, Run] = {
            OURS: lambda: _ours(programs["ours"]),
            CRITERION: lambda: _criterion(programs["with_criterion"], Path(folder)),
            DIVAN: lambda: _divan(programs["with_divan"]),
        }
        taken: dict[str, list[list[float]]] = {name: [] for name in runs}
        for _ in range(rounds):
            for name in random.sample(list(runs), len(runs)):
                taken[name].append(runs[name]())
    print(_report(taken), flush=True)


def _build() -> dict[str, str]:
    """Build the executables; returns them by the name of their bench target."""
    if shutil.which("cargo") is None:
        raise SystemExit("this needs Rust's cargo: install it (https://rustup.rs) and run it again")
    command = ["cargo", "bench", "--no-run", "--locked", "--message-format=json", "--manifest-path", "Cargo.toml"]
    built = subprocess.run(command, cwd=PROJECT, stdout=subprocess.PIPE, check=True, text=True)
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    return {
        message["target"]["name"]: message["executable"]
        for message in messages
        if message.get("executable") and message["target"]["kind"] == ["bench"]
    }


def _ours(program: str) -> list[float]:
    return [sample["ns"] / sample["loops"] for sample in samples_of([program], "empty", LOOPS, SAMPLES)]


def _criterion(program: str, folder: Path) -> list[float]:
    options = [
        "--bench",
        "--noplot",
        "--warm-up-time",
        "0.05",
        "--measurement-time",
        "0.1",
        "--sample-size",
        str(SAMPLES),
    ]
    environment = {**os.environ, "CRITERION_HOME": str(folder)}
    subprocess.run([program, *options], env=environment, check=True, capture_output=True)
    raw = json.loads((folder / "empty" / "new" / "sample.json").read_text())
    return [ns / loops for ns, loops in zip(raw["times"], raw["iters"], strict=True)]


def _divan(program: str) -> list[float]:
    environment = {**os.environ, "DIVAN_SAMPLE_COUNT": str(SAMPLES), "DIVAN_SAMPLE_SIZE": str(LOOPS)}
    ended = subprocess.run([program, "--bench"], env=environment, check=True, capture_output=True, text=True)
    samples = [int(line) for line in ended.stderr.splitlines() if line.isdigit()]
    if len(samples) != SAMPLES:
        raise SystemExit(f"divan took {len(samples)} samples of {SAMPLES}; it said: {ended.stderr[:500]}")
    return [ns / LOOPS for ns in samples]


def _report(taken: dict[str, list[list[float]]]) -> str:
    least = {name: [min(samples) for samples in runs] for name, runs in taken.items()}
    medians = {name: [statistics.median(samples) for samples in runs] for name, runs in taken.items()}
    rows = [
        (name, len(runs), _ns(least[name]), _ratio(least[OURS], least[name]), _ns(medians[name]))
        for name, runs in taken.items()
    ]
    better = min((CRITERION, DIVAN), key=lambda name: statistics.median(least[name]))
    header = ("an empty body through", "runs", "an iteration, least", "steelyard-bench over it", "an iteration, median")
    bar = f"steelyard-bench over the better one, {better}: {_ratio(least[OURS], least[better])}"
    return f"{table(header, rows)}\n\n{bar}"


def _ns(runs: list[float]) -> str:
    return f"{statistics.median(runs):.4f} ns"


def _ratio(ours: list[float], theirs: list[float]) -> str:
    return f"{statistics.median(mine / other for mine, other in zip(ours, theirs, strict=True)):.3f}"


if __name__ == "__main__":
    main(*whole_numbers(__doc__, rounds=31))
