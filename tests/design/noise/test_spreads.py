"""What is told about pairs of identical programs, from given differences."""

from __future__ import annotations

import numpy as np

from steelyard.design.noise.findings import findings
from steelyard.design.noise.spreads import TOLD_MS, Kind
from steelyard.model.launches import FloatArray
from steelyard.model.noise import Expected, Noise, Spread, Timer
from steelyard.stats.prospects import deviation


def spread(wanted_ms: float, took_ms: float, differences: FloatArray) -> Spread:
    return Spread(
        work="loop",
        pairing="adjacent",
        cpu=None,
        wanted_ms=wanted_ms,
        median_ns=1e6 * took_ms,
        seconds_per_pair=2e-3 * took_ms,
        differences=differences.tolist(),
        deviation=deviation(differences),
    )


def expected(size: float) -> Expected:
    """Return what a change of 1 % takes in normal noise of this size, from 60 pairs each of 10 and of 100 ms."""
    generator = np.random.default_rng(1)
    drawn = {ms: size * generator.standard_normal(60) for ms in (10.0, 100.0)}
    spreads = [spread(ms, ms, found) for ms, found in drawn.items()]
    (one,) = [one for one in Kind(spreads).expected(1) if (one.ms, one.change) == (TOLD_MS, 0.01)]
    return one


def test_the_range_has_room_for_what_other_minutes_bring() -> None:
    one = expected(0.025)
    assert one.low <= one.pairs / 1.7
    assert one.high >= 1.7 * one.pairs


def test_next_to_no_noise_has_no_range() -> None:
    one = expected(0.001)
    assert one.low == one.pairs == one.high


def test_long_programs_that_took_less_than_was_wanted_are_told_of() -> None:
    noise = Noise(
        seconds=26,
        interrupted=False,
        timer=Timer(step_ns=20, cost_ns=20),
        interrupts_per_s={},
        stolen=None,
        spreads=[spread(ms, 0.85 * ms, np.full(20, 0.001)) for ms in (30.0, 300.0)],
        beside=[],
        expected=[],
        pairing={"loop": "adjacent"},
        cpu=None,
    )
    (told,) = [one for one in findings(noise, []) if one.code == "phases-loop"]
    assert told.severity == "fine"
