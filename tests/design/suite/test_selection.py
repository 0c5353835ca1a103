"""Which benchmarks of a suite each part has."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.design.suite.selection import RequestedShard, deal_shard
from steelyard.model.errors import UsageError
from steelyard.model.subject import Benchmark


def names(benchmarks: list[Benchmark], number: int, of: int = 2) -> list[str]:
    return [one.name for one in deal_shard(benchmarks, RequestedShard(number, of))[0]]


def named(*names: str, **fields: Any) -> list[Benchmark]:
    return [Benchmark(name=name, **fields) for name in names]


def test_names_are_dealt_out_in_their_own_order() -> None:
    suite = named("c", "a", "e", "b", "d")
    assert [names(suite, number) for number in (1, 2)] == [["c", "a", "e"], ["b", "d"]]
    assert deal_shard(suite, RequestedShard(2, 2))[1].model_dump() == {
        "number": 2,
        "of": 2,
        "suite": ["c", "a", "e", "b", "d"],
    }


def test_each_part_has_the_control_which_is_none_of_the_suite() -> None:
    control = Benchmark(name="0", candidate=0, control=True)
    part, shard = deal_shard([*named("a", "b"), control], RequestedShard(2, 2))
    assert ([one.name for one in part], shard.suite) == (["b", "0"], ["a", "b"])


def test_all_candidates_of_a_benchmark_are_in_one_part() -> None:
    by_entry = [Benchmark(name=f"{entry} {side}", entry=entry, candidate=side) for side in (1, 2) for entry in "ab"]
    assert names(by_entry, 1) == ["a 1", "a 2"]
    by_params = [Benchmark(name=f"./{side} {n}", params={"n": n}, candidate=side) for side in (1, 2) for n in "345"]
    assert names(by_params, 2) == ["./1 4", "./2 4"]
    both = [Benchmark(name=entry, entry=entry, params={"n": "3"}) for entry in "ab"]
    assert names(both, 2) == ["b"]


@pytest.mark.parametrize(
    ("many", "said"),
    [(1, "there is one benchmark: leave it out"), (2, "there are 2 benchmarks: make it as many")],
)
def test_no_part_is_empty(many: int, said: str) -> None:
    with pytest.raises(UsageError, match=f"--shard 1/3 makes 3 parts, and {said}"):
        deal_shard(named(*"ab"[:many]), RequestedShard(1, 3))
