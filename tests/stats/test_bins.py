from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from steelyard.stats.bins import bins, ends, ticks

SAMPLES = st.lists(
    st.lists(st.floats(-1e12, 1e12, allow_subnormal=False), min_size=1, max_size=60), min_size=1, max_size=3
)


@given(SAMPLES, st.integers(5, 200))
def test_every_value_is_counted_once(samples: list[list[float]], most: int) -> None:
    found = bins(samples, most)
    assert len(found.edges) - 1 <= most
    assert (np.diff(found.edges) >= 0).all()
    for sample, counts, below, above in zip(samples, found.counts, found.below, found.above, strict=True):
        assert counts.sum() + below + above == len(sample)


def test_stragglers_are_beyond_the_axis_and_a_second_mode_is_not() -> None:
    random = np.random.default_rng(1)
    low, high = random.normal(100, 1, 200), random.normal(120, 1, 200)
    found = bins([np.concatenate([low, high, [900.0]])], 80)
    assert found.above == [1]
    assert found.edges[-1] < 130
    assert found.edges[0] < 100


def test_the_side_that_varies_least_says_how_narrow_they_are() -> None:
    random = np.random.default_rng(2)
    quiet, noisy = random.normal(100, 0.1, 500), random.normal(103, 3, 500)
    assert len(bins([quiet, noisy], 1000).counts[0]) > 5 * len(bins([noisy], 1000).counts[0])


def test_equal_values_have_an_axis() -> None:
    found = bins([[5.0, 5.0, 5.0]], 40)
    assert found.edges[0] < 5 < found.edges[-1]
    assert sum(found.counts[0]) == 3


def test_half_of_equal_values_do_not_hide_the_others() -> None:
    assert ends(np.array([1.0] * 8 + [2.0, 3.0])) == (1.0, 3.0)


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.integers(2, 20))
def test_ticks_lie_on_the_axis_and_are_not_too_many(low: float, span: float, most: int) -> None:
    if span < 1e-6 * abs(low):  # closer than numbers lie
        return
    found = ticks(low, low + span, most)
    assert len(found) <= most + 1
    assert ((found >= low - 1e-6 * span) & (found <= low + span + 1e-6 * span)).all()


def test_ticks_are_round() -> None:
    assert ticks(497, 771, 4).tolist() == [500, 600, 700]
    assert np.allclose(ticks(0.0213, 0.0298, 5), [0.022, 0.024, 0.026, 0.028])
