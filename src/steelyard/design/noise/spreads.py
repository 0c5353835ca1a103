"""From pairs of every length to the noise of programs of any length, and to the pairs that a change will take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log1p, sqrt

import numpy as np

from steelyard.design.judging.pairs import MetricPairs
from steelyard.design.noise.measuring import NoiseMeasurement, Turn
from steelyard.design.noise.plan import PairsTask
from steelyard.model.grouping import grouped
from steelyard.model.launches import FloatArray
from steelyard.model.metrics import DEFAULT_METRIC
from steelyard.model.noise import Expected, Spread, Way, Work
from steelyard.model.settings import Settings
from steelyard.stats.prospects import Deviations, Sample, deviation, pairs_to_find
from steelyard.stats.swings import Swing, swing

CHANGES = (0.01, 0.001)
TOLD_MS = 20.0
"""The length of program that is told beside those measured: the nearest round one to what people weigh."""

# How often the same is measured anew, by drawing from its pairs, and what percentage is left out on each side.
_RESAMPLES = 40
_PERCENT_LEFT_OUT = 10
# Noise changes by this factor from one half minute to the next, which no half minute shows. Of 60 weighings beside
# other people's work, each soon after a measurement, 54 needed pairs within the range, and 30 within one without this.
_LATER_FACTOR = sqrt(2)


def spreads(measuring: NoiseMeasurement) -> list[Spread]:
    """Return what was measured in pairs, shortest first; what was not reached or was refused is left out."""
    found = [_spread(turn, turn.task, measuring) for turn in measuring.turns if isinstance(turn.task, PairsTask)]
    return sorted(
        filter(None, found), key=lambda one: (one.work, one.pairing, -1 if one.cpu is None else one.cpu, one.wanted_ms)
    )


def _spread(turn: Turn, cell: PairsTask, measuring: NoiseMeasurement) -> Spread | None:
    launches = measuring.recorder.rows.launches_of(turn.number)
    pairs = MetricPairs(launches, turn.number, DEFAULT_METRIC)
    if not pairs.count():
        return None
    first, second = pairs.first(pairs.count())
    differences = np.log(second / first)
    return Spread(
        work=cell.work,
        pairing=cell.pairing,
        cpu=cell.cpu,
        wanted_ms=cell.ms,
        median_ns=float(np.median(np.concatenate([first, second]))),
        seconds_per_pair=turn.paired_s / turn.attempts,
        differences=differences.tolist(),
        deviation=deviation(differences),
    )


@dataclass(frozen=True)
class Kind:
    """All lengths of one kind of work, run one way."""

    spreads: Sequence[Spread]

    @property
    def pairs(self) -> int:
        """How many pairs there are, of all lengths."""
        return sum(len(one.differences) for one in self.spreads)

    def expected(self, seed: int) -> list[Expected]:
        """Return for each length that was measured, and for TOLD_MS, the pairs that each change takes."""
        generator = np.random.default_rng(seed)
        resampled = [self._deviations(generator) for _ in range(_RESAMPLES)]
        lengths = sorted({one.median_ns / 1e6 for one in self.spreads} | {TOLD_MS})
        return [self._expected(ms, change, resampled) for ms in lengths for change in CHANGES]

    def _expected(self, ms: float, change: float, resampled: Sequence[Deviations]) -> Expected:
        def pairs(deviation: float) -> int:
            return pairs_to_find(deviation, log1p(change), Settings.model_fields["alpha"].default)

        pairs_needed = pairs(self.deviation(ms))
        low, high = np.percentile(
            [each.at(ms / 1e3) for each in resampled], [_PERCENT_LEFT_OUT, 100 - _PERCENT_LEFT_OUT]
        )
        return Expected(
            work=self.spreads[0].work,
            pairing=self.spreads[0].pairing,
            ms=ms,
            deviation=self.deviation(ms),
            change=change,
            pairs=pairs_needed,
            low=min(pairs_needed, *map(pairs, (low / _LATER_FACTOR, self.deviation(ms) * self.swing.calmest))),
            high=max(pairs_needed, *map(pairs, (high * _LATER_FACTOR, self.deviation(ms) * self.swing.noisiest))),
            seconds=pairs_needed * self.seconds_per_pair(ms),
        )

    @cached_property
    def swing(self) -> Swing:
        """Whether the noise changed meanwhile, as all lengths had their turns all the time."""
        scaled = [np.abs(one.differences) / self.deviation(one.median_ns / 1e6) for one in self.spreads]
        return swing(scaled, np.random.default_rng(0))

    def deviation(self, ms: float) -> float:
        """Return the deviation of a pair of programs that take `ms`."""
        return self._as_measured.at(ms / 1e3)

    def seconds_per_pair(self, ms: float) -> float:
        """Return the elapsed time of a pair, by a line over the lengths that were measured."""
        lengths = [one.median_ns / 1e6 for one in self.spreads]
        taken = [one.seconds_per_pair for one in self.spreads]
        if ms > lengths[-1]:
            return taken[-1] * ms / lengths[-1]
        return float(np.interp(ms, lengths, taken))

    @cached_property
    def _as_measured(self) -> Deviations:
        return Deviations([_sample(one, np.array(one.differences)) for one in self.spreads])

    def _deviations(self, generator: np.random.Generator) -> Deviations:
        """Return the deviations of as many pairs, drawn anew from the pairs of each length."""
        return Deviations(
            [_sample(one, generator.choice(one.differences, len(one.differences))) for one in self.spreads]
        )


def kinds(found: Sequence[Spread]) -> dict[tuple[Work, Way], Kind]:
    """Return the kinds that were measured wherever the scheduler put them."""
    free = (one for one in found if one.cpu is None)
    return {way: Kind(each) for way, each in grouped(free, lambda one: (one.work, one.pairing)).items()}


def _sample(one: Spread, differences: FloatArray) -> Sample:
    return Sample(one.median_ns / 1e9, differences)
