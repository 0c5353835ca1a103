"""What `--pairing auto` takes beside pairs one after the other, in made-up noise; its false alarms; its intervals.

    python benchmarks/pairing_choice.py [--weighings N] [--again N] [--kinds A,B] [--begins-beside] [--seed S]
    python benchmarks/pairing_choice.py --alarms [--weighings N] [--kinds A,B] [--begins-beside] [--seed S]

It simulates whole weighings with the tool's own choice of how each pair runs (`Pairing`), and its own looks. Pairs in
tandem have other noise of the same kind, larger or smaller by a factor, in the same phases, and take a little longer.
All ways have the same noise in each weighing, so only the choice makes them differ. Time is that of the launches until
the verdict, or until so many pairs were judged, in units of a pair one after the other.

With `--alarms` both sides are alike, and rejections of "no change" at alpha 5 % are counted; for other changes, and for
none, how often the 95 % interval at the stopping look holds the true change.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import product, starmap
from math import log, log1p
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import Literal

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
from tests.world import measured

from benchmarks.simulation import SYNTHETIC, FloatArray, table, weigh_once
from steelyard.design.runner.draws import draw_places
from steelyard.design.timing.pairing import Pairing
from steelyard.model.numbers import NUMBERS
from steelyard.model.rows import USED, WARM_UP, LaunchRow
from steelyard.model.settings import Settings
from steelyard.stats.looks import plan_looks
from steelyard.stats.paired import Judgement
from steelyard.stats.sequential import Hypothesis, run_tests

Way = Literal["adjacent", "tandem", "auto"]
WAYS: tuple[Way, ...] = ("adjacent", "tandem", "auto")
MARGIN, ALPHA = 0.005, 0.01
MOST_PAIRS = 330
# How many times as long a pair takes in tandem as one after the other.
CROWDED = 1.05
# How many times as large its noise is in tandem.
TIMES = (0.1, 0.3, 0.6, 1.0, 1.4, 3.0)
# A change, and a factor for the noise of SYNTHETIC: these take 20 to several hundred pairs.
PLACES = ((0.0, 0.7), (0.0, 1.5), (0.01, 0.7), (0.01, 1.5), (0.01, 3.0), (0.03, 3.0))
# The most that `auto` may take, in the time of pairs one after the other; few weighings may exceed it by chance.
MOST = 1.1
LONG_MS, SHORT_MS = 45.0, 12.0
# For false alarms and intervals.
LIKELY_ALPHA, FEWER_PAIRS = 0.05, 120
AA_TIMES, TRUE_CHANGES = (0.25, 0.8, 1.4), (0.0, 0.005, 0.02)
HEADER = ("noise", "change", "size", "in tandem", "ms", "pairs", "tandem/adjacent", "auto/adjacent", "ends in tandem")

_numbers = attrgetter(*NUMBERS)


def phases(generator: np.random.Generator, pairs: int) -> FloatArray:
    """Calm and storm in turn, for about 20 pairs each, with four times the noise in storms."""
    turns = np.cumsum(generator.random(pairs) < 0.05) + generator.integers(2)
    return np.where(turns % 2, 2.2, 0.55)


def storm_first(_generator: np.random.Generator, pairs: int) -> FloatArray:
    """A storm that is over when the first pairs in tandem have run."""
    return np.where(np.arange(pairs) < 30, 3.0, 0.7)


def waves(_generator: np.random.Generator, pairs: int) -> FloatArray:
    """A storm of two pairs, about as often as a pair in tandem is tried."""
    return np.where(np.arange(pairs) % 13 < 2, 5.0, 0.7)


PHASES = {kind.__name__: kind for kind in (phases, storm_first, waves)}
KINDS = (*SYNTHETIC, *PHASES)


@dataclass(frozen=True)
class Noise:
    """The logarithms of what both sides of each pair measure, (pairs, 2), by the pairs' positions in time."""

    adjacent: FloatArray
    tandem: FloatArray

    @classmethod
    def of(cls, kind: str, seed: tuple[int, ...], pairs: int) -> Noise:
        """Draw the noise of one weighing."""
        generator = np.random.default_rng(seed)
        if kind in SYNTHETIC:
            return cls(*(np.log(SYNTHETIC[kind](generator, pairs)) for _ in range(2)))
        size = 0.01 * PHASES[kind](generator, pairs)[:, None]
        return cls(*(size * generator.standard_normal((pairs, 2)) for _ in range(2)))

    def weighed(self, change: float, times: float, size: float) -> Noise:
        """Return the noise scaled, and with a change."""
        moved = np.array([0.0, log1p(change)])
        return Noise(size * self.adjacent + moved, size * times * self.tandem + moved)


@dataclass(frozen=True)
class Pairs:
    """The judged pairs of one weighing, in their order."""

    sides: FloatArray
    """The logarithms of both sides, (n, 2)."""
    tandem: list[bool]
    spent: list[float]
    """The time until each was there, with all that was tried before."""


def pairs_of(noise: Noise, way: Way, place: Place, judged: int, seed: int) -> Pairs:
    """Run pairs until so many are judged."""
    settings = Settings(seed=seed, margin=MARGIN, alpha=ALPHA, metrics=["active"], pairing=way, warm_up=0)
    pairing = Pairing(settings, {"short_turns": place.begins_beside})
    sides, ways, spent = list[FloatArray](), list[bool](), list[float]()
    time, alone, ms = 0.0, 0, place.ms
    pairing.note(_rows(seed, len(noise.tandem), WARM_UP, np.array([ms, ms]), tandem=False))
    for at in range(len(noise.tandem)):
        chosen = pairing.choose()
        # Tried pairs do not move others in time, so that all ways have the same noise.
        logs = noise.tandem[at] + log(CROWDED) if chosen.tandem else noise.adjacent[alone]
        alone += not chosen.tandem
        if way == "auto" and not pairing.is_settled:
            pairing.note(_rows(seed, at, chosen.role, ms * np.exp(logs), tandem=chosen.tandem))
        time += CROWDED if chosen.tandem else 1.0
        if chosen.role == USED:
            sides.append(logs)
            ways.append(chosen.tandem)
            spent.append(time)
            if len(sides) == judged:
                break
    return Pairs(np.array(sides), ways, spent)


def _rows(seed: int, pair: int, role: str, ms: FloatArray, *, tandem: bool) -> tuple[LaunchRow, LaunchRow]:
    """The rows of a pair; in tandem each launch waits for its partner."""
    first, second = (
        LaunchRow._make((*place, *_launch(ms[place.side], ms[1 - place.side] if tandem else 0.0), 0, (), ()))
        for place in draw_places(seed, 0, pair, role, tandem=tandem)
    )
    return first, second


def _launch(ms: float, waits_ms: float) -> tuple[object, ...]:
    ns, waits_ns = round(1e6 * ms), round(1e6 * waits_ms)
    found: tuple[object, ...] = _numbers(measured(ms + waits_ms, cpu_ns=ns, user_ns=ns, delay_ns=waits_ns))
    return found


def judged_of(pairs: Pairs, alpha: float, *, roughly: bool) -> Judgement:
    """Take looks at the pairs, and stop, as the tool does."""
    return weigh_once(np.exp(pairs.sides), margin=MARGIN, alpha=alpha, roughly=roughly)


@dataclass(frozen=True)
class Place:
    """A kind of noise and its factor, a change, and how long a launch takes."""

    kind: str
    change: float
    size: float
    ms: float = LONG_MS
    begins_beside: bool = False
    """Whether `auto` begins in tandem, as it does with short turns."""


@dataclass
class Found:
    """The time that weighings took in each way, and the way in which `auto` ended."""

    spent: dict[Way, list[float]] = field(default_factory=lambda: {way: [] for way in WAYS})
    pairs: dict[Way, list[int]] = field(default_factory=lambda: {way: [] for way in WAYS})
    in_tandem: list[bool] = field(default_factory=list)

    def ratio(self, way: Way) -> float:
        """The mean time of a way relative to pairs one after the other."""
        return fmean(self.spent[way]) / fmean(self.spent["adjacent"])


def taken(place: Place, weighings: int, seed: int, all_times: tuple[float, ...] = TIMES) -> dict[float, Found]:
    """The time that weighings at a place take, by the factor of the noise in tandem."""
    found = {times: Found() for times in all_times}
    for number in range(weighings):
        noise = Noise.of(place.kind, (seed, number), 2 * MOST_PAIRS)
        stops: dict[tuple[bool, ...], int] = {}  # the same for all factors if no judged pair was in tandem
        for (times, one), way in product(found.items(), WAYS):
            mine = noise.weighed(place.change, times, place.size)
            pairs = pairs_of(mine, way, place, MOST_PAIRS, number)
            ways = tuple(pairs.tandem)
            stop = stops.get(ways) or judged_of(pairs, ALPHA, roughly=True).look.pairs
            if not any(ways):
                stops[ways] = stop
            one.pairs[way].append(stop)
            one.spent[way].append(pairs.spent[stop - 1])
            if way == "auto":
                one.in_tandem.append(pairs.tandem[stop - 1])
    return found


def times_table(asked: argparse.Namespace) -> None:
    """Print the table of times by noise."""
    places = [Place(kind, *one, begins_beside=asked.begins_beside) for kind, one in product(asked.kinds, PLACES)]
    places.append(Place("quiet", 0.01, 1.5, SHORT_MS))
    with ProcessPoolExecutor(asked.jobs) as pool:
        each = pool.map(partial(taken, weighings=asked.weighings, seed=asked.seed), places)
        rows = [
            (place, times, one) for place, all_of in zip(places, each, strict=True) for times, one in all_of.items()
        ]
    print(table(HEADER, starmap(_cells, rows)))
    auto, tandem = (np.array([one.ratio(way) for _, _, one in rows]) for way in WAYS[:0:-1])
    print(f"\nauto/adjacent: worst {auto.max():.3f}, over {MOST} at {(auto > MOST).sum()} of {len(auto)} places")
    for name, chosen in (("slower", tandem >= 1), ("faster", tandem < 1), ("twice as fast", tandem < 0.5)):
        means = (float(np.exp(np.log(ratios[chosen]).mean())) for ratios in (auto, tandem))
        print(
            f"tandem {name}: {chosen.sum()} places, geometric mean of auto {next(means):.3f}, tandem {next(means):.3f}"
        )
    over = [(place, times) for place, times, one in rows if one.ratio("auto") > MOST]
    with ProcessPoolExecutor(asked.jobs) as pool:
        jobs = [pool.submit(taken, place, asked.again, asked.seed + 1, (times,)) for place, times in over]
        rows = [(place, times, job.result()[times]) for (place, times), job in zip(over, jobs, strict=True)]
    print(f"\nThose again, with {asked.again} other weighings each:\n\n{table(HEADER, starmap(_cells, rows))}")


def _cells(place: Place, times: float, found: Found) -> Iterator[str]:
    yield from (place.kind, f"{place.change:+.0%}", f"{place.size:g}", f"x{times:g}", f"{place.ms:g}")
    yield f"{fmean(found.pairs['adjacent']):.0f}"
    yield from (f"{found.ratio(way):.2f}" for way in ("tandem", "auto"))
    yield f"{fmean(found.in_tandem):.0%}"


def holds(place: Place, times: float, weighings: int, seed: int) -> tuple[int, int, int]:
    """How many weighings rejected the true change at any look, ended in tandem, and (of every fourth) covered it."""
    rejected = covered = ended = 0
    truth, looks = log1p(place.change), plan_looks(FEWER_PAIRS, ended=True)
    for number in range(weighings):
        noise = Noise.of(place.kind, (seed, number, 1), 2 * FEWER_PAIRS)
        pairs = pairs_of(noise.weighed(place.change, times, place.size), "auto", place, FEWER_PAIRS, number)
        d, levels = pairs.sides[:, 1] - pairs.sides[:, 0], pairs.sides.mean(axis=1)
        rejected += run_tests(d, levels, looks, [Hypothesis(truth, LIKELY_ALPHA)], keep=False)[0].rejected
        ended += pairs.tandem[-1]
        if number % 4 == 0:
            judgement = judged_of(pairs, LIKELY_ALPHA, roughly=False)
            covered += judgement.lower <= truth <= judgement.upper
    return rejected, ended, covered


def alarms_table(asked: argparse.Namespace) -> None:
    """Print the table of false alarms and coverage."""
    rows = []
    with ProcessPoolExecutor(asked.jobs) as pool:
        for change in TRUE_CHANGES:
            jobs = [
                pool.submit(
                    holds,
                    Place(kind, change, 1.5, begins_beside=asked.begins_beside),
                    times,
                    asked.weighings,
                    asked.seed,
                )
                for kind, times in product(asked.kinds, AA_TIMES)
            ]
            rejected, ended, covered = (sum(one) for one in zip(*(job.result() for job in jobs), strict=True))
            weighings, judged = len(jobs) * asked.weighings, len(jobs) * len(range(0, asked.weighings, 4))
            shares = rejected / weighings, ended / weighings, covered / judged
            rows.append((f"{change:+.1%}", weighings, *(f"{share:.2%}" for share in shares), judged))
    header = ("true change", "weighings", "it was rejected", "ended in tandem", "intervals with it", "of")
    print(table(header, rows))


def main() -> None:
    """Print the requested table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--alarms", action="store_true")
    parser.add_argument("--weighings", type=int, default=100, help="of each place")
    parser.add_argument("--again", type=int, default=150, help="of each place that is over the bar")
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=list(KINDS))
    parser.add_argument("--begins-beside", action="store_true", help="as with short turns")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    if asked.alarms:
        alarms_table(asked)
    else:
        times_table(asked)


if __name__ == "__main__":
    main()
