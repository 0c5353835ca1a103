"""The results of weighings of whole suites, for the benchmarks that weigh them."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.processes import compare, read_record
from benchmarks.simulation import VERDICTS

HEADER = ("suite", "change", "weighings", "with slower", *VERDICTS, "s", "which")

PYTHON_WORK = """
def work(rounds):
    state = 1
    for _ in range(rounds):
        state = state * 31 % 65537
    return state
"""

GO_WORK = """
var sink uint64

func work(rounds int) {
    state := uint64(1)
    for round := 0; round < rounds; round++ { state = state * 6364136223846793005 + 1 }
    sink += state
}
"""


def built_go(folder: Path, source: str) -> Path:
    """Build a Go package of benchmarks; returns its binary."""
    (folder / "go.mod").write_text("module suite\n\ngo 1.22\n")
    (folder / "work_test.go").write_text(source)
    subprocess.run(["go", "test", "-c", "-o", "suite"], cwd=folder, check=True, env={**os.environ, "GOFLAGS": ""})
    return folder / "suite"


def pytest_command(folder: Path, text: str, harness: str) -> str:
    """The command of a suite for pytest-benchmark, or for our own fixture, run by this Python without other plugins."""
    tests = folder / "test_suite.py"
    own = harness == "protocol"
    tests.write_text(text.replace("benchmark", "weigh") if own else text)
    plugin = "steelyard" if own else "pytest_benchmark.plugin"
    python = f"env PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q -p {plugin}"
    return f"{python} -p no:cacheprovider --rootdir {tests.parent} {tests}"


@dataclass
class Tally:
    """The weighings of one suite under one condition."""

    suite: str
    change: str
    changed: Counter[str] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)
    with_alarm: int = 0
    seconds: list[float] = field(default_factory=list)

    def add(self, verdicts: dict[str, str], seconds: float) -> None:
        """Count one weighing by its benchmarks' verdicts."""
        self.words += Counter(verdicts.values())
        self.changed += Counter(f"{name} {word}" for name, word in verdicts.items() if word in ("slower", "faster"))
        self.with_alarm += "slower" in verdicts.values()
        self.seconds.append(seconds)

    def row(self) -> list[object]:
        """The tally as a row of the table."""
        names = ", ".join(f"{name} ({count})" for name, count in self.changed.most_common()) or "none"
        counts = [self.words[word] for word in VERDICTS]
        seconds = f"{statistics.median(self.seconds):.0f}" if self.seconds else "-"
        return [self.suite, self.change, len(self.seconds), self.with_alarm, *counts, seconds, names]


def weigh_suite(
    folder: Path, harness: str, commands: Sequence[str], options: Sequence[str]
) -> tuple[dict[str, str], float]:
    """Weigh two commands' benchmarks once; return each one's verdict, and the seconds that it took."""
    record = folder / "record.json"
    ended = compare(["--harness", harness, *commands, "-n", "baseline", "-n", "candidate", *options], record)
    verdicts = read_record(record)["derived"]["verdicts"]
    return {verdict["benchmark"]: verdict["verdict"] for verdict in verdicts}, ended.seconds
