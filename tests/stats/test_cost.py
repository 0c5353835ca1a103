from __future__ import annotations

import pytest

from steelyard.stats.cost import cost, hits

EVENTS = {"Ir": 1000, "I1mr": 10, "ILmr": 4, "Dr": 400, "D1mr": 60, "DLmr": 20, "Dw": 200, "D1mw": 30, "DLmw": 8}


def test_hits_by_hand() -> None:
    assert hits(EVENTS) == (1500, 68, 32)


def test_hits_add_up_to_all_accesses() -> None:
    assert sum(hits(EVENTS)) == 1000 + 400 + 200


def test_cost_weighs_each_level() -> None:
    assert cost(EVENTS, 1, 5, 35) == 1500 + 5 * 68 + 35 * 32
    assert cost(EVENTS, 1, 0, 0) == 1500
    assert cost(EVENTS, 0, 1, 0) == 68
    assert cost(EVENTS, 0, 0, 1) == 32


def test_a_hit_of_main_memory_is_none_of_the_last_level() -> None:
    further = {**EVENTS, "DLmr": EVENTS["DLmr"] + 5}
    l1, ll, ram = hits(further)
    assert (l1, ll, ram) == (1500, 63, 37)


def test_of_a_difference_no_level_has_hits_below_none() -> None:
    difference = dict.fromkeys(EVENTS, 0) | {"Ir": 1000, "Dr": 300, "Dw": 10, "ILmr": 1}
    assert hits(difference) == (1309, 0, 1)
    assert cost(difference, 1, 5, 35) == 1309 + 35


@pytest.mark.parametrize("name", EVENTS)
def test_missing_events_are_named(name: str) -> None:
    events = {other: count for other, count in EVENTS.items() if other != name}
    with pytest.raises(ValueError, match=f"counts of {name}$"):
        cost(events, 1, 5, 35)


def test_instructions_alone_have_no_cost() -> None:
    with pytest.raises(ValueError, match="needs the simulation of caches"):
        hits({"Ir": 1})


def test_more_events_do_not_matter() -> None:
    assert hits({**EVENTS, "Bc": 7}) == hits(EVENTS)
