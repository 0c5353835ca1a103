from __future__ import annotations

import numpy as np
import pytest

from steelyard.stats.midway import LEVEL, parts_of
from steelyard.stats.signed_rank import fewest_differences

FEWEST = fewest_differences(LEVEL)


@pytest.mark.parametrize(("at", "step"), [(FEWEST, 0.04), (40, -0.04), (80, 0.04), (100 - FEWEST, -0.04)])
def test_a_step_is_cut_where_it_is(at: int, step: float) -> None:
    d = 0.002 * np.random.default_rng(1).standard_normal(100) + step * (np.arange(100) >= at)
    parts = parts_of(d, 0.005)
    assert parts is not None
    assert (parts.earlier.n, parts.later.n) == (at, 100 - at)
    assert [parts.earlier.centre, parts.later.centre] == pytest.approx([0.0, step], abs=0.002)


def test_a_step_in_noise_is_cut_at_one_place_from_either_end() -> None:
    generator = np.random.default_rng(1)
    for at in range(15, 40, 6):
        d = generator.standard_normal(60) + 2.0 * (np.arange(60) >= at)
        there, back = parts_of(d, 0.005), parts_of(d[::-1], 0.005)
        assert there is not None
        assert back is not None
        assert there.earlier.n == back.later.n


def test_a_step_of_less_than_asked_for_is_none() -> None:
    d = 0.0001 * np.random.default_rng(1).standard_normal(60) + 0.002 * np.repeat([-1, 1], 30)
    assert parts_of(d, 0.003) is not None
    assert parts_of(d, 0.005) is None


def test_few_pairs_have_no_parts() -> None:
    d = np.repeat([0.0, 1.0], FEWEST)
    assert parts_of(d, 0.005) is not None
    assert parts_of(d[1:], 0.005) is None


def test_one_change_in_calm_and_then_in_storm_has_no_parts() -> None:
    # Going by the intervals alone, one of these would be split.
    generator = np.random.default_rng(6)
    scale = np.repeat([0.003, 0.05], 30)
    found = [parts_of(0.02 + scale * generator.standard_normal(60), 0.005) for _ in range(200)]
    assert found.count(None) == 200
