"""What repeating disturbed pairs is worth for wall time, on the recorded traces.

    python benchmarks/repeats_on_traces.py [WEIGHINGS]

The time that a launch waited is known to the nanosecond (`waiting`), or was stolen: then it only shows in a counter of
10 ms ticks that adds up all processors, where all others lose as much at the same time (`stolen of N`), and another
0.2 % of the time is stolen throughout.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.simulation import TRACE_NAMES, VERDICTS, FloatArray, table, trace, weigh_once, window_of
from benchmarks.words import whole_numbers
from steelyard.design.timing.disturbance import STEAL_TICK_NS, Repeats
from steelyard.model.rows import LaunchRow

PAIRS = 252
ALWAYS_STOLEN = 0.002
EMPTY = LaunchRow._make([0] * len(LaunchRow._fields))

Pair = tuple[LaunchRow, LaunchRow]


def main(weighings: int) -> None:
    """Print one row per trace, change and way."""
    rows = []
    for name in TRACE_NAMES:
        wall, active = trace(name, "wall"), trace(name, "active")
        ways: dict[str, tuple[list[Pair] | None, int]] = {
            "nothing": (None, 1),
            "waiting": (waiting(wall, wall - active), 1),
            "stolen of 2": (stolen(wall, wall - active, 2), 2),
            "stolen of 64": (stolen(wall, wall - active, 64), 64),
        }
        for change in (0.0, 0.01):
            rows += [(name, f"{change:+.0%}", way, *_weigh(wall, *ways[way], change, weighings)) for way in ways]
    header = ("trace", "true change", "repeated by", *VERDICTS, "pairs launched")
    print(f"{weighings} weighings a row by wall time, at most {PAIRS} pairs judged\n\n{table(header, rows)}")


def waiting(wall: FloatArray, lost: FloatArray) -> list[Pair]:
    """The pairs, with what they lost as waits for a processor."""
    return _pairs(wall, lambda pair, side: {"delay_ns": round(lost[pair, side] * 1e9)})


def stolen(wall: FloatArray, lost: FloatArray, processors: int) -> list[Pair]:
    """The pairs, with what they lost as the machine's stolen time, in ticks that may fall into any launch."""
    grown = processors * (lost + ALWAYS_STOLEN * wall).ravel() * 1e9
    ticks = np.diff(np.cumsum(np.concatenate([[0.0], grown])) // STEAL_TICK_NS).reshape(wall.shape)
    return _pairs(wall, lambda pair, side: {"steal_ns": int(ticks[pair, side]) * STEAL_TICK_NS})


def _pairs(wall: FloatArray, lost: Callable[[int, int], dict[str, int]]) -> list[Pair]:
    def launch(pair: int, side: int) -> LaunchRow:
        return EMPTY._replace(wall_ns=round(wall[pair, side] * 1e9), **lost(pair, side))

    return [(launch(pair, 0), launch(pair, 1)) for pair in range(len(wall))]


def _weigh(wall: FloatArray, pairs: list[Pair] | None, processors: int, change: float, weighings: int) -> list[str]:
    generator = np.random.default_rng(1)
    verdicts, launched = [], []
    for _ in range(weighings):
        start = int(generator.integers(0, len(wall) - 2 * PAIRS))
        places = kept(pairs, start, processors) if pairs else list(range(start, start + PAIRS))
        sides = window_of(wall[places])(generator, PAIRS) * np.array([1.0, 1.0 + change])
        judgement = weigh_once(sides, margin=0.005, alpha=0.01)
        verdicts.append(judgement.verdict)
        launched.append(places[judgement.look.pairs - 1] - start + 1)
    shares = [f"{verdicts.count(word) / weighings:.1%}" for word in VERDICTS]
    return [*shares, f"{np.median(launched):.0f}"]


def kept(pairs: list[Pair], start: int, processors: int) -> list[int]:
    """The positions of the judged pairs, from `start` on."""
    repeats, places, place = Repeats("wall", processors), [], start
    while repeats.kept < PAIRS:
        if not repeats.is_to_repeat(*pairs[place]):
            places.append(place)
        place += 1
    return places


if __name__ == "__main__":
    main(*whole_numbers(__doc__, weighings=1000))
