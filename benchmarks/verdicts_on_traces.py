"""False alarms, power, pairs and coverage of the whole procedure, stopping included, with a known truth.

    python benchmarks/verdicts_on_traces.py [WEIGHINGS] [--minutes M]

The claims of docs/statistics.md rest on this table; tests/stats/test_bars.py holds a smaller one to its bars. A
weighing takes 0.07 s of a processor, so a table of 1,000 per row takes an hour: it is printed anew after every ten of a
row.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.simulation import SYNTHETIC, TRACE_NAMES, VERDICTS, Noise, Tally, simulate, table, trace, window_of

EACH_TURN = 10
METRICS = {"ambient": ("cpu", "active"), "bursts": ("cpu", "active", "wall")}
# (true change, margin)
CASES = ((0.0, 0.005), (0.003, 0.005), (0.005, 0.002), (0.01, 0.005), (0.02, 0.005), (0.10, 0.005))


MADE_UP_CASES = ((0.0, 0.005), (0.01, 0.005))


@dataclass(frozen=True)
class Place:
    """One row: a kind of noise, and the change and margin weighed in it."""

    name: str
    noise: Noise
    change: float
    margin: float
    tick: float | None = None

    def row(self, tally: Tally) -> tuple[str, ...]:
        """Return the row of the table."""
        shares = (f"{tally.share(word):.1%}" for word in VERDICTS)
        measured = (*shares, f"{tally.median_pairs:.0f}", f"{tally.coverage:.1%}")
        return (self.name, f"{self.change:+.1%}", f"{self.margin:.1%}", str(tally.weighings), *measured)


def places() -> Iterator[Place]:
    """All rows."""
    for name in TRACE_NAMES:
        for metric in METRICS[name]:
            noise = window_of(trace(name, metric))
            yield from (Place(f"{name}, {metric}", noise, *case) for case in CASES)
    for name, noise in SYNTHETIC.items():
        yield from (Place(name, noise, *case) for case in MADE_UP_CASES)
    yield from (Place("quiet, ticks of 8 % (1 ms)", SYNTHETIC["quiet"], *case, tick=0.08) for case in MADE_UP_CASES)


def main(weighings: int, minutes: float) -> None:
    """Take turns, ten weighings of each row, and print the table after each."""
    rows = list(places())
    tallies: dict[int, Tally] = {}
    end = time.monotonic() + 60 * minutes
    for turn in range(math.ceil(weighings / EACH_TURN)):
        for number, place in enumerate(rows):
            if turn and time.monotonic() > end:
                break
            tally = simulate(
                place.noise, place.change, margin=place.margin, weighings=EACH_TURN, tick=place.tick, seed=1 + turn
            )
            tallies[number] = tallies[number] + tally if number in tallies else tally
        print(report(rows, tallies), flush=True)
        if time.monotonic() > end:
            return


def report(rows: list[Place], tallies: dict[int, Tally]) -> str:
    """The table so far."""
    header = ("noise", "true change", "margin", "weighings", *VERDICTS, "median pairs", "coverage")
    return f"at most 252 pairs, alpha 0.01\n\n{table(header, (rows[at].row(tallies[at]) for at in tallies))}\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The procedure on recorded and on made-up noise.")
    parser.add_argument("weighings", type=int, nargs="?", default=1000)
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no other row after that")
    asked = parser.parse_args()
    main(asked.weighings, asked.minutes)
