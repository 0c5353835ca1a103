"""False alarms and power of `steelyard diff` on two imports, by their number of processes.

    python benchmarks/diff_imports.py [TRIES]

The wall times are as another tool would have written them: windows of the recorded traces, without how long a launch
waited for a processor. The program is the same in both, except for the planted change.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.diff_unpaired import Sessions, on_traces
from benchmarks.simulation import table
from benchmarks.words import whole_numbers
from steelyard.design.unpaired import foreign
from steelyard.design.unpaired.terms import Terms
from steelyard.model.foreign import ForeignBenchmark, ForeignFile, ForeignResults, Provenance
from steelyard.model.structs import validated
from steelyard.stats.arrays import FloatArray
from steelyard.stats.unpaired import FEWEST_SECONDS

TRACES = (("ambient", "ambient"), ("bursts", "bursts"), ("ambient", "bursts"))
SIZES = (20, 30, 40, 50, 100)
CHANGES = (0.0, 0.1, 0.2, 0.3)


def of_times(logs: FloatArray, name: str) -> ForeignResults:
    """An import in which each process has one value."""
    values = [[float(value)] for value in np.exp(logs)]
    files = [ForeignFile(name=name, sha256=name * 64)]
    return ForeignResults(
        tool="",
        created="",
        provenance=Provenance(format="hyperfine", tool="hyperfine", files=files),
        benchmarks=[
            validated(ForeignBenchmark, {"name": "work", "unit": "ns", "values": values, "seconds": FEWEST_SECONDS})
        ],
    )


def shares(sessions: Sessions, processes: int, change: float, tries: int) -> tuple[float, float]:
    """How often the second import is called slower, and how often faster."""
    generator = np.random.default_rng(1)
    verdicts = []
    for _ in range(tries):
        one, other = sessions(generator, processes)
        pair = of_times(one.logs, "a"), of_times(other.logs + np.log1p(change), "b")
        verdicts.append(
            foreign.compare_foreign(*pair, Terms(margin=0.005, alpha=0.01, same_conditions=True)).verdicts[0].verdict
        )
    return verdicts.count("slower") / tries, verdicts.count("faster") / tries


def main(tries: int) -> None:
    """Print one row per pair of traces and number of processes, without the rule that requires 40 of these."""
    foreign.FEWEST_PROCESSES = 0
    rows = []
    for one, other in TRACES:
        for processes in SIZES:
            sessions = on_traces(one, other, "wall")
            found = [shares(sessions, processes, change, tries) for change in CHANGES]
            rows.append(
                [f"{one}, {other}", processes, f"{sum(found[0]):.1%}", *(f"{slower:.0%}" for slower, _ in found[1:])]
            )
    header = ["traces", "processes", "false alarms", *(f"{change:+.0%} found" for change in CHANGES[1:])]
    print(table(header, rows))


if __name__ == "__main__":
    main(*whole_numbers(__doc__, tries=500))
