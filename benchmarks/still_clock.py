"""`steelyard still` on other projects' harnesses: their own reports, quiet and beside bursts, by both clocks.

    python benchmarks/still_clock.py [HARNESS ...] [--turns N]

It takes one benchmark of each harness, unchanged, from the programs that `pytest tests/subjects/adapters` builds. A
turn is a report of each kind, in random order: by the plain clock and under `steelyard still`, with the machine left
alone and beside bursts of 1 to 3 busy loops. The table shows the median of the turns' means, relative to the quiet
plain reports and to the quiet ones of the same clock, and the median of their spreads (standard deviation over mean,
both as the harness reports them).
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.adapter_agreement import (
    BUILT,
    Report,
    catch2,
    criterion,
    divan,
    google_benchmark,
    nanobench,
    pytest_benchmark,
)
from benchmarks.load import Bursts
from benchmarks.processes import STEELYARD, stoppable, with_own_store
from benchmarks.simulation import table

HEADER = ("harness", "machine", "clock", "mean", "over quiet plain", "over quiet", "spread", "left out")
KINDS = [(load, clock) for load in ("quiet", "bursts") for clock in ("plain", "still")]

# A test for pytest-benchmark with rounds of some ms, like the suites that bursts hurt most.
PYTEST = """
def work():
    total = 0
    for number in range(150_000):
        total += number * number
    return total

def test_work(benchmark):
    benchmark.pedantic(work, rounds=100, warmup_rounds=2)
"""


@dataclass(frozen=True)
class Case:
    """A command that measures one benchmark, and how its report is read."""

    harness: str
    command: Callable[[Path], Sequence[str | Path]]
    report: Callable[[Path, str], Report]


def main(words: argparse.Namespace) -> None:
    """Take all turns, then print the table."""
    rows: list[tuple[str, ...]] = []
    with stoppable():
        for case in _cases():
            if not words.harness or case.harness in words.harness:
                rows += _rows(case, words.turns)
                print(*rows[-len(KINDS) :], sep="\n", file=sys.stderr, flush=True)
    print(table(HEADER, rows))


def _rows(case: Case, turns: int) -> list[tuple[str, ...]]:
    reports: dict[tuple[str, str], list[tuple[float, float, float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_work.py").write_text(PYTEST)
        (program,) = (word for word in case.command(folder) if isinstance(word, Path))
        if not program.exists():
            return [(case.harness, f"not built: {program}", "", "", "", "", "", "")]
        for _ in range(turns):
            for kind in random.sample(KINDS, len(KINDS)):
                reports[kind].append(_reported(case, folder, *kind))
    quiet = {clock: statistics.median(mean for mean, _, _ in reports["quiet", clock]) for clock in ("plain", "still")}
    rows = []
    for load, clock in KINDS:
        mean, spread, left_out_s = (statistics.median(column) for column in zip(*reports[load, clock], strict=True))
        left_out = f"{left_out_s:.2f} s" if clock == "still" else ""
        over = [f"{100 * (mean / quiet[of] - 1):+.2f} %" for of in ("plain", clock)]
        rows.append((case.harness, load, clock, f"{mean / 1e3:.4g} us", *over, f"{100 * spread:.2f} %", left_out))
    return rows


def _reported(case: Case, folder: Path, load: str, clock: str) -> tuple[float, float, float]:
    """The mean, the spread relative to it, and the seconds that were left out."""
    command = [*([STEELYARD, "still", "--"] if clock == "still" else []), *map(str, case.command(folder))]
    environment = {**with_own_store(folder), "CRITERION_HOME": str(folder / "criterion")}
    with Bursts() if load == "bursts" else nullcontext():
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(f"{case.harness}: {' '.join(command)} failed: {done.stderr or done.stdout}")
    left_out = re.search(r"^steelyard: the clock stood still for ([0-9.]+) s", done.stderr, re.MULTILINE)
    if (left_out is None) != (clock == "plain"):
        raise SystemExit(f"{case.harness}: the clock did not stand still: {done.stderr}")
    report = case.report(folder, done.stdout)
    return report.mean, report.deviation / report.mean, float(left_out[1]) if left_out else 0.0


def _cases() -> list[Case]:
    google, tests, library = (BUILT / name / "suite" for name in ("google_benchmark", "catch2", "nanobench"))
    work, cases = cargo_built("criterion"), cargo_built("divan")
    # Without a limit, the harnesses' own statistics take longer than what they measure.
    times = ("--warm-up-time", "0.5", "--measurement-time", "1", "--nresamples", "1000")
    amount = ("--sample-count", "500", "--sample-size", "1000")
    samples = ("--benchmark-samples", "1000", "--benchmark-resamples", "1000")
    return [
        Case(
            "pytest-benchmark",
            lambda folder: (
                *(Path(sys.executable), "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_work.py"),
                f"--benchmark-json={folder}/own.json",
            ),
            pytest_benchmark,
        ),
        Case(
            "google-benchmark",
            lambda folder: (
                *(google, "--benchmark_filter=^sum/10000$", "--benchmark_repetitions=50", "--benchmark_min_time=0.02"),
                *(f"--benchmark_out={folder}/own.json", "--benchmark_out_format=json"),
            ),
            google_benchmark,
        ),
        Case("criterion", lambda _: (work, "--bench", "--exact", "work", *times), criterion),
        Case("divan", lambda _: (cases, "--bench", "--exact", "cases::plain", *amount), divan),
        Case("nanobench", lambda _: (library, "--only=sum"), nanobench),
        Case("catch2", lambda _: (tests, "sums", "-r", "xml", *samples), catch2),
    ]


def cargo_built(crate: str) -> Path:
    """The benchmarks that Cargo built for the tests."""
    return BUILT / crate / "cases"


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Harnesses' own reports by a clock that stands still.")
    parser.add_argument("harness", nargs="*", help="only these")
    parser.add_argument("--turns", type=int, default=10, metavar="N", help="reports of each kind")
    return parser.parse_args()


if __name__ == "__main__":
    main(_words())
