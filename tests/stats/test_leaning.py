from __future__ import annotations

from math import comb

import numpy as np
import pytest

from steelyard.stats.leaning import binomial_p, leaning


@pytest.mark.parametrize("share", [0.5, 0.4, 0.7])
@pytest.mark.parametrize("of", [0, 1, 7, 40])
def test_a_binomial_tail_is_twice_the_smaller_one(of: int, share: float) -> None:
    chances = [comb(of, hits) * share**hits * (1 - share) ** (of - hits) for hits in range(of + 1)]
    for hits in range(of + 1):
        expected = min(1.0, 2 * min(sum(chances[: hits + 1]), sum(chances[hits:])))
        assert binomial_p(hits, of, share) == pytest.approx(expected)


def test_many_are_no_trouble() -> None:
    assert binomial_p(50_000, 100_000, 0.5) == pytest.approx(1.0)
    assert 0 <= binomial_p(1_000, 100_000, 0.5) < 1e-300


def test_only_pairs_of_which_one_was_disturbed_tell_the_sides_apart() -> None:
    none, both, candidate = [False, False], [True, True], [False, True]
    found = leaning(np.array([none] * 50 + [both] * 30 + [candidate] * 20), 0.5)
    assert (found.baseline, found.candidate) == (0.3, 0.5)
    assert found.p_value == pytest.approx(2 * 0.5**20)
    assert leaning(np.array([none] * 50 + [both] * 30), 0.5).p_value == 1.0


def test_sides_are_alike() -> None:
    disturbed = np.random.default_rng(1).random((60, 2)) < [0.1, 0.4]
    one, other = leaning(disturbed, 0.55), leaning(disturbed[:, ::-1], 0.45)
    assert one.p_value == pytest.approx(other.p_value)
    assert (one.baseline, one.candidate) == (other.candidate, other.baseline)


def test_a_side_that_runs_longer_may_be_disturbed_more_often() -> None:
    candidate_only = np.array([[False, True]] * 60 + [[True, False]] * 40)
    assert leaning(candidate_only, 0.6).p_value == pytest.approx(1.0, abs=0.1)
    assert leaning(candidate_only, 0.5).p_value == pytest.approx(0.057, abs=0.001)


def test_chance_leans_no_more_often_than_its_level() -> None:
    generator = np.random.default_rng(1)
    found = [leaning(generator.random((80, 2)) < 0.3, 0.5).p_value for _ in range(2000)]
    assert np.mean(np.array(found) <= 0.05) <= 0.05
