"""The interval of a run under a coarse clock."""

from __future__ import annotations

import pytest

from steelyard.design.judging.summaries import summaries
from steelyard.model.rows import Sample
from steelyard.model.settings import Settings
from tests.model.samples import row, run


def interval(metric: str, ticks: list[int], loops: int = 0) -> tuple[float, float] | None:
    """Return the interval of launches that took so many ms, and as many pages; `loops` iterations a sample if given."""
    rows = [row(number, cpu_ns=10**6 * ms, user_ns=0, sys_ns=0, minor_faults=ms) for number, ms in enumerate(ticks)]
    if loops:
        times = [10**6 * ms for ms in ticks]
        rows = [one._replace(samples=(Sample(loops, ns, ns, 0),)) for one, ns in zip(rows, times, strict=True)]
    (found,) = summaries(run(rows, settings=Settings(metrics=[metric], harness="protocol" if loops else None)))
    return found.interval


def test_the_interval_of_a_run_is_as_much_wider_as_a_tick_is() -> None:
    few = [12, 12, 12, 13, 12, 12, 13, 12, 12, 12]
    assert interval("cpu", few) == pytest.approx((11e6, 14e6))
    assert interval("cpu", few, loops=7) == pytest.approx((11e6 / 7, 14e6 / 7))
    assert interval("cpu", [12] * 10, loops=7) == pytest.approx((8e6 / 7, 16e6 / 7))
    # No time is below 0, and a time of 0 is no multiple of a tick.
    assert interval("cpu", [1] * 4 + [2] * 6) == pytest.approx((0, 3e6))
    assert interval("cpu", [0] * 5 + [2] * 5) == (0, 2e6)


def test_counts_and_clocks_that_are_fine_enough_widen_nothing() -> None:
    assert interval("minor_faults", [12] * 10) == (12, 12)
    assert interval("cpu", [*range(100, 110)]) == pytest.approx((100e6, 109e6))
    assert interval("cpu", [12, 13]) is None
