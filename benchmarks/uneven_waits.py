"""How often one side is said to wait more, by chance and truly; and what repeats leave of a change made of waits.

    python benchmarks/uneven_waits.py [WEIGHINGS]

The programs take 12 ms with 1 % of noise, and waits for a processor on top: those of the recorded traces, and made-up
ones. They are weighed by wall time as in a live weighing: disturbed pairs are repeated, and it ends with its verdict.
"""

from __future__ import annotations

import sys
from math import expm1
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.simulation import TRACE_NAMES, FloatArray, Noise, table, trace, weigh_once, window_of
from benchmarks.words import whole_numbers
from steelyard.design.judging.waits import LEVEL, uneven_waits
from steelyard.design.timing.disturbance import Repeats
from steelyard.model.rows import LaunchRow
from steelyard.stats.signed_rank import estimate

PAIRS = 252
WORK_NS = 12e6
EMPTY = LaunchRow._make([0] * len(LaunchRow._fields))


def main(weighings: int) -> None:
    """Print one row per kind of waits and length of the candidate."""
    rows = [(*_weigh(noise, 1.0, weighings, name),) for name, noise in _alike().items()]
    rows += [_weigh(noise, 1.2, weighings, f"{name}; candidate 20 % longer") for name, noise in _alike().items()]
    rows += [_weigh(noise, 1.0, weighings, name) for name, noise in _uneven().items()]
    header = ("waits", "weighings", "said to be uneven", "pairs", "wall time, all pairs", "without the repeated")
    print(f"level {LEVEL}\n\n{table(header, rows)}")


def _alike() -> dict[str, Noise]:
    found = {}
    for name in TRACE_NAMES:
        active = trace(name, "active")
        found[f"of {name}"] = window_of((trace(name, "wall") - active) / active)
    return {**found, "10 % of launches": _now_and_then(0.1, 0.1), "storms": _storms}


def _uneven() -> dict[str, Noise]:
    return {
        f"{baseline:.0%} of the baseline's launches, {candidate:.0%} of the candidate's": _now_and_then(
            baseline, candidate
        )
        for baseline, candidate in ((0.1, 0.15), (0.1, 0.2), (0.1, 0.3), (0.02, 0.2), (0.3, 0.6))
    }


def _now_and_then(baseline: float, candidate: float) -> Noise:
    def noise(generator: np.random.Generator, pairs: int) -> FloatArray:
        waits = generator.random((pairs, 2)) < np.array([baseline, candidate])
        return np.asarray(waits * generator.uniform(0.05, 0.6, (pairs, 2)))

    return noise


def _storms(generator: np.random.Generator, pairs: int) -> FloatArray:
    storm = np.repeat(generator.random(pairs // 9 + 1) < 0.3, 9)[:pairs]
    return np.asarray(generator.uniform(0.0, 0.4, (pairs, 2)) * storm[:, None])


def _weigh(noise: Noise, longer: float, weighings: int, name: str) -> tuple[object, ...]:
    generator = np.random.default_rng(1)
    said, launched, changes = 0, [], []
    for _ in range(weighings):
        waits = noise(generator, 2 * PAIRS)
        active = WORK_NS * np.array([1.0, longer]) * np.exp(0.01 * generator.standard_normal((2 * PAIRS, 2)))
        wall, delay = active * (1 + waits), active * waits
        places = _kept(wall, delay)
        judgement = weigh_once(wall[places], margin=0.005, alpha=0.01)
        end = places[judgement.look.pairs - 1] + 1
        said += uneven_waits(wall[:end], delay[:end]) is not None
        launched.append(end)
        changes.append([_change(wall[:end]), _change(wall[[place for place in places if place < end]])])
    every, kept = np.median(changes, axis=0)
    return name, weighings, f"{said / weighings:.2%}", f"{np.median(launched):.0f}", f"{every:+.1%}", f"{kept:+.1%}"


def _kept(wall: FloatArray, delay: FloatArray) -> list[int]:
    repeats, places, place = Repeats("wall", 2), [], 0
    while repeats.kept < PAIRS and place < len(wall):
        pair = [EMPTY._replace(wall_ns=int(wall[place, side]), delay_ns=int(delay[place, side])) for side in (0, 1)]
        if not repeats.is_to_repeat(pair[0], pair[1]):
            places.append(place)
        place += 1
    return places


def _change(wall: FloatArray) -> float:
    return expm1(estimate(np.log(wall[:, 1] / wall[:, 0]), 0.01).centre)


if __name__ == "__main__":
    main(*whole_numbers(__doc__, weighings=1000))
