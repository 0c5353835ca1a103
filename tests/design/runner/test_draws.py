from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.design.runner.draws import (
    PADDING_BELOW,
    draw_pair,
    draw_places,
    draw_shared_places,
    first_side,
    round_order,
)
from steelyard.model.rows import USED


@given(st.integers(0, 2**63), st.integers(0, 100), st.integers(0, 10**6))
def test_a_draw_is_a_function_of_its_place(seed: int, benchmark: int, pair: int) -> None:
    draw = draw_pair(seed, benchmark, pair)
    assert draw == draw_pair(seed, benchmark, pair)
    assert 1 <= draw.hash_seed < 2**32
    assert 0 <= draw.padding_bytes < PADDING_BELOW
    assert first_side(seed, benchmark, pair) == first_side(seed, benchmark, pair)


def test_the_plan_of_a_seed_is_the_same_in_every_version() -> None:
    """A recorded seed must repeat its plan years later: these numbers must never change."""
    assert [first_side(7, 0, pair) for pair in range(12)] == [0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0]
    assert draw_pair(7, 0, 0) == (3013667347, 2420, 0)
    assert draw_pair(7, 1, 5) == (3766742631, 1940, 0)
    assert round_order(7, 0, [0, 1, 2, 3]) == [1, 3, 2, 0]


def test_the_plan_of_layouts_is_the_same_in_every_version() -> None:
    assert [draw_pair(7, 0, pair, 4).layout for pair in range(12)] == [3, 2, 1, 4, 1, 2, 4, 3, 4, 2, 3, 1]
    assert draw_pair(7, 0, 3, 4)[:2] == draw_pair(7, 0, 3)[:2]


def test_each_layout_has_its_turn_in_an_order_of_its_own() -> None:
    blocks = [[draw_pair(3, 1, 6 * block + place, 6).layout for place in range(6)] for block in range(50)]
    assert all(sorted(block) == [1, 2, 3, 4, 5, 6] for block in blocks)
    assert len(set(map(tuple, blocks))) > 40


def test_the_plan_of_pairs_in_tandem_is_the_same_in_every_version() -> None:
    pairs = [draw_places(7, 0, pair, USED, tandem=True) for pair in range(12)]
    assert [one.side for one, _ in pairs] == [first_side(7, 0, pair) for pair in range(12)]
    assert [one.order for one, _ in pairs] == [3, 2, 3, 2, 2, 2, 3, 3, 3, 3, 3, 3]


def test_the_plan_of_common_starts_is_the_same_in_every_version() -> None:
    pairs = {2: 5, 1: 9}
    rounds = [draw_shared_places(7, pairs, number, USED, 0) for number in range(8)]
    assert [first[0].side for first, _ in rounds] == [0, 1, 0, 0, 0, 1, 0, 1]
    for first, second in rounds:
        assert [{place.side for place in start} for start in (first, second)] == [{first[0].side}, {second[0].side}]
        assert [(place.benchmark, place.pair) for place in first] == [*pairs.items()]
        assert [(place.benchmark, place.pair) for place in second] == [*pairs.items()]
    assert {place[5:] for start in rounds[4] for place in start} == {(3335686149, 673, 0)}
    assert [place.order for place in rounds[4][0]] == [first_side(7, *pair) for pair in pairs.items()] == [1, 1]


def test_the_first_of_a_pair_is_the_one_that_the_coin_says() -> None:
    for pair in range(12):
        one, other = draw_places(7, 0, pair, USED)
        assert (one.side, one.order, other.side, other.order) == (first_side(7, 0, pair), 0, 1 - one.side, 1)


def test_who_is_made_first_and_who_begins_are_two_coins() -> None:
    pairs = [draw_places(1, 0, pair, USED, tandem=True) for pair in range(2000)]
    assert all({one.order, other.order} == {2, 3} and {one.side, other.side} == {0, 1} for one, other in pairs)
    for made_first in (0, 1):
        begins = [one.order == 2 for one, _ in pairs if one.side == made_first]
        assert 0.45 < sum(begins) / len(begins) < 0.55


@pytest.mark.parametrize("seed", [0, 1, 2**40])
def test_the_coin_is_fair_and_forgets(seed: int) -> None:
    tosses = [first_side(seed, 0, pair) for pair in range(4000)]
    assert sum(tosses) == pytest.approx(2000, abs=4 * 32)
    changes = sum(one != other for one, other in pairwise(tosses))
    assert changes == pytest.approx(2000, abs=4 * 32)


def test_benchmarks_pairs_and_seeds_draw_apart() -> None:
    places = [(seed, benchmark, pair) for seed in range(4) for benchmark in range(4) for pair in range(4)]
    assert len({draw_pair(*place).hash_seed for place in places}) == len(places)


def test_a_round_visits_every_benchmark_in_an_order_of_its_own() -> None:
    rounds = [round_order(3, number, [0, 1, 2, 3, 4]) for number in range(20)]
    assert all(sorted(order) == [0, 1, 2, 3, 4] for order in rounds)
    assert len({tuple(order) for order in rounds}) > 10
