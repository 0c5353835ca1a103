from __future__ import annotations

from pathlib import Path

from steelyard.design.going_on import More, going_on
from tests.design.scripted import noisy, weigh


def test_what_a_suite_took_to_be_tried_is_used_up_of_the_budget_in_all() -> None:
    record, _ = weigh(noisy(), pairs=30, margin=0.0005, reserve=0.5)
    record = record.model_copy(update={"preparing_s": 7.0})
    assert going_on(record, Path("record.json"), More(10, None)).settings.max_time_s == 17 + record.seconds


def test_what_its_own_margin_decides_does_not_go_on() -> None:
    record, _ = weigh(noisy(), benchmarks=2, pairs=30, margin=0.0005, margins={"benchmark 1": 0.3}, reserve=0.5)
    opened = going_on(record, Path("record.json"), More(None, 20))
    assert opened.stop == ["interrupted", "decided"]
