from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from steelyard.stats.thinning import evenly_spaced, extremes, scattered

values = st.lists(st.floats(-1e6, 1e6) | st.just(float("nan")), min_size=1, max_size=400)


@given(values, st.integers(4, 60))
def test_few_are_left_in_order_and_among_them_the_ends_and_the_extremes(numbers: list[float], most: int) -> None:
    places = extremes(numbers, most)
    assert len(places) <= max(most, min(len(numbers), most))
    assert (np.diff(places) > 0).all()
    assert {0, len(numbers) - 1} <= set(places)
    known = np.array(numbers)[~np.isnan(numbers)]
    if len(known):
        left = np.array(numbers)[places]
        assert np.nanmin(left) == known.min()
        assert np.nanmax(left) == known.max()


def test_all_of_a_short_series_are_left() -> None:
    assert extremes([3.0, 1.0, 2.0], 4).tolist() == [0, 1, 2]
    assert evenly_spaced(3, 4).tolist() == [0, 1, 2]


def test_each_stretch_has_its_lowest_and_highest() -> None:
    series = np.zeros(1000)
    series[[333, 777]] = 5.0, -5.0
    assert {333, 777} <= set(extremes(series, 20).tolist())


def test_a_thinned_cloud_has_its_middle_and_its_extremes() -> None:
    cloud = np.random.default_rng(1).normal(size=50_000)
    cloud[777] = 9.0
    places = scattered(cloud, 1200)
    assert len(places) <= 1200
    assert 777 in places
    assert np.count_nonzero(np.abs(cloud[places]) < 0.67) > 200  # half of a normal distribution is there
    assert scattered([3.0, 1.0, 2.0], 8).tolist() == [0, 1, 2]


@given(st.integers(1, 5000), st.integers(2, 100))
def test_even_places_have_both_ends(count: int, most: int) -> None:
    places = evenly_spaced(count, most)
    assert len(places) <= most
    assert places[0] == 0
    assert places[-1] == count - 1
