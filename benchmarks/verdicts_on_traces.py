"""False alarms, power, pairs and coverage of the whole procedure, stopping included, where the truth is known.

    python benchmarks/verdicts_on_traces.py [WEIGHINGS]

The claims of docs/statistics.md stand on this table; tests/stats/test_bars.py holds a smaller one to its bars.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.simulation import SYNTHETIC, TRACE_METRICS, TRACE_NAMES, Noise, simulate, table, trace, window_of

# (true change, margin)
CASES = ((0.0, 0.005), (0.003, 0.005), (0.005, 0.002), (0.01, 0.005), (0.02, 0.005), (0.10, 0.005))


def main(weighings: int) -> None:
    """Print one row a noise and case."""
    noises: dict[str, Noise] = {
        f"{name}, {metric}": window_of(trace(name, metric)) for name in TRACE_NAMES for metric in TRACE_METRICS
    }
    rows = [
        _row(name, noise, change, margin, weighings)
        for name, noise in {**noises, **SYNTHETIC}.items()
        for change, margin in CASES
    ]
    coarse = ("quiet, ticks of 8 % (1 ms)", SYNTHETIC["quiet"])
    rows += [_row(*coarse, change, 0.005, weighings, tick=0.08) for change in (0.0, 0.01)]
    header = ("noise", "true change", "margin", "slower", "faster", "same", "undecided", "median pairs", "coverage")
    print(f"{weighings} weighings a row, at most 252 pairs, alpha 0.01\n\n{table(header, rows)}")


def _row(
    name: str, noise: Noise, change: float, margin: float, weighings: int, tick: float | None = None
) -> tuple[str, ...]:
    tally = simulate(noise, change, margin=margin, weighings=weighings, tick=tick)
    shares = (f"{tally.share(word):.2%}" for word in ("slower", "faster", "same", "undecided"))
    return (name, f"{change:+.1%}", f"{margin:.1%}", *shares, f"{tally.median_pairs:.0f}", f"{tally.coverage:.2%}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
