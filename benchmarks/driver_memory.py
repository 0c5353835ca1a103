"""Memory of the driver and of its launch server while they launch /bin/true repeatedly.

python benchmarks/driver_memory.py [LAUNCHES]
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.loop import Loop, weighing_of
from benchmarks.processes import stoppable
from benchmarks.simulation import table
from benchmarks.words import whole_numbers

# Growth in the first tenth does not count, as the interpreter's own pools fill.
STOPS = (0.1, 0.25, 0.5, 1.0)


def main(launches: int) -> None:
    """Print the resident memory after a tenth of the launches, and after more of them."""
    stops = [max(1, round(share * launches / 2)) for share in STOPS]
    driver = psutil.Process()
    rows: list[tuple[object, ...]] = []
    with (
        tempfile.TemporaryDirectory() as name,
        stoppable(),
        Loop(weighing_of("/bin/true"), Path(name) / "weighing.journal") as loop,
    ):
        (guard,) = driver.children()
        (server,) = guard.children()
        for done, stop in itertools.pairwise((0, *stops)):
            loop.pairs(stop - done)
            rows.append((2 * stop, *(_resident(process) for process in (driver, server))))
    print(table(("launches", "driver", "launch server"), rows), flush=True)


def _resident(process: psutil.Process) -> str:
    return f"{process.memory_info().rss / 2**20:.1f} MiB"


if __name__ == "__main__":
    main(*whole_numbers(__doc__, launches=10_000))
