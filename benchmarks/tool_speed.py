"""How fast the tool itself is: `--help` compared with an empty Python, and showing a record of 10,000 launches again.

python benchmarks/tool_speed.py [TRIES]
"""

from __future__ import annotations

import gzip
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.large_inputs import write_record
from benchmarks.processes import STEELYARD
from benchmarks.simulation import table
from benchmarks.words import whole_numbers

PAIRS = 5_000


def main(tries: int) -> None:
    """Alternate the commands, so that whatever disturbs this machine hits them all, and print medians."""
    with tempfile.TemporaryDirectory() as folder:
        plain, packed = Path(folder) / "record.json", Path(folder) / "record.json.gz"
        write_record(plain, PAIRS)
        packed.write_bytes(gzip.compress(plain.read_bytes()))
        commands = {
            "python -c ''": [sys.executable, "-c", ""],
            "steelyard --help": [STEELYARD, "--help"],
            "steelyard show, 10,000 launches": [STEELYARD, "show", str(plain)],
            "the same, gzipped": [STEELYARD, "show", str(packed)],
        }
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(tries):
            for name, command in commands.items():
                started = time.monotonic()
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
                seconds[name].append(time.monotonic() - started)
    medians = {name: statistics.median(taken) for name, taken in seconds.items()}
    base = medians["python -c ''"]
    rows = [(name, f"{1e3 * taken:.0f} ms", f"{1e3 * (taken - base):+.0f} ms") for name, taken in medians.items()]
    print(f"medians of {tries}\n\n{table(('command', 'takes', 'over an empty Python'), rows)}")


if __name__ == "__main__":
    main(*whole_numbers(__doc__, tries=21))
