"""What a look at the pairs costs in processor time: one that does not decide, and one whose interval is shown.

    python benchmarks/look_cost.py [TRIES]

A look that does not decide should cost under 5 ms at 1,000 pairs and under 50 ms at 10,000.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as in the tool itself
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from benchmarks.simulation import SYNTHETIC, table
from benchmarks.words import whole_numbers
from steelyard.stats.looks import plan_looks
from steelyard.stats.paired import Rules, judge_look

PAIRS = (12, 100, 250, 1_000, 10_000)
# Such a small margin that nothing is decided.
RULES = Rules(margin=1e-5, alpha=0.01)
NOISES = ("quiet", "drift", "skewed")


def main(tries: int) -> None:
    """Print the median over the tries for each number of pairs."""
    rows = []
    for pairs in PAIRS:
        taken = [_milliseconds(pairs, tries, roughly=roughly) for roughly in (True, False)]
        rows.append((pairs, *(f"{each:.1f} ms" for each in taken)))
    print(table(("pairs", "a look that does not decide", "one whose interval is shown"), rows))


def _milliseconds(pairs: int, tries: int, *, roughly: bool) -> float:
    """The median over kinds of noise and tries."""
    generator, taken = np.random.default_rng(1), []
    for noise in (SYNTHETIC[name] for name in NOISES):
        for _ in range(tries):
            looks = plan_looks(pairs, ended=False)
            baseline, candidate = noise(generator, looks[-1].pairs).T
            for taken_before in range(1, len(looks)):  # which are remembered
                size = looks[taken_before - 1].pairs
                judge_look(baseline[:size], candidate[:size], looks[:taken_before], RULES, roughly=True)
            started = time.thread_time()
            judge_look(baseline, candidate, looks, RULES, roughly=roughly)
            taken.append(1e3 * (time.thread_time() - started))
    return float(np.median(taken))


if __name__ == "__main__":
    main(*whole_numbers(__doc__, tries=3))
