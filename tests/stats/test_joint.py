from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.stats import joint, native

FloatArray = npt.NDArray[np.float64]


def scores_of_looks(generator: np.random.Generator, sizes: list[int]) -> list[FloatArray]:
    """Return scores for each look, which may depend on all but the signs: the looks share nothing."""
    return [np.exp(generator.normal(0, generator.uniform(0, 3), size)) for size in sizes]


def follow(signs: FloatArray, scores: list[FloatArray], may_drop: list[int]) -> joint.Test:
    test = joint.NOT_STARTED
    for seen, most in zip(scores, may_drop, strict=True):
        test = joint.look(test, joint.flipped(signs[: len(seen)] * seen), most)
    return test


@pytest.mark.parametrize("pairs", [1, 40, 128, 129, 700])
def test_the_sums_are_those_of_each_flip(pairs: int) -> None:
    generator = np.random.default_rng(pairs)
    signed = native.whole_units(generator.normal(size=pairs))
    sums = joint.sums(signed)
    words = words_of(pairs)
    for flip in [0, 1, joint.FLIPS - 1, *generator.integers(0, joint.FLIPS, 30).tolist()]:
        signs = [-1 if (word & flip).bit_count() % 2 else 1 for word in words]
        assert sums[flip] == (signed * signs).sum()


def words_of(pairs: int) -> list[int]:
    """Return the word of each pair, whose bit b says whether flip 2^b changes the pair's sign."""
    alone = [native.whole_units(np.eye(pairs)[pair]) for pair in range(pairs)]
    sums = [joint.sums(scores) for scores in alone]
    return [sum(1 << bit for bit in range(joint.BITS) if one[1 << bit] < 0) for one in sums]


def test_the_flips_of_the_first_pairs_are_all_there_are_and_never_change() -> None:
    words = words_of(20)
    assert words[: joint.BITS + 1] == [0, *(1 << bit for bit in range(joint.BITS))]
    assert words[joint.BITS + 1 :] == [50127, 13414, 55322]  # others would change the verdicts of old records


@pytest.mark.parametrize("seed", range(3))
def test_of_all_signs_no_more_are_rejected_than_the_looks_may_spend(seed: int) -> None:
    """This holds exactly, for any scores: here all signs of ten pairs are tried."""
    sizes, shares = [5, 8, 10], [0.05, 0.1, 0.1]
    scores = scores_of_looks(np.random.default_rng(seed), sizes)
    may_drop = [int(share * joint.FLIPS) for share in shares]
    rejected = [
        follow(np.array(signs), scores, may_drop).rejected for signs in product([-1.0, 1.0], repeat=10) if signs[0] > 0
    ]  # sums are two-sided, so the other half of the signs says the same
    assert 0.15 < np.mean(rejected) <= 0.25


def test_what_one_look_dropped_a_later_one_need_not_pay_for() -> None:
    """The same sums have nothing left to drop at the earlier bound, so all that is spent lowers the bound."""
    scores = np.exp(np.random.default_rng(1).normal(size=40))
    spent = joint.FLIPS // 100
    first = follow(np.ones(40), [scores], [spent])
    both = follow(np.ones(40), [scores, scores], [spent, spent])
    assert both.bound < first.bound
    assert len(both.dropped) == pytest.approx(2 * spent, rel=0.02)


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), min_size=1, max_size=5))
def test_a_test_that_may_drop_more_at_every_look_drops_all_that_another_does(
    seed: int, allowed: list[tuple[int, int]]
) -> None:
    generator = np.random.default_rng(seed)
    scores = scores_of_looks(generator, [12 + 3 * look for look in range(len(allowed))])
    signs = np.where(generator.random(60) < 0.5, -1.0, 1.0)
    less = follow(signs, scores, [few for few, _ in allowed])
    more = follow(signs, scores, [few + others for few, others in allowed])
    assert set(less.dropped.tolist()) <= set(more.dropped.tolist())
    assert more.rejected or not less.rejected


def test_equal_sums_are_dropped_together_or_not_at_all() -> None:
    test = joint.look(joint.NOT_STARTED, joint.flipped(np.ones(8)), joint.FLIPS // 128 - 1)
    assert (len(test.dropped), test.rejected) == (0, False)
    test = joint.look(joint.NOT_STARTED, joint.flipped(np.ones(8)), joint.FLIPS // 128)
    assert (len(test.dropped), test.rejected) == (joint.FLIPS // 128, True)


def test_a_look_that_may_drop_one_flip_drops_the_largest_sum_alone() -> None:
    """With all of one sign, no other flip has as large a sum as the observed one; the bound is the next largest sum."""
    signed = np.exp(np.random.default_rng(1).normal(size=40))
    test = joint.look(joint.NOT_STARTED, joint.flipped(signed), 1)
    assert (test.dropped.tolist(), test.rejected) == ([0], True)
    whole = native.whole_units(signed)
    sizes = np.sort(np.abs(joint.sums(whole))) / np.linalg.norm(whole.astype(float))
    assert sizes[-1] > test.bound == pytest.approx(sizes[-2], rel=1e-6)
    assert joint.look(test, joint.flipped(signed), 0) == (test.dropped, True, np.inf)


def test_differences_of_zero_reject_nothing() -> None:
    assert not joint.look(joint.NOT_STARTED, joint.flipped(np.zeros(30)), 1000).rejected


def plainly(dropped: set[int], sizes: FloatArray, may_drop: int) -> tuple[set[int], float]:
    """Return all flips that are dropped after a look, found one by one, and the bound."""
    left = np.array([flip for flip in range(joint.FLIPS) if flip not in dropped])
    bound = float(np.sort(sizes[left])[-may_drop - 1])
    return dropped | set(left[sizes[left] > bound].tolist()), bound


@pytest.mark.parametrize("seed", range(3))
def test_of_few_pairs_the_first_flips_stand_for_all(seed: int) -> None:
    generator = np.random.default_rng(seed)
    test, dropped = joint.NOT_STARTED, set[int]()
    for size in (5, 12, 13, 14, 17, 18, 40, 200):
        may_drop = int(generator.integers(1, 700))
        signed = np.exp(generator.normal(size=(2, size))) * generator.choice([-1, 1], size)
        whole = np.stack([native.whole_units(kind) for kind in signed])
        one, other = (np.abs(joint.sums(scores)) / np.linalg.norm(scores.astype(float)) for scores in whole)
        dropped, bound = plainly(dropped, np.maximum(one, 0.9 * other), may_drop)
        test = joint.look(test, joint.Flipped(whole, 0.9), may_drop)
        assert set(test.dropped.tolist()) == dropped
        assert test.bound == pytest.approx(bound, rel=1e-6)
        assert test.rejected == (0 in dropped)


@pytest.mark.parametrize("pairs", [5, 12, 13, 14, 17, 20, 100, 129, 700])
def test_a_subgroup_never_has_more_flips_with_sums_as_large_than_there_are(pairs: int) -> None:
    generator = np.random.default_rng(pairs)
    scores = generator.normal(size=(30, 2, pairs))
    scores[0] = np.abs(scores[0])  # no other flip has sums as large as these
    seen = [joint.Flipped(np.stack([native.whole_units(kind) for kind in both]), 0.9) for both in scores]
    at_least = np.array([joint.at_least_as_large(one) for one in seen])
    all_flips = np.array([one.flips_as_large() for one in seen])
    assert (at_least <= all_flips).all()
    assert all_flips[0] == joint.FLIPS >> joint.bits_of(pairs)
    if pairs <= 13:
        assert (at_least == all_flips).all()
    else:  # it must be like all flips, or it would save nothing
        assert at_least.sum() * joint.FLIPS / 4096 == pytest.approx(all_flips.sum(), rel=0.2)
