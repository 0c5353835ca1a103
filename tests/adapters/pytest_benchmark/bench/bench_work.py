"""Benchmarks for the tests of the adapter: the environment variable FACTOR plants a slowdown in one of them."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import pytest

FACTOR = int(os.environ.get("FACTOR", "1"))


def test_sum(benchmark: Any) -> None:
    assert benchmark(sum, range(2000 * FACTOR)) > 0


def test_sum_of_more(benchmark: Any) -> None:
    benchmark(sum, range(1000))


def test_plain() -> None:
    """Not a benchmark."""


AWKWARD = ["with space", "a/b::c[d]", ".*^$(regex)+?", "größe/日本", "-k", "'quotes\" $HOME", "tab\tand\nline"]


@pytest.mark.parametrize("n", [1, 2.5])
@pytest.mark.parametrize("text", AWKWARD)
def test_text(benchmark: Any, text: str, n: float) -> None:
    assert benchmark(lambda one, *, times: one * times, text, times=int(n)) == text * int(n)


class TestClass:
    @pytest.mark.benchmark(min_rounds=3, max_time=30, group="slow")
    @pytest.mark.heavy
    def test_marked(self, benchmark: Any) -> None:
        benchmark(time.sleep, 0.0005)


def test_pedantic(benchmark: Any) -> None:
    benchmark.pedantic(sum, args=(range(500),), rounds=7, iterations=11)


def test_pedantic_with_setup(benchmark: Any) -> None:
    benchmark.pedantic(list.sort, setup=lambda: (([3, 1, 2],), {}), rounds=5)


@pytest.fixture
def through(benchmark: Any) -> Any:
    return benchmark


def test_of_a_fixture(through: Any) -> None:
    through(sum, range(300))


def test_in_another_thread(benchmark: Any) -> None:
    def work() -> None:
        thread = threading.Thread(target=sum, args=(range(50_000),))
        thread.start()
        thread.join()

    benchmark(work)
