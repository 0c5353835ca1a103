from __future__ import annotations

import numpy as np
import pytest

from steelyard.stats.arrays import FloatArray
from steelyard.stats.selection import value_of_rank


@pytest.mark.parametrize("rank", [1, 2, 57, 499, 500])
@pytest.mark.parametrize("few", [1, 20, 1000])
@pytest.mark.parametrize("digits", [0, 1, 9])
def test_the_value_of_a_rank_is_that_of_the_sorted_values(rank: int, few: int, digits: int) -> None:
    values = np.sort(np.round(np.random.default_rng(1).normal(size=500), digits))

    def between(low: float, high: float) -> FloatArray:
        return values[(values > low) & (values <= high)]

    found = value_of_rank(rank, (values[0] - 1, values[-1]), 500, few, lambda t: int((values <= t).sum()), between)
    assert found == pytest.approx(values[rank - 1], abs=1e-12)
