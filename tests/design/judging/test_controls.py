"""What verdicts are left as beside a control."""

from __future__ import annotations

import pytest

from steelyard.design.judging.controls import beside_controls
from tests.report import records
from tests.report.records import verdict


@pytest.mark.parametrize("word", ["undecided", "same"])
def test_a_control_that_leaves_a_change_open_is_called_what_it_is(word: str) -> None:
    slower = verdict(verdict="slower", change=0.006, interval=(0.002, 0.01))
    control = verdict(verdict=word, change=0.0, interval=(-0.009, 0.009), control=True)
    (left,) = beside_controls(records.weighing(), [slower], [control])
    assert left.verdict == "slower"
    assert left.findings[0].code == "control-open"
    assert left.findings[0].message.startswith(f"the control is {word}, [-0.9")


def test_what_it_excludes_is_left_as_it_is() -> None:
    slower = verdict(verdict="slower", change=0.02, interval=(0.01, 0.03))
    control = verdict(verdict="same", change=0.0, interval=(-0.009, 0.009), control=True)
    assert beside_controls(records.weighing(), [slower], [control]) == [slower]
