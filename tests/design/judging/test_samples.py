"""A harness that chooses its iterations by time: a sample of one side may have more of them than the other's."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.design.judging.judgement import verdicts
from steelyard.subjects.protocol import ProtocolHarness
from tests.design.scripted_harness import Asked, Body, machine, weigh
from tests.design.suite.made import messages

EACH_NS, FIRST_NS = 70_000, 500_000
"""The time of an iteration, and how much longer the first one of each sample takes."""


def fills_first(loops: int) -> Body:
    """Return a body whose samples have so many iterations, whatever is asked for."""

    def run(asked: Asked) -> Any:
        ns = loops * EACH_NS + FIRST_NS
        return [{"loops": loops, "ns": ns, "cpu_ns": ns, "delay_ns": 0} for _ in range(asked.samples)]

    return run


def noted(had: tuple[int, int], **told: Any) -> list[str]:
    """Return what is said if samples had these iterations per side, and the benchmark has these fields, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ProtocolHarness, "fixes_loops", False)
        suites = machine(baseline={"one": fills_first(had[0])}, candidate={"one": fills_first(had[1])})
        record = weigh(suites, pairs=12, max_time_s=None)
    (benchmark,) = record.benchmarks
    record = record.model_copy(update={"benchmarks": [benchmark.model_copy(update=told)]})
    return messages(verdicts(record)[0], "uneven-loops")


def test_a_change_that_may_be_one_of_the_number_of_iterations_says_so() -> None:
    (said,) = noted((6, 9))
    assert said == (
        "a sample of baseline has 6 iterations, one of candidate has 9, as this harness chooses them itself: where the "
        "first of a sample take longer, that is a part of the change"
    )


@pytest.mark.parametrize("loops", [(6, 6), (6, 7), (100, 200)], ids=["as many", "hardly more", "many"])
def test_as_many_on_both_sides_or_many_say_nothing(loops: tuple[int, int]) -> None:
    assert noted(loops) == []


def test_numbers_that_were_asked_for_say_nothing() -> None:
    assert noted((6, 9), loops=6) == []
