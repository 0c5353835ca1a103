"""Python's containers: what it costs to fill them and to look things up."""

from __future__ import annotations

import heapq
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from random import Random

from steelyard import bench


@bench(n=[100, 1000])
def dict_fill(n: int) -> None:
    filled = {}
    for key in range(n):
        filled[key] = key  # noqa: PERF403 - it is what is measured


@bench(found=[True, False])
def dict_lookup(found: bool) -> Iterator[Callable[[], object]]:
    words = [f"key {number}" for number in range(200)]
    table = dict.fromkeys(words)
    wanted = words if found else [f"no {word}" for word in words]
    yield lambda: [word in table for word in wanted]


@bench
def list_append() -> None:
    filled: list[int] = []
    for number in range(500):
        filled.append(number)  # noqa: PERF402 - it is what is measured


@bench
def deque_turn() -> None:
    queue = deque(range(64))
    for _ in range(200):
        queue.append(queue.popleft())


@bench
def set_union() -> Iterator[Callable[[], object]]:
    even, odd = set(range(0, 1000, 2)), set(range(1, 1000, 2))
    yield lambda: even | odd


def _keys(random: Random) -> list[int]:
    return [random.randrange(1_000_000) for _ in range(300)]


@bench(inputs=_keys)
def heap(keys: list[int]) -> None:
    pending: list[int] = []
    for key in keys:
        heapq.heappush(pending, key)
    while pending:
        heapq.heappop(pending)


@bench
def lru_cache_by_hand() -> Iterator[Callable[[], None]]:
    cache: OrderedDict[int, int] = OrderedDict((key, key) for key in range(128))

    def touch() -> None:
        for key in range(0, 256, 2):
            if key in cache:
                cache.move_to_end(key)
            else:
                cache.popitem(last=False)
                cache[key] = key

    yield touch


@bench(tags=["text"])
def counter() -> Iterator[Callable[[], object]]:
    letters = "the quick brown fox jumps over the lazy dog " * 20
    yield lambda: Counter(letters)
