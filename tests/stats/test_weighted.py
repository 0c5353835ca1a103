from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.stats import native, weighted
from steelyard.stats.signed_rank import estimate as by_ranks

FloatArray = npt.NDArray[np.float64]


def storms(generator: np.random.Generator, pairs: int, *, calm: float = 0.004, storm: float = 0.07) -> FloatArray:
    """Return logarithms of both sides, (pairs, 2): phases of ten pairs, calm or in a storm, which is slower, too."""
    phase = np.repeat(generator.random(pairs // 10 + 1) < 0.5, 10)[:pairs]
    noise = np.where(phase, storm, calm)[:, None] * generator.standard_normal((pairs, 2))
    return noise + 0.1 * phase[:, None]


def gauss(generator: np.random.Generator, pairs: int) -> FloatArray:
    return 0.01 * generator.standard_normal((pairs, 2))


def split(logs: FloatArray, change: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Return the differences and the levels."""
    return logs[:, 1] - logs[:, 0] + change, logs.mean(axis=1) + change / 2


@pytest.mark.parametrize("noise", [storms, gauss])
def test_over_all_swaps_of_all_pairs_the_p_value_is_one(noise: object) -> None:
    """Exactly: of all 4,096 orders that the coin may give 12 pairs, at most the share `level` has p <= level.

    Half of them are tried; the others have all sides swapped, which is the same to a two-sided test.
    """
    logs = noise(np.random.default_rng(5), 12)  # type: ignore[operator]
    d, levels = split(logs)
    half = [signs for signs in product((-1.0, 1.0), repeat=12) if signs[0] > 0]
    p = np.array([weighted.p_values(d * signs, levels, 0.0)[0] for signs in half])
    for level in (0.0005, 0.001, 0.01, 0.05, 0.2, 0.5):
        assert np.mean(p <= level) <= level
    assert np.mean(p <= 0.05) > 0.03  # and not far fewer either


@pytest.mark.parametrize("noise", [storms, gauss])
@pytest.mark.parametrize("pairs", [15, 60])
def test_the_true_change_is_accepted_as_often_as_the_level_says(noise: object, pairs: int) -> None:
    generator, truth, many = np.random.default_rng(7), 0.02, 600
    p = [weighted.p_values(*split(noise(generator, pairs), truth), truth)[0] for _ in range(many)]  # type: ignore[operator]
    assert np.mean(np.array(p) <= 0.05) < 0.075
    assert np.mean(np.array(p) <= 0.05) > 0.025


@pytest.mark.parametrize(("noise", "seed", "change", "most"), [(storms, 11, 0.01, 0.6), (gauss, 12, 0.0, 1.05)])
def test_storms_widen_the_interval_much_less_than_that_by_ranks_and_calm_noise_costs_next_to_nothing(
    noise: Callable[..., FloatArray], seed: int, change: float, most: float
) -> None:
    generator = np.random.default_rng(seed)
    ratios = []
    for _ in range(15):
        d, levels = split(noise(generator, 80), change)
        mine, ranks = weighted.estimate(d, levels, 0.01), by_ranks(d, 0.01)
        ratios.append((mine.upper - mine.lower) / (ranks.upper - ranks.lower))
    assert np.median(ratios) < most


@given(st.integers(0, 10_000), st.floats(-0.05, 0.05), st.integers(12, 60))
def test_swapping_the_sides_mirrors_all(seed: int, change: float, pairs: int) -> None:
    d, levels = split(storms(np.random.default_rng(seed), pairs), change)
    there, back = weighted.estimate(d, levels, 0.01), weighted.estimate(-d, levels, 0.01)
    scale = max(abs(there.lower), abs(there.upper))
    assert (back.lower, back.upper) == pytest.approx((-there.upper, -there.lower), abs=0.02 * scale)
    assert back.centre == pytest.approx(-there.centre, abs=0.02 * scale)


@given(st.integers(0, 10_000), st.floats(-1, 1), st.floats(-5, 5))
def test_a_change_moves_all_and_a_unit_nothing(seed: int, change: float, unit: float) -> None:
    d, levels = split(storms(np.random.default_rng(seed), 40))
    here, there = weighted.estimate(d, levels, 0.01), weighted.estimate(d + change, levels + unit, 0.01)
    shown, moved = (here.centre, here.lower, here.upper), (there.centre, there.lower, there.upper)
    assert np.array(moved) - change == pytest.approx(shown, abs=1e-6)


@given(st.integers(0, 10_000), st.integers(12, 60))
def test_the_centre_is_inside_and_a_stricter_interval_around(seed: int, pairs: int) -> None:
    d, levels = split(storms(np.random.default_rng(seed), pairs))
    loose, strict = weighted.estimate(d, levels, 0.05), weighted.estimate(d, levels, 0.002)
    assert strict.lower <= loose.lower <= loose.centre <= loose.upper <= strict.upper


@given(st.integers(0, 10_000), st.sampled_from([20, 45, 90]))
def test_what_the_interval_excludes_the_test_rejects(seed: int, pairs: int) -> None:
    d, levels = split(storms(np.random.default_rng(seed), pairs), 0.01)
    found = weighted.estimate(d, levels, 0.01)
    outside = weighted.p_values(d, levels, [found.lower, found.upper])
    assert (outside <= 0.01).all()


def test_the_rough_interval_is_about_the_exact_one() -> None:
    generator = np.random.default_rng(13)
    for noise in (storms, gauss):
        d, levels = split(noise(generator, 120))
        exact, rough = weighted.estimate(d, levels, 0.01), weighted.rough_estimate(d, levels, 0.01)
        assert rough.upper - rough.lower == pytest.approx(exact.upper - exact.lower, rel=0.25)
        assert rough.centre == pytest.approx(exact.centre, abs=0.2 * (exact.upper - exact.lower))


@pytest.mark.parametrize("described", [weighted.estimate, weighted.rough_estimate])
def test_too_few_pairs_have_no_interval_and_equal_ones_no_width(described: object) -> None:
    few = described(np.array([0.01, 0.02]), np.zeros(2), 0.01)  # type: ignore[operator]
    assert (few.lower, few.upper) == (-np.inf, np.inf)
    equal = described(np.full(20, 0.01), np.zeros(20), 0.01)  # type: ignore[operator]
    assert (equal.centre, equal.lower, equal.upper) == (0.01, 0.01, 0.01)
    zeros = described(np.array([0.0] * 17 + [0.1, -0.1, 0.05]), np.zeros(20), 0.01)  # type: ignore[operator]
    assert zeros.lower <= 0 <= zeros.upper


@given(st.integers(0, 10_000), st.integers(8, 120), st.sampled_from([3, 10, 50]), st.sampled_from([0.01, 0.1, 0.3]))
def test_times_of_a_coarse_clock_have_finite_scores_and_a_centre_inside(
    seed: int, pairs: int, milliseconds: int, noise: float
) -> None:
    generator = np.random.default_rng(seed)
    ticks = np.maximum(1, np.round(milliseconds * np.exp(noise * generator.standard_normal((pairs, 2)))))
    d, levels = split(np.log(ticks))
    assert np.isfinite(native.signed_scores(d, levels, [-0.1, 0.0, 0.1])).all()
    found = weighted.estimate(d, levels, 0.01)
    assert found.lower <= found.centre <= found.upper


def clusters(
    generator: np.random.Generator, pairs: int, low: float, high: float, noise: float
) -> tuple[FloatArray, FloatArray]:
    """Return differences that crowd around two values, and their levels, which are all alike."""
    d = np.where(generator.random(pairs) < generator.uniform(0.3, 0.7), low, high)
    return d + noise * generator.standard_normal(pairs), np.zeros(pairs)


def test_of_two_clusters_the_interval_ends_where_the_differences_do() -> None:
    """A few of their scores outweigh all others, so that the sum of all seems small where it is largest."""
    generator = np.random.default_rng(3)
    for _ in range(300):
        noise = 10 ** generator.uniform(-8, -5)
        d, levels = clusters(generator, int(generator.integers(15, 40)), -0.3, 0.3, noise)
        found = weighted.estimate(d, levels, 0.003)
        assert found.lower <= found.centre <= found.upper
        assert d.min() - 0.05 < found.lower
        assert found.upper < d.max() + 0.05


def test_between_two_clusters_nothing_is_estimated_beyond_both() -> None:
    """There the sum of the scores may hardly depend on the change, which says nothing about an error."""
    d = np.concatenate([np.zeros(12), np.full(11, 0.6)])
    for seed in range(400):
        noise = 10 ** np.random.default_rng(seed).uniform(-5, -1)
        mixed = d + noise * np.random.default_rng(seed).standard_normal(23)
        for found in (
            weighted.rough_estimate(mixed, np.zeros(23), 0.003),
            weighted.estimate(mixed, np.zeros(23), 0.003),
        ):
            assert found.upper - found.lower <= 4 * np.ptp(mixed)
            assert mixed.min() - 0.1 <= found.centre <= mixed.max() + 0.1


@pytest.mark.parametrize("seed", [51, 672, 1020])
def test_where_none_of_the_changes_tried_is_accepted_the_interval_is_that_of_the_ranks(seed: int) -> None:
    """The interval is not a single point then, as if there were no error."""
    generator = np.random.default_rng(seed)
    d = np.exp(3 * generator.standard_normal(int(generator.integers(12, 60))))
    assert weighted.estimate(d, np.zeros(len(d)), 0.05) == by_ranks(d, 0.05)


@pytest.mark.parametrize("noise", [storms, gauss])
def test_the_estimate_is_where_the_scores_cancel(noise: object) -> None:
    """To a tenth of the interval's half-width, which is the step of the search."""
    crossed = []
    for seed in range(40):
        d, levels = split(noise(np.random.default_rng(seed), 40), 0.01)  # type: ignore[operator]
        found = weighted.estimate(d, levels, 0.01)
        near = (found.upper - found.lower) / 20
        below, above = native.signed_scores(d, levels, [found.centre - near, found.centre + near]).sum(axis=1)
        crossed.append(below > 0 > above)
    assert np.mean(crossed) >= 0.95
