from __future__ import annotations

import itertools

import pytest
from benchmarks.against_peers import Cell, launches_a_side, report, takes_part


@pytest.mark.parametrize(
    ("rounds", "wanted", "apart"),
    [(100, 20, {5}), (7, 3, {2}), (10, 4, {2, 3}), (5, 5, {1}), (3, 0, set()), (4, 1, set())],
)
def test_a_tool_takes_part_as_often_as_wanted_and_evenly(rounds: int, wanted: int, apart: set[int]) -> None:
    taken = [number for number in range(rounds) if takes_part(number, rounds, wanted)]
    assert len(taken) == wanted
    assert {later - earlier for earlier, later in itertools.pairwise(taken)} == apart


def test_more_weighings_than_rounds_are_one_a_round() -> None:
    assert all(takes_part(number, 3, 10) for number in range(3))


def test_launches_a_side_are_without_the_warm_up_and_with_repeated_pairs() -> None:
    assert launches_a_side({"launches": {"role": [0, 0, 1, 1, 2, 2, 1, 1]}}) == 3


def test_the_table_has_a_row_a_judge_that_has_judged() -> None:
    steelyard, peer = Cell(), Cell()
    for word, seconds in (("same", 1.0), ("undecided", 3.0), ("slower", 2.0)):
        steelyard.add(word, seconds)
    peer.add("no difference", 4.0)
    lines = report({("quiet", 0.01, "pyperf compare_to"): peer, ("quiet", 0.01, "Steelyard"): steelyard}).splitlines()
    assert lines[2:] == [
        "| quiet | +1% | Steelyard | 3 | 1 | 0 | 2 (1 undecided) | 2.0 |",
        "| quiet | +1% | pyperf compare_to | 1 | 0 | 0 | 1 | 4.0 |",
    ]
