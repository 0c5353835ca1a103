"""How fast the tool itself is: `--help` beside an empty Python, and a record of 10,000 launches shown again.

python benchmarks/tool_speed.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.simulation import table
from steelyard.machine.facts import read_facts
from steelyard.model.files import save
from steelyard.model.launches import Launches, LaunchRow
from steelyard.model.records import Weighing
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark, Subject

STEELYARD = str(Path(sys.executable).with_name("steelyard"))
TRIES = 21
PAIRS = 5_000


def main() -> None:
    """Alternate the commands, so that whatever disturbs this machine meets them all, and print medians."""
    with tempfile.TemporaryDirectory() as folder:
        plain, packed = Path(folder) / "record.json", Path(folder) / "record.json.gz"
        record = _record()
        save(record, plain)
        save(record, packed)
        commands = {
            "python -c ''": [sys.executable, "-c", ""],
            "steelyard --help": [STEELYARD, "--help"],
            "steelyard show, 10,000 launches": [STEELYARD, "show", str(plain)],
            "the same, gzipped": [STEELYARD, "show", str(packed)],
        }
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(TRIES):
            for name, command in commands.items():
                started = time.monotonic()
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
                seconds[name].append(time.monotonic() - started)
    medians = {name: statistics.median(taken) for name, taken in seconds.items()}
    base = medians["python -c ''"]
    rows = [(name, f"{1e3 * taken:.0f} ms", f"{1e3 * (taken - base):+.0f} ms") for name, taken in medians.items()]
    print(f"medians of {TRIES}\n\n{table(('command', 'takes', 'over an empty Python'), rows)}")


def _record() -> Weighing:
    """A weighing that no look decided, so that showing it replays them all."""
    generator = np.random.default_rng(1)
    rows = []
    for pair in range(PAIRS):
        for side in (0, 1):
            wall = int(12e6 * np.exp(0.05 * generator.standard_normal() + 0.004 * side))
            clock = 2 * pair + side
            place = [0, pair, side, side, 1, pair + 1, pair % 4096, 0, clock * 13_000_000]
            measured = [wall, 100_000, wall, 0, 1, wall, 0, 2**20, 120, 0, 0, 1, 0, 0, 0, 0, None, 0]
            rows.append(LaunchRow._make([*place, *measured, ()]))
    subjects = [Subject(name=name, command=name, argv=[name], program=f"/bin/{name}") for name in ("old", "new")]
    return Weighing(
        tool="benchmark",
        created="2026-01-01T00:00:00+00:00",
        machine=read_facts(),
        settings=Settings(margin=0.001, max_time_s=None, pairs=PAIRS),
        subjects=subjects,
        benchmarks=[Benchmark(name="work")],
        stop=["pairs"],
        seconds=PAIRS * 0.026,
        launches=Launches.of_rows(rows),
    )


if __name__ == "__main__":
    main()
