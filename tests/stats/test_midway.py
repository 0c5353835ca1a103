from __future__ import annotations

import numpy as np
import pytest

from steelyard.stats.midway import LEVEL, parts_of
from steelyard.stats.signed_rank import fewest_differences

FEWEST = fewest_differences(LEVEL)


@pytest.mark.parametrize("at", [FEWEST, 40, 80])
def test_a_step_is_cut_where_it_is(at: int) -> None:
    d = 0.002 * np.random.default_rng(1).standard_normal(100) + 0.04 * (np.arange(100) >= at)
    parts = parts_of(d, 0.005)
    assert parts is not None
    assert (parts.earlier.n, parts.later.n) == (at, 100 - at)
    assert [parts.earlier.centre, parts.later.centre] == pytest.approx([0.0, 0.04], abs=0.002)


def test_a_step_of_less_than_asked_for_is_none() -> None:
    d = 0.0001 * np.random.default_rng(1).standard_normal(60) + 0.004 * (np.arange(60) >= 30)
    assert parts_of(d, 0.003) is not None
    assert parts_of(d, 0.005) is None


def test_few_pairs_have_no_parts() -> None:
    d = np.repeat([0.0, 1.0], FEWEST)
    assert parts_of(d, 0.005) is not None
    assert parts_of(d[1:], 0.005) is None


def test_one_change_in_calm_and_then_in_storm_has_no_parts() -> None:
    generator = np.random.default_rng(2)
    scale = np.repeat([0.003, 0.05], 30)
    found = [parts_of(0.02 + scale * generator.standard_normal(60), 0.005) for _ in range(200)]
    assert found.count(None) == 200
