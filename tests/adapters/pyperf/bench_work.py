"""Benchmarks for the tests of the adapter: the environment variable FACTOR plants a slowdown in one of them."""

from __future__ import annotations

import os
import sys
import time

import pyperf

FACTOR = int(os.environ.get("FACTOR", "1"))
BROKEN = os.environ.get("BROKEN", "")


def total(n: int) -> int:
    return sum(range(n))


def timed(loops: int, n: int) -> float:
    begun = time.perf_counter()
    for _ in range(loops):
        for _ in range(10):
            total(n)
    return time.perf_counter() - begun


async def awaited() -> None:
    total(100)


def fails_later() -> None:
    if any(word.startswith("--worker-task") for word in sys.argv):
        raise ValueError("planted failure")


runner = pyperf.Runner()
print("what the program prints is in no one's way")
runner.bench_func("sum", total, 2000 * FACTOR)
runner.bench_func("sum of more", total, 1000)
runner.bench_time_func("ten at once", timed, 200, inner_loops=10)
runner.bench_async_func("größe/日本 .*^$(a|b)[c]", awaited)
runner.timeit("-l 'statement'", "total(100)", globals=globals())
runner.bench_command("command", ["true"])
if "later" in BROKEN:
    runner.bench_func("fails later", fails_later)
runner.bench_func("last", total, 500)
