from __future__ import annotations

from itertools import accumulate

from steelyard.machine.watch.sentinel import fixed_work_ns


def test_the_least_of_a_few_times_is_told() -> None:
    taken = [1500, 9000, 1100, 1200, 1150, 40_000, 1300, 1250]
    times = iter([*accumulate(ns for each in taken for ns in (100, each))])
    assert fixed_work_ns(lambda: next(times)) == 1100
    assert next(times, None) is None


def test_work_takes_time() -> None:
    assert fixed_work_ns() > 0
