"""A first launch that took far longer than those that are judged."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.design.judging.first_launch import first_launch_finding
from steelyard.model.settings import Settings
from tests.model.samples import WARM_UP, pairs, weighing


@pytest.mark.parametrize(
    ("first_ms", "later_ms", "settings", "is_told"),
    [
        (60.0, 1.6, {}, True),
        (60.0, 7.0, {}, False),
        (15.0, 1.0, {}, False),
        (60.0, 1.6, {"prepare": ["make clean"]}, False),
        (60.0, 1.6, {"harness": "protocol"}, False),
    ],
)
def test_launches_that_may_find_the_work_of_the_first_done(
    first_ms: float, later_ms: float, settings: dict[str, Any], is_told: bool
) -> None:
    rows = [row._replace(cpu_ns=round(later_ms * 1e6)) for row in pairs(3)]
    rows[0] = rows[0]._replace(role=WARM_UP, cpu_ns=round(first_ms * 1e6))
    rows[1] = rows[1]._replace(role=WARM_UP)
    told = first_launch_finding(weighing(rows, settings=Settings(**settings)), 0)
    assert (told is not None) == is_told
    if told is not None:
        assert told.message.startswith("the warm-up took 60.00 ms of a processor, and a launch that is judged 1.600 ms")
