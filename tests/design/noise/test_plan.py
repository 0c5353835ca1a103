from __future__ import annotations

from collections.abc import Mapping, Sequence

from steelyard.design.noise.plan import NeighbourTask, PairsTask, Task, neighbours, plan
from steelyard.model.noise import Work

SHORTEST: Mapping[Work, float] = {"loop": 0.8, "memory": 2.0}


def cells(tasks: Sequence[Task]) -> list[PairsTask]:
    return [one for one in tasks if isinstance(one, PairsTask)]


def test_nothing_is_shorter_than_a_start_takes() -> None:
    tasks = cells(plan({0}, [], SHORTEST, tells_waits=True, begins_beside=False))
    assert min(one.ms for one in tasks if one.work == "loop") == 1
    assert min(one.ms for one in tasks if one.work == "memory") == 3


def test_without_waits_nothing_runs_in_tandem() -> None:
    told = {one.pairing for one in cells(plan({0, 1}, [], SHORTEST, tells_waits=True, begins_beside=False))}
    untold = {one.pairing for one in cells(plan({0, 1}, [], SHORTEST, tells_waits=False, begins_beside=False))}
    assert (told, untold) == ({"adjacent", "tandem"}, {"adjacent"})


def test_where_commands_begin_in_tandem_more_of_what_is_as_long_is_measured_so() -> None:
    shares = {"adjacent": 0.0, "tandem": 0.0}
    for one in cells(plan({0}, [], SHORTEST, tells_waits=True, begins_beside=True)):
        if one.ms in (30, 100):
            shares[one.pairing] += one.share
    assert shares["tandem"] >= shares["adjacent"] > 0


def test_the_first_processor_and_the_last_are_pinned_to() -> None:
    tasks = cells(plan({2, 5, 7}, [], SHORTEST, tells_waits=True, begins_beside=False))
    assert [one.cpu for one in tasks if one.cpu is not None] == [2, 7]


def test_a_sibling_and_another_core_are_tried_beside_the_first() -> None:
    cores = [frozenset({0, 2}), frozenset({1, 3})]
    assert neighbours([0, 1, 2, 3], cores) == [2, 1]
    assert neighbours([0, 2], cores) == [2]
    assert neighbours([1, 2], []) == [2]
    assert neighbours([4], cores) == []
    tasks = plan({0, 1, 2, 3}, cores, SHORTEST, tells_waits=True, begins_beside=False)
    assert {one.cpus for one in tasks if isinstance(one, NeighbourTask)} == {(0, 2), (0, 1)}
