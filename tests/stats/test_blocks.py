from __future__ import annotations

import numpy as np
import pytest

from steelyard.stats.blocks import p_value_of_groups, range_of_groups

RANDOM = np.random.default_rng(1)


def table(rounds: int, groups: int = 6) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return logs of times, (rounds, groups), on a machine that drifts from round to round and sometimes stalls."""
    drift = np.cumsum(RANDOM.normal(0, 0.2, (rounds, 1)), axis=0)
    stalls = (RANDOM.random((rounds, groups)) < 0.1) * RANDOM.exponential(1, (rounds, groups))
    return np.asarray(drift + stalls + RANDOM.normal(0, 0.05, (rounds, groups)))


def test_groups_that_differ_are_told_whatever_drifts() -> None:
    for rounds in (7, 14):
        values = table(rounds)
        values[:, 2] += 0.6
        values[:, 4] += 0.3
        assert p_value_of_groups(values) <= 0.0005
        assert range_of_groups(values) == pytest.approx(0.6, abs=0.15)


def test_groups_that_do_not_differ_are_told_apart_as_often_as_the_level_says() -> None:
    p_values = np.array([p_value_of_groups(table(7)) for _ in range(150)])
    assert p_values.min() > 0.0005
    assert np.mean(p_values < 0.1) == pytest.approx(0.1, abs=0.08)


def test_ties_count_as_halves() -> None:
    assert p_value_of_groups(np.zeros((7, 6))) == 1
