"""The ratio that neighbouring samples show."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.stats.neighbours import centres_of_neighbours

Tables = tuple[np.ndarray, np.ndarray, np.ndarray]


@st.composite
def tables(draw: st.DrawFn) -> Tables:
    pairs, rounds = draw(st.integers(1, 4)), draw(st.integers(1, 7))
    size = pairs * rounds
    time = st.floats(1e-3, 1e9) | st.sampled_from([0.0, -1.0])
    baseline, candidate = (
        np.array(draw(st.lists(time, min_size=size, max_size=size))).reshape(pairs, rounds) for _ in range(2)
    )
    orders = st.lists(st.integers(0, 1), min_size=rounds, max_size=rounds) | st.sampled_from(
        [[0] * rounds, [1] * rounds]
    )
    return baseline, candidate, np.array([draw(orders) for _ in range(pairs)])


def one_by_one(baseline: np.ndarray, candidate: np.ndarray, order: np.ndarray) -> float:
    """Return the same from the samples in one line, in the order in which they were taken."""
    line: list[tuple[int, float]] = []
    for first, second, which in zip(baseline, candidate, order, strict=True):
        line += [(0, first), (1, second)] if which == 0 else [(1, second), (0, first)]
    found: tuple[list[float], list[float]] = ([], [])
    for place, ((side, ours), (other, theirs)) in enumerate(pairwise(line)):
        if side != other and ours > 0 and theirs > 0:
            found[place % 2].append(np.log(theirs / ours) * (1 if other > side else -1))
    medians = [np.median(ratios) for ratios in found[: 2 if len(set(order)) == 1 else 1] if ratios]
    return float(np.mean(medians)) if found[0] and medians else np.nan


@given(tables())
def test_it_is_what_the_neighbours_say_one_by_one(table: Tables) -> None:
    found = centres_of_neighbours(*table)
    expected = [one_by_one(*rows) for rows in zip(*table, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@given(tables())
def test_exchanging_the_sides_changes_the_sign_and_nothing_else(table: Tables) -> None:
    baseline, candidate, order = table
    np.testing.assert_array_equal(
        centres_of_neighbours(candidate, baseline, 1 - order), -centres_of_neighbours(baseline, candidate, order)
    )


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("drift", [0.99, 1.01])
def test_a_drift_cancels_where_the_sides_alternate(first: int, drift: float) -> None:
    line = drift ** np.arange(20.0)
    baseline, candidate = line[first::2], 1.03 * line[1 - first :: 2]
    found = centres_of_neighbours(baseline[None], candidate[None], np.full((1, 10), first))
    assert found[0] == pytest.approx(np.log(1.03), abs=1e-12)


def test_a_few_samples_that_were_disturbed_move_nothing() -> None:
    rng = np.random.default_rng(5)
    baseline = 100 + rng.normal(size=(50, 11))
    candidate = 103 + rng.normal(size=(50, 11))
    order = np.tile(rng.integers(0, 2, size=(50, 1)), 11)
    quiet = centres_of_neighbours(baseline, candidate, order)
    baseline[:, 3] *= 50
    candidate[:, 8] *= 20
    disturbed = centres_of_neighbours(baseline, candidate, order)
    assert np.abs(disturbed - np.log(1.03)).max() < 2 * np.abs(quiet - np.log(1.03)).max() < 0.05
