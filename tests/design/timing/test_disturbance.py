from __future__ import annotations

from typing import Any

import pytest

from steelyard.design.timing.disturbance import is_disturbed, may_repeat
from tests.design.scripted import noisy, weigh


@pytest.mark.parametrize(
    ("metric", "lost", "disturbed"),
    [
        ("active", {"steal_ns": 3_000_000}, True),
        ("active", {"steal_ns": 400_000}, False),
        ("active", {"delay_ns": 9_000_000}, False),  # corrected for
        ("wall", {"delay_ns": 9_000_000}, True),
        ("wall", {"delay_ns": None, "steal_ns": None}, False),
    ],
)
def test_only_what_the_metric_does_not_correct_for_disturbs(metric: str, lost: dict[str, Any], disturbed: bool) -> None:
    machine = weigh(noisy(noise=0), pairs=12, warm_up=0)[1]
    calm, other = machine.rows[:2]
    assert is_disturbed(calm._replace(**lost), other, metric) is disturbed
    assert is_disturbed(other, calm._replace(**lost), metric) is disturbed


def test_repeats_are_bounded_by_the_pairs_that_were_kept() -> None:
    assert may_repeat(0, 0)
    assert not may_repeat(1, 0)
    assert may_repeat(5, 20)
    assert not may_repeat(6, 20)
