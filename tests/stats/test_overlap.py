from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.stats.overlap import rates_within

EDGES = np.array([[0.0, 10.0], [10.0, 20.0], [50.0, 60.0]])
AMOUNTS = np.array([10.0, 0.0, 5.0])


@pytest.mark.parametrize(
    ("span", "rate"),
    [
        ((2, 4), 1.0),
        ((12, 18), 0.0),
        ((5, 15), 0.5),
        ((52, 56), 0.5),
        ((0, 60), 0.25),
        ((20, 50), 0.0),  # between two windows
        ((15, 55), 2.5 / 40),
        ((-30, -20), 0.0),
        ((58, 62), 0.25),
        ((5, 5), 0.0),
    ],
)
def test_a_span_has_its_part_of_every_window(span: tuple[float, float], rate: float) -> None:
    assert rates_within(np.array([span], dtype=float), EDGES, AMOUNTS) == pytest.approx([rate])


def test_without_windows_nothing_went_on() -> None:
    none = rates_within(np.array([[1.0, 2.0]]), np.zeros((0, 2)), np.zeros(0))
    assert none.tolist() == [0.0]


@given(st.lists(st.floats(0, 100), min_size=2, max_size=8, unique=True), st.lists(st.floats(0, 50), min_size=8))
def test_nothing_is_lost_or_counted_twice(cuts: list[float], amounts: list[float]) -> None:
    points = np.array([-1.0, *sorted(cuts), 101.0])
    edges = np.stack([np.linspace(0, 90, 8), np.linspace(10, 100, 8)], axis=1)
    edges[:, 1] = np.minimum(edges[:, 1], [*edges[1:, 0], 100.0])
    spans = np.stack([points[:-1], points[1:]], axis=1)
    rates = rates_within(spans, edges, np.array(amounts[:8]))
    assert (rates * np.diff(points)).sum() == pytest.approx(sum(amounts[:8]), abs=1e-6)
