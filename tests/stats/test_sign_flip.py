from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.stats.sign_flip import UNITS, p_values, tails

IntArray = npt.NDArray[np.int64]


def tail_by_addition(total: int, scores: IntArray) -> float:
    """Return P(sum of +-scores >= total), adding one score after the other."""
    mass = np.ones(1)
    for score in scores:
        mass = 0.5 * (np.concatenate([mass, np.zeros(2 * score)]) + np.concatenate([np.zeros(2 * score), mass]))
    return float(mass[total + int(scores.sum()) :].sum())


@given(st.lists(st.integers(0, UNITS), min_size=1, max_size=9), st.data())
def test_the_tail_counts_all_choices_of_signs(scores: list[int], data: st.DataObject) -> None:
    possible = [sum(sign * score for sign, score in zip(signs, scores, strict=True)) for signs in _signs(len(scores))]
    total = abs(data.draw(st.sampled_from(possible)))
    expected = np.mean([one >= total for one in possible])
    assert tails(np.array([total]), np.array([scores]))[0] == pytest.approx(expected, abs=1e-12)


def _signs(n: int) -> list[tuple[int, ...]]:
    return list(product((-1, 1), repeat=n))


@pytest.mark.parametrize("n", [20, 100, 1000])
@pytest.mark.parametrize("kind", ["equal", "exponential", "storm", "mostly one", "one by far"])
def test_the_tail_is_exact_however_many_scores_there_are(n: int, kind: str) -> None:
    generator = np.random.default_rng(n)
    scores = {
        "equal": np.full(n, 20),
        "exponential": np.minimum(np.rint(generator.exponential(15, n)), UNITS),
        "storm": np.where(np.arange(n) < n // 3, 60, 4),
        "mostly one": np.where(np.arange(n) < 3, [5, 7, 11] * (n // 3) + [1] * (n % 3), 40),
        "one by far": np.where(np.arange(n) == 5, UNITS, 1),
    }[kind].astype(np.int64)
    deviation = np.sqrt((scores**2).sum())
    for far in (0.3, 2, 4, 6):
        total = min(int(far * deviation) // 2 * 2 + int(scores.sum()) % 2, int(scores.sum()))
        exact = tail_by_addition(total, scores)
        assert tails(np.array([total]), scores[None])[0] == pytest.approx(max(exact, 0.5**n), rel=1e-4, abs=1e-13)


@pytest.mark.parametrize("n", [5, 12])
def test_over_all_choices_of_signs_the_p_values_are_p_values(n: int) -> None:
    """P(p <= level) is at most the level, for every level."""
    scores = np.random.default_rng(n).exponential(1.0, n)
    p = p_values(np.array(_signs(n), dtype=np.float64) * scores)
    for level in np.unique(p):
        assert np.mean(p <= level * (1 + 1e-9)) <= level * (1 + 1e-9)
    assert p.min() == pytest.approx(2.0 ** (1 - n))


@pytest.mark.parametrize("n", [8, 40, 45])
def test_all_of_one_sign_is_the_rarest_that_can_be(n: int) -> None:
    p = p_values(np.random.default_rng(n).exponential(1.0, (1, n)))
    assert p[0] == pytest.approx(2.0 ** (1 - n), rel=1e-2)


def test_what_is_rarer_than_can_be_told_is_as_rare_as_that() -> None:
    p = p_values(np.ones((1, 4000)))
    assert 0 < p[0] <= 1e-14


@given(st.integers(1, 60), st.integers(0, 1000))
def test_a_difference_of_zero_says_nothing(n: int, seed: int) -> None:
    signed = np.random.default_rng(seed).normal(0, 1, (1, n))
    with_zeros = np.concatenate([signed, np.zeros((1, 3))], axis=1)
    assert p_values(with_zeros) == pytest.approx(p_values(signed))


@pytest.mark.parametrize("n", [1, 12, 60])
def test_no_signs_at_all(n: int) -> None:
    assert list(p_values(np.zeros((2, n)))) == [1, 1]


def test_a_tiny_score_keeps_its_sign() -> None:
    p = p_values(np.array([[1e-9, *[1.0] * 7]]))
    assert p[0] == pytest.approx(2.0**-7)


def test_rows_do_not_depend_on_each_other() -> None:
    signed = np.random.default_rng(3).normal(0, 1, (7, 50)) * np.array([1, 1e-6, 5, 1e9, 2, 3, 4])[:, None]
    together = p_values(signed)
    assert together == pytest.approx([p_values(row[None])[0] for row in signed], rel=1e-9, abs=1e-14)
