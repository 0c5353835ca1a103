"""What repeating disturbed pairs is worth for wall time, on the recorded traces.

python benchmarks/repeats_on_traces.py [WEIGHINGS]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.simulation import TRACE_NAMES, FloatArray, table, trace, weigh_once, window_of
from steelyard.design.timing.disturbance import is_disturbed, may_repeat
from steelyard.model.launches import LaunchRow

PAIRS = 252


def main(weighings: int) -> None:
    """Print one row a trace, change and way."""
    rows = []
    for name in TRACE_NAMES:
        wall, active = trace(name, "wall"), trace(name, "active")
        disturbed = [_disturbed(*pair) for pair in zip(wall, wall - active, strict=True)]
        for change in (0.0, 0.01):
            for way, marks in (("kept", [False] * len(wall)), ("repeated", disturbed)):
                rows.append((name, f"{change:+.0%}", way, *_weigh(wall, marks, change, weighings)))
    header = ("trace", "true change", "disturbed pairs", "slower", "faster", "same", "undecided", "pairs launched")
    print(f"{weighings} weighings a row by wall time, at most {PAIRS} pairs judged\n\n{table(header, rows)}")


def _disturbed(wall: FloatArray, delay: FloatArray) -> bool:
    empty = LaunchRow._make([0] * len(LaunchRow._fields))
    first, second = (
        empty._replace(wall_ns=int(w * 1e9), delay_ns=int(d * 1e9)) for w, d in zip(wall, delay, strict=True)
    )
    return is_disturbed(first, second, "wall")


def _weigh(wall: FloatArray, disturbed: list[bool], change: float, weighings: int) -> list[str]:
    generator = np.random.default_rng(1)
    verdicts, launched = [], []
    for _ in range(weighings):
        start = int(generator.integers(0, len(wall) - 2 * PAIRS))
        places = _keep(disturbed, start)
        sides = window_of(wall[places])(generator, PAIRS) * np.array([1.0, 1.0 + change])
        judgement = weigh_once(sides, margin=0.005, alpha=0.01)
        verdicts.append(judgement.verdict)
        launched.append(places[judgement.look.pairs - 1] - start + 1)
    shares = [f"{verdicts.count(word) / weighings:.1%}" for word in ("slower", "faster", "same", "undecided")]
    return [*shares, f"{np.median(launched):.0f}"]


def _keep(disturbed: list[bool], start: int) -> list[int]:
    kept: list[int] = []
    repeated, place = 0, start
    while len(kept) < PAIRS:
        if disturbed[place] and may_repeat(repeated, len(kept)):
            repeated += 1
        else:
            kept.append(place)
        place += 1
    return kept


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
