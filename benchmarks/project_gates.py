"""A project's gate, run repeatedly while bursts of other work come and go.

    python benchmarks/project_gates.py FOLDER --base REV --candidate REV [GATES] [--quiet] [--keep FOLDER]
                                       [-- OPTIONS OF COMPARE]

FOLDER has a `steelyard.toml` with one target. Revisions without a difference in what runs (only in an unused constant,
say) show false alarms; a candidate with more work shows whether that is found. Each gate is one `steelyard compare` and
one `steelyard gate`, by the installed command.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.load import Bursts
from benchmarks.processes import STEELYARD, read_record, stoppable, with_own_store
from benchmarks.simulation import VERDICTS, table
from steelyard.stats.verdict import CHANGED

ANSWERS = (0, 1)


@dataclass
class Tally:
    """The gates so far."""

    words: Counter[str] = field(default_factory=Counter)
    gates: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    pairs: list[int] = field(default_factory=list)
    changed: Counter[str] = field(default_factory=Counter)

    def add(self, page: str, verdicts: list[dict[str, Any]], seconds: float) -> None:
        """Count one gate by the first words of its page, and by the verdicts of its record."""
        self.gates[page] += 1
        self.seconds.append(seconds)
        for verdict in verdicts:
            self.words[verdict["verdict"]] += 1
            self.pairs.append(verdict["pairs"])
            if verdict["verdict"] in CHANGED:
                self.changed[f"{verdict['verdict']} {verdict['change']:+.2%} {verdict['benchmark']}"] += 1

    def report(self) -> str:
        """The table so far, then every change that was reported."""
        row: list[object] = [sum(self.gates.values()), *(self.words[word] for word in VERDICTS)]
        row += [statistics.median(self.pairs), round(statistics.median(self.seconds))]
        lines = [table(("gates", *VERDICTS, "pairs", "seconds"), [row])]
        lines += [f"{times} x {page}" for page, times in self.gates.items()]
        return "\n".join([*lines, *sorted(self.changed)]) + "\n"


def gate(words: argparse.Namespace, folder: Path, tally: Tally) -> None:
    """Weigh and judge once."""
    record, page = folder / "record.json", folder / "page.md"
    sides = ["--base", words.base, "--candidate", words.candidate]
    started = time.monotonic()
    _run(words.folder, folder, "compare", *sides, *words.options, "--json", str(record))
    _run(words.folder, folder, "gate", str(record), "--markdown", str(page))
    seconds = time.monotonic() - started
    verdicts = read_record(record)["derived"]["verdicts"]
    tally.add(page.read_text().splitlines()[0], verdicts, seconds)
    if words.keep is not None and any(verdict["verdict"] in CHANGED for verdict in verdicts):
        words.keep.mkdir(parents=True, exist_ok=True)
        shutil.copy(record, words.keep / f"gate-{sum(tally.gates.values())}.json")


def _run(project: Path, folder: Path, *words: str) -> None:
    ended = subprocess.run(
        [STEELYARD, *words], cwd=project, env=with_own_store(folder), check=False, capture_output=True, text=True
    )
    if ended.returncode not in ANSWERS:
        raise SystemExit(f"steelyard {words[0]} ended with status {ended.returncode}: {ended.stdout}{ended.stderr}")


def main(words: argparse.Namespace) -> None:
    """Print the tally so far after each gate."""
    tally = Tally()
    bursts = contextlib.nullcontext() if words.quiet else Bursts()
    with tempfile.TemporaryDirectory() as name, stoppable(), bursts:
        for _ in range(words.gates):
            gate(words, Path(name), tally)
            print(tally.report(), flush=True)


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The gate of a project, again and again, under bursts.")
    parser.add_argument("folder", type=Path, help="has a steelyard.toml with one target")
    parser.add_argument("gates", nargs="?", type=int, default=20)
    parser.add_argument("--base", required=True, metavar="REV")
    parser.add_argument("--candidate", required=True, metavar="REV")
    parser.add_argument("--quiet", action="store_true", help="without bursts")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="has the records in which something changed")
    own, _, options = " ".join(sys.argv[1:]).partition(" -- ")
    words = parser.parse_intermixed_args(own.split())
    words.options = options.split()
    return words


if __name__ == "__main__":
    main(_words())
