"""A benchmark for each defect that `steelyard check` has to find. Each is sound but for what its name says."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from random import Random

from steelyard import bench

Body = Callable[[], object]

_WORDS = [f"word {number}" for number in range(200)]


def _work(times: int) -> int:
    """Do work in proportion to `times`, about 30 ns each."""
    total = 0
    for number in range(times):
        total ^= number
    return total


def _shuffled(random: Random) -> list[float]:
    return [random.random() for _ in range(10_000)]


@bench(inputs=_shuffled, name="set-up-in-clock")
def set_up_in_clock(data: list[float]) -> None:
    """Only the first iteration of a sample sorts: the others find the data sorted."""
    data.sort()


@bench(inputs=lambda _: [0], name="slower-and-slower")
def slower_and_slower(kept: list[int]) -> None:
    """Each iteration of a sample has more to add up than the one before."""
    kept.append(len(kept))
    sum(kept)


@bench
def rising() -> Iterator[Body]:
    """Each sample has more to add up than the one before."""
    kept: list[int] = []

    def body() -> None:
        kept.append(len(kept))
        sum(kept)

    yield body


@bench
def drift() -> Iterator[Body]:
    """Do half of the work after 25 ms, as if something had been compiled or loaded by then."""
    end = time.thread_time_ns() + 25_000_000
    yield lambda: _work(2_000 if time.thread_time_ns() < end else 1_000)


@bench
def memory() -> Iterator[Body]:
    """Keep everything that the iterations make."""
    kept: list[bytearray] = []

    def body() -> None:
        kept.append(bytearray(4_000))
        _work(500)

    yield body


@bench(name="hash-seed")
def hash_seed() -> Iterator[Body]:
    """Do an amount of work that depends on the order of a set."""
    first = next(iter(set(_WORDS)))
    times = 1_000 + 200 * (int(first.split()[1]) % 5)
    yield lambda: _work(times)


@bench
def modes() -> Iterator[Body]:
    """Every process tosses a coin."""
    times = 1_000 if os.urandom(1)[0] < 128 else 2_000
    yield lambda: _work(times)


@bench(name="too-long")
def too_long() -> None:
    """Take longer per launch than its share of the budget."""
    time.sleep(1.5)


@bench(name="[nam]e")
def name() -> None:
    """The name of this benchmark, taken as a pattern, selects its neighbour."""
    _work(1_000)


@bench(name="me")
def neighbour() -> None:
    """The neighbour, without which that would not show."""
    _work(1_000)


_heap: list[bytearray] = []


@bench(name="fills")
def fills() -> None:
    """Leave something behind in the process, for `order` to find."""
    if len(_heap) < 1_000:
        _heap.append(bytearray(10))


@bench
def order() -> None:
    """Do twice the work if `fills` has run before."""
    _work(2_000 if _heap else 1_000)
