"""The simulated weighings of `benchmarks/pairing_choice.py` are the tool's own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from benchmarks.pairing_choice import CROWDED, Noise, Place, pairs_of

from steelyard.design.timing.trial import FEWEST_TRIED, FOR_EACH_ALONE, FOR_EACH_TRIED

PAIRS = 60
LONG = Place("quiet", 0.01, 1.5)


def noise(times: float) -> Noise:
    return Noise.of("quiet", (1, 1), 2 * PAIRS).weighed(0.01, times, 1.5)


def test_the_time_holds_what_was_tried_and_the_judged_pairs_do_not() -> None:
    found, alone = (pairs_of(noise(5.0), way, LONG, PAIRS, 1) for way in ("auto", "adjacent"))
    assert np.array_equal(found.sides, alone.sides)
    assert not any(found.tandem)
    tried = (np.array(found.spent) - np.array(alone.spent)) / CROWDED
    assert tried.round(9).tolist()[::FOR_EACH_TRIED] == [0, 0, 2, 3, 3]


def test_the_less_noisy_way_is_gone_on_with() -> None:
    found = pairs_of(noise(0.1), "auto", LONG, PAIRS, 1)
    assert found.tandem.index(True) == FOR_EACH_TRIED * FEWEST_TRIED
    assert all(found.tandem[FOR_EACH_TRIED * FEWEST_TRIED :])
    assert not any(pairs_of(noise(0.1), "auto", replace(LONG, ms=12.0), PAIRS, 1).tandem)


def test_with_short_turns_it_begins_in_tandem_and_leaves_that_where_it_is_noisier() -> None:
    beside = replace(LONG, begins_beside=True)
    assert all(pairs_of(noise(0.1), "auto", beside, PAIRS, 1).tandem)
    found = pairs_of(noise(10.0), "auto", beside, PAIRS, 1)
    assert found.tandem.index(False) == FOR_EACH_ALONE * FEWEST_TRIED
    assert not any(found.tandem[FOR_EACH_ALONE * FEWEST_TRIED :])
