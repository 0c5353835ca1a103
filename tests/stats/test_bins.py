from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.stats.bins import bins, fenced_range, ticks

SAMPLES = st.lists(
    st.lists(st.floats(-1e12, 1e12, allow_subnormal=False), min_size=1, max_size=60), min_size=1, max_size=3
)


@given(SAMPLES, st.integers(5, 200))
def test_every_value_is_counted_once(samples: list[list[float]], most: int) -> None:
    found = bins(samples, most)
    assert len(found.edges) - 1 <= most
    assert (np.diff(found.edges) >= 0).all()
    assert found.beyond + sum(counts.sum() for counts in found.counts) == sum(map(len, samples))
    for sample, counts, below, above in zip(samples, found.counts, found.below, found.above, strict=True):
        assert counts.sum() + below + above == len(sample)


def test_the_bins_are_as_freedman_and_diaconis_have_them() -> None:
    sample = np.random.default_rng(1).normal(size=500)
    found = bins([sample], 1000)
    theirs = np.histogram_bin_edges(sample, "fd", range=(found.edges[0], found.edges[-1]))
    assert len(found.edges) == pytest.approx(len(theirs), abs=1)
    np.testing.assert_allclose(np.histogram(found.middles, found.edges)[0], 1)


def test_two_samples_far_apart_have_all_the_bins_that_there_may_be() -> None:
    random = np.random.default_rng(6)
    assert len(bins([random.normal(size=100), random.normal(50, size=100)], 60).middles) == 60


def test_stragglers_are_beyond_the_axis_and_a_second_mode_is_not() -> None:
    random = np.random.default_rng(1)
    low, high = random.normal(100, 1, 200), random.normal(120, 1, 200)
    found = bins([np.concatenate([low, high, [900.0]])], 80)
    assert found.above == [1]
    assert found.edges[-1] < 130
    assert found.edges[0] < 100


def test_of_few_values_each_is_seen_that_leaves_the_others_a_shape() -> None:
    few = [100.0 + number for number in range(13)]
    assert bins([[*few, 140.0]], 60).above == [0]
    assert bins([[*few * 4, 140.0]], 60).above == [1]
    assert bins([[*few, 10_000.0]], 60).above == [1]


def test_the_side_that_varies_least_says_how_narrow_they_are() -> None:
    random = np.random.default_rng(2)
    quiet, noisy = random.normal(100, 0.1, 500), random.normal(103, 3, 500)
    assert len(bins([quiet, noisy], 1000).counts[0]) > 5 * len(bins([noisy], 1000).counts[0])


def test_equal_values_have_an_axis() -> None:
    found = bins([[5.0, 5.0, 5.0]], 40)
    assert found.edges[0] < 5 < found.edges[-1]
    assert sum(found.counts[0]) == 3


def test_half_of_equal_values_do_not_hide_the_others() -> None:
    assert fenced_range(np.array([1.0] * 8 + [2.0, 3.0])) == (1.0, 3.0)


def test_wider_fences_hold_more() -> None:
    ordered = np.array([*range(11), 25.0, 500.0])
    assert fenced_range(ordered) == (0.0, 10.0)
    assert fenced_range(ordered, fence=6.0) == (0.0, 25.0)


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.integers(2, 20))
def test_ticks_lie_on_the_axis_and_are_not_too_many(low: float, span: float, most: int) -> None:
    if span < 1e-6 * abs(low):  # too close for the resolution of floats
        return
    found = ticks(low, low + span, most)
    assert len(found) <= most + 1
    assert ((found >= low - 1e-6 * span) & (found <= low + span + 1e-6 * span)).all()


def test_ticks_are_round() -> None:
    assert ticks(497, 771, 4).tolist() == [500, 600, 700]
    assert np.allclose(ticks(0.0213, 0.0298, 5), [0.022, 0.024, 0.026, 0.028])
