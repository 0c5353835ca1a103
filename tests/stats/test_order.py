"""The effect of the order of a pair's launches, and its removal without a bias."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.stats import native
from steelyard.stats.order import second_takes_longer, without_order
from steelyard.stats.summary import quartile_deviation

FloatArray = npt.NDArray[np.float64]
SECOND_COSTS = 0.02


def plain_effects(d: FloatArray, order: np.ndarray) -> FloatArray:
    """Return half the distance between the medians of earlier pairs in both orders, less its noise.

    It is nothing where the ranks of the two orders are no farther apart than twice their variance.
    """
    found = np.zeros(len(d))
    for place in range(len(d)):
        earlier = np.flatnonzero(order[:place] >> 1 == order[place] >> 1)
        groups = [d[earlier[order[earlier] & 1 == one]] for one in (0, 1)]
        sizes = np.array([len(group) for group in groups])
        if sizes.min(initial=2) < 2:
            continue
        few = 1 + 4 / sizes.sum()
        larger = np.heaviside(groups[0][:, None] - groups[1], 0.5).sum()
        if (larger - sizes.prod() / 2) ** 2 <= 2 * few * sizes.prod() * (sizes.sum() + 1) / 12:
            continue
        half = (np.median(groups[0]) - np.median(groups[1])) / 2
        quartiles = np.array([np.diff(np.quantile(group, (0.25, 0.75)))[0] for group in groups])
        deviation = (quartiles * sizes).sum() / sizes.sum() / 1.349
        variance = 2 * 1.57 * deviation**2 * (1 / sizes).sum() / 4 * few
        if half**2 > variance:
            found[place] = (half - variance / half) * (1 - 2 * (order[place] & 1))
    return found


def dealt(generator: np.random.Generator, pairs: int) -> tuple[FloatArray, FloatArray, np.ndarray]:
    """Return the values of both sides, of which the second launch takes longer, and the orders."""
    first, second = np.exp(0.002 * generator.standard_normal((2, pairs)))
    second *= 1 + SECOND_COSTS
    order = generator.integers(0, 2, pairs)
    return np.where(order == 0, first, second), np.where(order == 0, second, first), order


@given(st.lists(st.tuples(st.floats(-1, 1), st.integers(0, 5)), min_size=1, max_size=60))
def test_it_is_what_the_earlier_pairs_say(pairs: list[tuple[float, int]]) -> None:
    d, order = np.array([d for d, _ in pairs]), np.array([order for _, order in pairs], dtype=np.int64)
    assert native.effects_of_order(d, order) == pytest.approx(plain_effects(d, order), abs=1e-9)


def test_pairs_vary_by_what_is_left() -> None:
    baseline, candidate, order = dealt(np.random.default_rng(1), 200)
    before, after = np.log(candidate / baseline), np.log(np.divide(*without_order(baseline, candidate, order)[::-1]))
    assert quartile_deviation(before) > SECOND_COSTS
    assert quartile_deviation(after) < 0.004
    assert np.median(after) == pytest.approx(0.0, abs=0.001)


def test_levels_stay_as_they_are_and_so_does_what_is_no_pair_yet() -> None:
    baseline, candidate, order = dealt(np.random.default_rng(2), 50)
    one, other = without_order(baseline, candidate, order)
    assert one * other == pytest.approx(baseline * candidate, rel=1e-12)
    assert one[:4].tolist() == baseline[:4].tolist()
    nothing = np.empty(0)
    assert [len(side) for side in without_order(nothing, nothing, np.empty(0, dtype=np.int64))] == [0, 0]


def test_a_change_of_all_pairs_stays_what_it_is() -> None:
    baseline, candidate, order = dealt(np.random.default_rng(3), 50)
    as_is, changed = without_order(baseline, candidate, order), without_order(baseline, candidate * 1.1, order)
    assert changed[1] / changed[0] == pytest.approx(1.1 * as_is[1] / as_is[0], rel=1e-9)


def test_the_same_launches_are_told_whichever_side_they_are_of() -> None:
    baseline, candidate, order = dealt(np.random.default_rng(4), 50)
    one, other = without_order(baseline, candidate, order)
    back = without_order(candidate, baseline, order ^ 1)
    assert (back[1] / back[0]) == pytest.approx(one / other, rel=1e-12)


def test_what_the_second_launch_takes_longer_is_told_where_it_is_sure() -> None:
    baseline, candidate, order = dealt(np.random.default_rng(5), 48)
    assert second_takes_longer(baseline, candidate, order, 0.01) == pytest.approx(np.log(1 + SECOND_COSTS), abs=0.001)
    back = second_takes_longer(candidate, baseline, order ^ 1, 0.01)
    assert back == pytest.approx(np.log(1 + SECOND_COSTS), abs=0.001)
    assert second_takes_longer(baseline[:5], candidate[:5], order[:5], 0.01) is None
    assert second_takes_longer(baseline, candidate, np.zeros(48, dtype=np.int64), 0.01) is None


def test_what_is_noise_is_seldom_told_for_what_the_second_launch_takes_longer() -> None:
    generator, told = np.random.default_rng(6), 0
    for _ in range(400):
        baseline, candidate, order = dealt(generator, 30)
        told += second_takes_longer(baseline, candidate, generator.permutation(order), 0.01) is not None
    assert told <= 12  # 99.9 % of the binomial distribution, 400 tries at 1 %


def test_what_is_not_of_the_same_pairs_is_refused() -> None:
    with pytest.raises(ValueError, match="3 differences in 2 orders"):
        native.effects_of_order(np.zeros(3), np.zeros(2, dtype=np.int64))
