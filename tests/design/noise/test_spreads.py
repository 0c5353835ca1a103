"""The pairs that are told, from differences that are given."""

from __future__ import annotations

import numpy as np

from steelyard.design.noise.spreads import TOLD_MS, Kind
from steelyard.model.noise import Expected, Spread
from steelyard.stats.prospects import deviation


def expected(size: float) -> Expected:
    """Of a change of 1 % in so much normal noise, by 60 pairs of each of 10 and of 100 ms."""
    generator = np.random.default_rng(1)
    drawn = {ms: size * generator.standard_normal(60) for ms in (10.0, 100.0)}
    spreads = [
        Spread(
            work="loop",
            pairing="adjacent",
            cpu=None,
            wanted_ms=ms,
            median_ns=1e6 * ms,
            seconds_per_pair=2e-3 * ms,
            differences=found.tolist(),
            deviation=deviation(found),
        )
        for ms, found in drawn.items()
    ]
    (one,) = [one for one in Kind(spreads).expected(1) if (one.ms, one.change) == (TOLD_MS, 0.01)]
    return one


def test_the_range_has_room_for_what_other_minutes_bring() -> None:
    one = expected(0.025)
    assert one.low <= one.pairs / 1.7
    assert one.high >= 1.7 * one.pairs


def test_next_to_no_noise_has_no_range() -> None:
    one = expected(0.001)
    assert one.low == one.pairs == one.high
