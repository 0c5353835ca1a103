"""Whether the figures that Steelyard gets from a harness agree with those that the harness reports by itself.

    python benchmarks/adapter_agreement.py [HARNESS ...] [--turns N] [--max-time S]

It takes one benchmark of each harness, from the programs that `pytest tests/subjects/adapters` builds. The harness's
own report and a run by Steelyard are made next to each other, in random order, and compared as pairs, which works even
on a machine whose speed changes. They agree if the ratio lies within the error that the harness states for one report
(a standard deviation or an interval); the ratio's 99 % interval shows whether that can be decided. Times are elapsed
times, as all harnesses report these.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log, log1p, nan
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.processes import ROOT, STEELYARD, read_record, with_own_store
from benchmarks.simulation import table
from steelyard.stats.signed_rank import Estimate, estimate
from steelyard.subjects.adapters.shell import printed_ns

BUILT = ROOT / "build/adapters"
SOURCES = ROOT / "tests/adapters"
LEVEL = 0.01
UNITS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}

# A command that measures its own time, and prints it.
TIMED = """import time
started = time.perf_counter()
sum(range(2_000_000))
print(time.perf_counter() - started, "s")"""


class Report(NamedTuple):
    """What a harness says of a benchmark itself, in ns."""

    value: float
    """The figure that it goes by."""
    low: float
    high: float
    """The ends of its own error."""
    mean: float = nan
    deviation: float = nan
    """The standard deviation. It and the mean are read of those harnesses alone that tell only elapsed time."""


@dataclass(frozen=True)
class Case:
    """A benchmark, its commands for Steelyard and its own harness, and `report`, which reads the latter's output."""

    harness: str
    command: Sequence[str | Path]
    benchmark: str
    own: Callable[[Path], Sequence[str | Path]]
    report: Callable[[Path, str], Report]
    folder: Path = ROOT


def main(words: argparse.Namespace) -> None:
    """Take all turns, then print the table."""
    rows: list[tuple[str, ...]] = []
    for case in _cases():
        if words.harness and case.harness not in words.harness:
            continue
        missing = [str(word) for word in case.command if isinstance(word, Path) and not word.exists()]
        if missing:
            rows.append((case.harness, case.benchmark, f"not built: {missing[0]}", "", "", "", ""))
            continue
        rows.append(_row(case, words.turns, words.max_time))
        print(*rows[-1], sep="; ", file=sys.stderr, flush=True)
    header = ("harness", "benchmark", "its own reports", "Steelyard", "ratio (99 %)", "own error", "agree")
    print(table(header, rows))


def _row(case: Case, turns: int, max_time_s: float) -> tuple[str, ...]:
    told, ours = [], []
    for _ in range(turns):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for turn in random.sample(("its own", "driven"), 2):
                if turn == "driven":
                    ours.append(_driven(case, folder, max_time_s))
                else:
                    told.append(_reported(case, folder))
    ratio = estimate([log(value / report.value) for value, report in zip(ours, told, strict=True)], LEVEL)
    error = statistics.median((report.high - report.low) / 2 / report.value for report in told)
    return (
        case.harness,
        case.benchmark,
        _us(statistics.median(report.value for report in told)),
        _us(statistics.median(ours)),
        f"{exp(ratio.centre):.3f} ({exp(ratio.lower):.3f} to {exp(ratio.upper):.3f})",
        f"{100 * error:.1f} %" if error else "none told",
        _agree(ratio, error),
    )


def _agree(ratio: Estimate, error: float) -> str:
    """Whether the ratio is within the harness's own error, as far as that can be decided."""
    if exp(ratio.lower) > 1 + error or exp(ratio.upper) < 1 - error:
        return "no"
    return "yes" if abs(ratio.centre) <= log1p(error) else "cannot be told"


def _us(ns: float) -> str:
    return f"{ns / 1e3:.4g} us"


def _reported(case: Case, folder: Path) -> Report:
    return case.report(folder, _printed(case, list(map(str, case.own(folder))), folder))


def _printed(case: Case, command: Sequence[str], folder: Path) -> str:
    environment = {**with_own_store(folder), "CRITERION_HOME": str(folder / "criterion")}
    done = subprocess.run(command, cwd=case.folder, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(f"{case.harness}: {' '.join(command)} failed: {done.stderr or done.stdout}")
    return done.stdout


def _driven(case: Case, folder: Path, max_time_s: float) -> float:
    command = " ".join(map(str, case.command))
    words = ["run", "--harness", case.harness, command, "-b", case.benchmark, "--metric", "wall"]
    words += ["--max-time", str(max_time_s), "--json", str(folder / "record.json")]
    _printed(case, [STEELYARD, *words], folder)
    (summary,) = read_record(folder / "record.json")["derived"]["summaries"]
    return float(summary["median"])


# --- what each harness reports itself


def _around(value: float, error: float, factor: float = 1.0) -> Report:
    return Report(factor * value, factor * (value - error), factor * (value + error))


def google_benchmark(folder: Path, _: str) -> Report:
    """Read the report of Google Benchmark."""
    found = json.loads((folder / "own.json").read_text())["benchmarks"]
    figures = {one["aggregate_name"]: one["real_time"] for one in found if one["run_type"] == "aggregate"}
    unit = UNITS[found[0]["time_unit"]]
    report = _around(figures["median"], figures["stddev"], unit)
    return report._replace(mean=figures["mean"] * unit, deviation=figures["stddev"] * unit)


def catch2(_: Path, printed: str) -> Report:
    """Read the report of Catch2."""
    # Names are not escaped in its XML, so that no parser reads it.
    told = r'<mean value="([^"]+)" lowerBound="([^"]+)" upperBound="([^"]+)".*?<standardDeviation value="([^"]+)"'
    found = re.search(rf'name="a thousand".*?{told}', printed, re.S)
    if found is None:
        raise SystemExit(f"catch2: its report has no such benchmark: {printed}")
    mean, low, high, deviation = map(float, found.groups())
    return Report(mean, low, high, mean, deviation)


def criterion(folder: Path, _: str) -> Report:
    """Read the report of criterion."""
    (path,) = (folder / "criterion").glob("*/new/estimates.json")
    found = json.loads(path.read_text())
    interval = found["median"]["confidence_interval"]
    value, mean, deviation = (found[name]["point_estimate"] for name in ("median", "mean", "std_dev"))
    return Report(value, interval["lower_bound"], interval["upper_bound"], mean, deviation)


def divan(_: Path, printed: str) -> Report:
    """Read the report of Divan, which has no standard deviation: a quarter of the range stands for it."""
    (line,) = (line for line in printed.splitlines() if re.search(r"plain\s", line))
    fastest, slowest, median, mean = (
        float(number) * UNITS[unit] for number, unit in re.findall(r"([\d.]+) (ns|µs|ms|s)\b", line)[:4]
    )
    return Report(median, fastest, slowest, mean, (slowest - fastest) / 4)


def _go(_: Path, printed: str) -> Report:
    values = [float(number) for number in re.findall(r"([\d.]+) ns/op", printed)]
    return _around(statistics.median(values), statistics.stdev(values))


def _jmh(folder: Path, _: str) -> Report:
    (found,) = json.loads((folder / "own.json").read_text())
    metric = found["primaryMetric"]
    return _around(metric["score"], metric["scoreError"], UNITS[metric["scoreUnit"].partition("/")[0]])


def nanobench(_: Path, printed: str) -> Report:
    """Read the report of nanobench."""
    (found,) = json.loads(printed[printed.index("{") :])["results"]
    value, elapsed = found["median(elapsed)"], [one["elapsed"] * 1e9 for one in found["measurements"]]
    report = _around(value, value * found["medianAbsolutePercentError(elapsed)"], 1e9)
    return report._replace(mean=statistics.fmean(elapsed), deviation=statistics.stdev(elapsed))


def _shell(_: Path, printed: str) -> Report:
    return _around(printed_ns(printed), 0.0)


def pytest_benchmark(folder: Path, _: str) -> Report:
    """Read the report of pytest-benchmark."""
    (found,) = json.loads((folder / "own.json").read_text())["benchmarks"]
    mean, median, deviation = (found["stats"][name] for name in ("mean", "median", "stddev"))
    return _around(median, deviation, 1e9)._replace(mean=mean * 1e9, deviation=deviation * 1e9)


def _pyperf(folder: Path, _: str) -> Report:
    runs = json.loads((folder / "own.json").read_text())["benchmarks"][0]["runs"]
    values = [value for one in runs for value in one.get("values", [])]
    return _around(statistics.median(values), statistics.stdev(values), 1e9)


def _cases() -> list[Case]:
    google, tests, library = (BUILT / name / "suite" for name in ("google_benchmark", "catch2", "nanobench"))
    go, jar = BUILT / "go/awkward.test", BUILT / "jmh/benchmarks.jar"
    bench, script = SOURCES / "pytest_benchmark", SOURCES / "pyperf/bench_work.py"
    pytest = (sys.executable, "-m", "pytest", "bench/bench_work.py")
    return [
        Case(
            "google-benchmark",
            (google,),
            "sum/10000",
            lambda folder: (
                *(google, "--benchmark_filter=^sum/10000$", "--benchmark_repetitions=10", "--benchmark_min_time=0.1"),
                *(f"--benchmark_out={folder}/own.json", "--benchmark_out_format=json"),
            ),
            google_benchmark,
        ),
        Case("catch2", (tests, "sums"), "sums / a thousand", lambda _: (tests, "sums", "-r", "xml"), catch2),
        *_rust_cases(),
        Case(
            "go",
            (go,),
            "BenchmarkSteady",
            lambda _: (go, "-test.run=^$", "-test.bench=^BenchmarkSteady$", "-test.count=10", "-test.benchtime=0.1s"),
            _go,
            SOURCES / "go/awkward",
        ),
        Case(
            "jmh",
            ("java", "-jar", jar, "-wi", "5", "-w", "200ms"),
            "bench.Sums.sumOfAll",
            lambda folder: (
                *(
                    "java",
                    "-jar",
                    jar,
                    "bench.Sums.sumOfAll$",
                    "-bm",
                    "avgt",
                    "-tu",
                    "ns",
                    "-f",
                    "3",
                    "-wi",
                    "5",
                    "-i",
                    "5",
                ),
                *("-w", "200ms", "-r", "200ms", "-rf", "json", "-rff", f"{folder}/own.json"),
            ),
            _jmh,
        ),
        Case(
            "pytest-benchmark",
            pytest,
            "bench/bench_work.py::test_sum",
            lambda folder: (
                *pytest,
                "-o",
                "addopts=",
                "-k",
                "test_sum and not more",
                f"--benchmark-json={folder}/own.json",
            ),
            pytest_benchmark,
            bench,
        ),
        Case(
            "pyperf",
            (sys.executable, script),
            "sum",
            lambda folder: (sys.executable, script, "--fast", "-o", f"{folder}/own.json"),
            _pyperf,
        ),
        Case(
            "nanobench",
            (library, "--only={benchmark}"),
            "sum",
            lambda _: (library, "--only=sum"),
            nanobench,
        ),
        Case(
            "shell",
            (f"{sys.executable} -S -c '{TIMED}'",),
            "result",
            lambda _: (sys.executable, "-S", "-c", TIMED),
            _shell,
        ),
    ]


def _rust_cases() -> list[Case]:
    """The cases in Rust."""
    found = []
    for harness, name, words, report in (
        (
            "criterion",
            "work",
            ("--bench", "--exact", "work", "--warm-up-time", "0.5", "--measurement-time", "1"),
            criterion,
        ),
        ("divan", "cases::plain", ("--bench", "--exact", "cases::plain"), divan),
    ):
        program = BUILT / harness / "cases"
        own = (program, *words)
        found.append(Case(harness, (program,), name, lambda _, own=own: own, report))  # type: ignore[misc]
    return found


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Driven figures beside each harness's own report.")
    parser.add_argument("harness", nargs="*", help="only these")
    parser.add_argument("--turns", type=int, default=12, metavar="N", help="a report and a run by Steelyard each")
    parser.add_argument("--max-time", type=float, default=4.0, metavar="S", help="of each run by Steelyard")
    return parser.parse_args()


if __name__ == "__main__":
    main(_words())
