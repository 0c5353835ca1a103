"""The simulated weighings of `benchmarks/pairing_choice.py` are the tool's own."""

from __future__ import annotations

import numpy as np
from benchmarks.pairing_choice import CROWDED, Noise, pairs_of

from steelyard.design.timing.trial import FEWEST_TRIED, FOR_EACH_TRIED

PAIRS = 60


def noise(times: float) -> Noise:
    return Noise.of("quiet", (1, 1), 2 * PAIRS).weighed(0.01, times, 1.5)


def test_the_time_holds_what_was_tried_and_the_judged_pairs_do_not() -> None:
    found, alone = (pairs_of(noise(5.0), way, 45.0, PAIRS, 1) for way in ("auto", "adjacent"))
    assert np.array_equal(found.sides, alone.sides)
    assert not any(found.tandem)
    tried = (np.array(found.spent) - np.array(alone.spent)) / CROWDED
    assert tried.round(9).tolist()[::FOR_EACH_TRIED] == [0, 0, 2, 3, 3]


def test_the_less_noisy_way_is_gone_on_with() -> None:
    found = pairs_of(noise(0.1), "auto", 45.0, PAIRS, 1)
    assert found.tandem.index(True) == FOR_EACH_TRIED * FEWEST_TRIED
    assert all(found.tandem[FOR_EACH_TRIED * FEWEST_TRIED :])
    assert not any(pairs_of(noise(0.1), "auto", 12.0, PAIRS, 1).tandem)
