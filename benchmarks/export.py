"""How long it takes to write many samples as Parquet, CSV and pyperf's JSON, and what importing such a file costs.

    python benchmarks/export.py [--benchmarks N] [--tries N]

An import from pyperf, by default of 500 benchmarks in 40 processes of 100 values, is exported by `steelyard export`.
Each command is a process of its own, and its fastest try counts: elapsed time, processor time, and the size of the
file. Parquet has to be written in under 3 s.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.processes import STEELYARD, run, stoppable, with_own_store
from benchmarks.simulation import table

BAR_S = 3.0


def main(words: argparse.Namespace) -> int:
    """Print the table; returns 1 if Parquet took too long."""
    rows, slowest = [], 0.0
    with tempfile.TemporaryDirectory() as name, stoppable():
        folder = Path(name)
        theirs, record = folder / "theirs.json", folder / "record.json"
        inputs = str(Path(__file__).with_name("large_inputs.py"))
        run([sys.executable, inputs, "pyperf", str(theirs), str(words.benchmarks), "1"], {})
        for target, command in (
            (record, [STEELYARD, "import", str(theirs), "-o", str(record)]),
            (folder / "x.parquet", [STEELYARD, "export", str(record), "-o", str(folder / "x.parquet")]),
            (folder / "x.csv", [STEELYARD, "export", str(record), "-o", str(folder / "x.csv")]),
            (folder / "x.json", [STEELYARD, "export", str(record), "-f", "pyperf", "-o", str(folder / "x.json")]),
        ):
            ended = [run(command, with_own_store(folder)) for _ in range(words.tries)]
            best = min(ended, key=lambda one: one.seconds)
            size = f"{target.stat().st_size / 1e6:.0f} MB"
            rows.append((" ".join(command[1:2]), target.name, f"{best.seconds:.2f}", f"{best.cpu_s:.2f}", size))
            slowest = best.seconds if target.suffix == ".parquet" else slowest
        same = json.loads((folder / "x.json").read_bytes()) == json.loads(theirs.read_bytes())
    print(table(("command", "file", "seconds", "CPU seconds", "size"), rows))
    print(f"\npyperf's file comes out as it went in: {'yes' if same else 'NO'}")
    return int(slowest > BAR_S or not same)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--benchmarks", type=int, default=500)
    parser.add_argument("--tries", type=int, default=3)
    sys.exit(main(parser.parse_args()))
