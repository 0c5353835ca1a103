"""Whether a Go benchmark seems to change if only its program starts more slowly.

    python benchmarks/go_starts.py [--minutes M]

A test binary fills a table of 60,000 strings before it begins, in some 17 ms, if an environment variable says so. It is
weighed with and without that, both ways round, with a negligible margin and for 8 s each. The table shows the median
change of an iteration's processor time over all pairs, with its standard error by resampling: it has to be 0, as the
time of a start is not part of the benchmark (docs/adapters/go.md).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import numpy.typing as npt

from benchmarks.live_identical import NO_MARGIN
from benchmarks.processes import compare, stoppable
from benchmarks.simulation import table
from benchmarks.suites import GO_WORK, built_go
from steelyard.model.files import load
from steelyard.model.records import Weighing

GO = f"""
package suite

import ("os"; "strconv"; "testing")
{GO_WORK}
var table = map[int]string{{}}

func init() {{
    if os.Getenv("SLOW") == "yes" {{ for n := 0; n < 60000; n++ {{ table[n] = strconv.Itoa(n) }} }}
}}

func BenchmarkWork(b *testing.B) {{ for n := 0; n < b.N; n++ {{ work(20000) }} }}
"""
SECONDS, RESAMPLED = "8s", 500


def log_ratios(folder: Path, baseline: str, candidate: str) -> npt.NDArray[np.float64]:
    """The log-ratios of the processor times of one weighing's pairs, shape (pairs,)."""
    record = folder / "record.json"
    options = ["--harness", "go", "--margin", f"{NO_MARGIN:.3%}", "--max-time", SECONDS]
    compare([baseline, candidate, *options], record)
    weighing = load(record)
    assert isinstance(weighing, Weighing)
    launches = weighing.launches
    before, after = launches.metric("cpu")[launches.complete_pairs(0)].T
    return np.asarray(np.log(after / before), dtype=np.float64)


def row(order: str, found: list[float]) -> list[object]:
    """Return a row: which way round, and the change over all pairs."""
    generator, values = np.random.default_rng(1), np.array(found)
    medians = [float(np.median(generator.choice(values, len(values)))) for _ in range(RESAMPLED)]
    return [order, len(values), f"{100 * np.median(values):+.2f} %", f"{100 * np.std(medians):.2f} %"]


def main(minutes: float) -> None:
    """Weigh both ways round in turn until the time is up."""
    found: dict[tuple[str, str], list[float]] = {("quick", "slow"): [], ("slow", "quick"): []}
    ends_at = time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory() as name, stoppable():
        folder = Path(name)
        program = built_go(folder, GO)
        commands = {"quick": f"env SLOW=not {program}", "slow": f"env SLOW=yes {program}"}
        while time.monotonic() < ends_at:
            for (baseline, candidate), of in found.items():
                of += log_ratios(folder, commands[baseline], commands[candidate]).tolist()
    header = ("baseline and candidate start", "pairs", "change", "standard error")
    print(table(header, [row(" and ".join(order), of) for order, of in found.items()]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5)
    main(parser.parse_args().minutes)
