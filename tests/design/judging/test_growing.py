"""Launches that take longer and longer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from steelyard.design.judging.growing import growing_finding
from steelyard.design.judging.judgement import verdicts
from steelyard.design.judging.summaries import summaries
from steelyard.design.timing.alone import RunMeasurement
from steelyard.model.records import Run
from tests.design.scripted import PLAIN, Machine, recorder, run_header, weigh


def lasting(factor: Callable[[int], float]) -> Any:
    """Return a script: 12 ms and 12 MB times factor(number of the launch), every third launch three times as much."""

    def script(number: int, spec: object) -> Any:  # noqa: ARG001
        size = round(12e6 * factor(number) * (3 if number % 3 == 0 else 1))
        return replace(PLAIN, wall_ns=size, max_rss_bytes=size)

    return script


def measured(script: Any, launches: int, **settings: Any) -> Run:
    machine = Machine(script)
    header = run_header(pairs=launches, **settings)
    return RunMeasurement(header, recorder(machine), machine.clock, lambda _: None).run()


def told(script: Any, launches: int, *, alone: bool, **settings: Any) -> list[str]:
    if alone:
        of_each: Any = summaries(measured(script, launches, **settings))
    else:
        of_each = verdicts(weigh(script, pairs=launches // 2, margin=0.0001, **settings)[0])
    return [finding.message for finding in of_each[0].findings if finding.code == "growing"]


@pytest.mark.parametrize("alone", [True, False])
def test_what_each_leaves_for_the_next_is_told_of(alone: bool) -> None:
    (said,) = told(lasting(lambda number: 1 + number / 60), 60, alone=alone)
    assert said.startswith("the last launches take ")
    assert 45 < int(said.split()[4]) < 65
    for factor in (lambda _: 1.0, lambda number: 1 + number / 400, lambda number: 2 - number / 60):
        assert told(lasting(factor), 60, alone=alone) == []


def test_of_few_launches_or_another_metric_it_is_not() -> None:
    few = lasting(lambda number: 1 + number / 5)
    assert [len(told(few, launches, alone=True, alpha=0.05)) for launches in (11, 12)] == [0, 1]
    script = lasting(lambda number: 1 + number / 60)
    assert told(script, 60, alone=True, metrics=["max_rss"]) == []


def test_of_the_launches_of_a_harness_it_is_not() -> None:
    record = measured(lasting(lambda number: 1 + number / 60), 60)
    driven = record.model_copy(update={"settings": record.settings.model_copy(update={"harness": "protocol"})})
    assert growing_finding(record, 0, "active") is not None
    assert growing_finding(driven, 0, "active") is None
