"""Suites of real micro-benchmarks, one in each SDK (examples/): false alarms, and a planted change of 2 %.

    python benchmarks/harness_suites.py [python|cpp|rust ...] [--weighings N] [--planted N] [--max-time SECONDS]

Among bursts of other work, each suite is weighed against itself, then against itself with one benchmark made 2 %
slower. A suite shares one alpha of 0.01, so hardly any weighing may call an unchanged benchmark slower.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.load import Bursts
from benchmarks.processes import ROOT, stoppable
from benchmarks.simulation import table
from benchmarks.suites import HEADER, Tally, weigh_suite

EXAMPLES = ROOT / "examples"


@dataclass(frozen=True)
class Suite:
    """The commands of one suite: unchanged, and with the planted change."""

    plain: str
    planted: str
    variables: dict[str, str] = field(default_factory=dict)


def python_suite(folder: Path) -> Suite:
    """The suite of examples/python; a wrapper plants the change, as a variable of the weighing affects both sides."""
    del folder
    harness = f"{sys.executable} -m steelyard.harness {EXAMPLES / 'python'}"
    return Suite(harness, f"env PLANTED=1 {harness}")


def cpp_suite(folder: Path) -> Suite:
    """The suite of examples/cpp, built twice."""
    sources = sorted((EXAMPLES / "cpp").glob("*.cpp"))
    for name, flags in (("plain", []), ("planted", ["-DPLANTED"])):
        command = ["c++", "-std=c++17", "-O2", f"-I{ROOT / 'sdk' / 'cpp'}", *flags, "-o", str(folder / name)]
        command += [str(source) for source in sources]
        subprocess.run(command, check=True)
    return Suite(str(folder / "plain"), str(folder / "planted"))


def rust_suite(folder: Path) -> Suite:
    """The suite of examples/rust, built twice."""
    for name, flags in (("plain", []), ("planted", ["--features", "planted"])):
        build = ["cargo", "bench", "--no-run", "--offline", "--locked", "--target-dir", str(folder / name), *flags]
        subprocess.run(build, check=True, cwd=EXAMPLES / "rust")
        built = (folder / name / "release" / "deps").glob("suite-*")
        (folder / f"{name}.bench").symlink_to(next(path for path in built if not path.suffix))
    return Suite(str(folder / "plain.bench"), str(folder / "planted.bench"))


SUITES = {"python": python_suite, "cpp": cpp_suite, "rust": rust_suite}


def main(words: argparse.Namespace) -> None:
    """Print the table so far after each weighing."""
    tallies: list[Tally] = []
    options = [] if words.max_time is None else ["--max-time", str(words.max_time)]
    with tempfile.TemporaryDirectory() as name, stoppable():
        for sdk in words.suites or list(SUITES):
            folder = Path(name) / sdk
            folder.mkdir()
            suite = SUITES[sdk](folder)
            for change, candidate, weighings in (
                ("none", suite.plain, words.weighings),
                ("one, 2 %", suite.planted, words.planted),
            ):
                tallies.append(Tally(sdk, change))
                for _ in range(weighings):
                    with Bursts():
                        found = weigh_suite(folder, "protocol", [suite.plain, candidate], options)
                    tallies[-1].add(*found)
                    print(table(HEADER, [tally.row() for tally in tallies]), flush=True)


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="False alarms and a planted change in suites of each SDK.")
    parser.add_argument("suites", nargs="*", choices=[*SUITES, []], help="all, if none is given")
    parser.add_argument("--weighings", type=int, default=20, metavar="N", help="of each suite against itself")
    parser.add_argument("--planted", type=int, default=3, metavar="N", help="of each suite with the change")
    parser.add_argument("--max-time", type=float, metavar="SECONDS", help="of a weighing; default: 3 s a benchmark")
    return parser.parse_args()


if __name__ == "__main__":
    main(_words())
