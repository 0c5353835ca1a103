"""Sorting, and what is based on it. Each sample sorts different numbers, the same on both sides."""

from __future__ import annotations

import bisect
import heapq
from operator import itemgetter
from random import Random

from steelyard import bench


def _numbers(random: Random, n: int) -> list[float]:
    return [random.random() for _ in range(n)]


@bench(n=[10, 100, 1000], inputs=_numbers)
def shuffled(data: list[float]) -> None:
    sorted(data)


def _nearly(random: Random) -> list[int]:
    data = list(range(1000))
    for _ in range(10):
        one, other = random.randrange(1000), random.randrange(1000)
        data[one], data[other] = data[other], data[one]
    return data


@bench(inputs=_nearly)
def nearly_sorted(data: list[int]) -> None:
    sorted(data)


def _people(random: Random) -> list[tuple[str, int]]:
    return [(f"person {random.randrange(1000)}", random.randrange(100)) for _ in range(300)]


@bench(inputs=_people)
def by_key(data: list[tuple[str, int]]) -> None:
    sorted(data, key=itemgetter(1, 0))


@bench(n=[500], inputs=_numbers)
def smallest(data: list[float]) -> None:
    heapq.nsmallest(10, data)


@bench(n=[200], inputs=_numbers)
def insertion(data: list[float]) -> None:
    done: list[float] = []
    for number in data:
        bisect.insort(done, number)


def _sorted_lists(random: Random) -> list[list[int]]:
    return [sorted(random.randrange(10_000) for _ in range(50)) for _ in range(8)]


@bench(inputs=_sorted_lists)
def merge(lists: list[list[int]]) -> None:
    for _ in heapq.merge(*lists):
        pass
