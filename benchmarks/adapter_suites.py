"""Other projects' benchmark suites, driven by their own harness: false alarms, and a planted change of 3 %.

    python benchmarks/adapter_suites.py HARNESS COMMAND [--planted COMMAND] [--weighings N] [--planted-weighings N]
        [-b PATTERN ...] [--metric NAME] [--max-time SECONDS] [--directory FOLDER] [--env NAME=VALUE ...] [--quiet]

The command is weighed against itself, then against the planted one, among bursts of other work unless --quiet is given.
A suite shares one alpha of 0.01, so hardly any weighing may call an unchanged benchmark slower. `docs/adapters.md`
lists which suites were tried, where they come from, and what they showed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.load import Bursts
from benchmarks.processes import stoppable
from benchmarks.simulation import table
from benchmarks.suites import HEADER, Tally, weigh_suite


def main(words: argparse.Namespace) -> None:
    """Print the table so far after each weighing."""
    tallies: list[Tally] = []
    options = [word for pattern in words.benchmark for word in ("-b", pattern)]
    options += [word for variable in words.env for word in ("--env", variable)]
    options += [] if words.metric is None else ["--metric", words.metric]
    options += [] if words.max_time is None else ["--max-time", str(words.max_time)]
    if words.directory:
        os.chdir(words.directory)
    with tempfile.TemporaryDirectory() as name, stoppable():
        for change, candidate, weighings in (
            ("none", words.command, words.weighings),
            ("planted", words.planted, words.planted_weighings if words.planted else 0),
        ):
            tallies.append(Tally(words.harness, change))
            for _ in range(weighings):
                with nullcontext() if words.quiet else Bursts():
                    found = weigh_suite(Path(name), words.harness, [words.command, candidate], options)
                tallies[-1].add(*found)
                print(table(HEADER, [tally.row() for tally in tallies]), flush=True)


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="False alarms and power on suites that others wrote.")
    parser.add_argument("harness")
    parser.add_argument("command")
    parser.add_argument("--planted", metavar="COMMAND", help="the same suite with one benchmark made slower")
    parser.add_argument("--weighings", type=int, default=10, metavar="N", help="of the suite against itself")
    parser.add_argument("--planted-weighings", type=int, default=3, metavar="N", help="with the change")
    parser.add_argument("--benchmark", "-b", action="append", default=[], metavar="PATTERN")
    parser.add_argument("--metric", metavar="NAME", help="what is judged; default: as steelyard's")
    parser.add_argument("--max-time", type=float, metavar="SECONDS")
    parser.add_argument("--directory", metavar="FOLDER", help="where the commands are to run")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--quiet", action="store_true", help="no bursts around")
    return parser.parse_args()


if __name__ == "__main__":
    main(_words())
