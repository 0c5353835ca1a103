"""What a record that was read comes to."""

from __future__ import annotations

import pytest

from steelyard.design.outcome import recalled
from steelyard.model.records import Run, Weighing
from tests.design.scripted import run_header, weighing


@pytest.mark.parametrize(
    "record", [weighing(0), weighing(0, harness="protocol"), run_header().model_copy(update={"benchmarks": []})]
)
def test_a_record_without_benchmarks_says_so(record: Weighing | Run) -> None:
    outcome = recalled(record)
    assert str(outcome.error) == "the record has no benchmarks, so nothing was measured"
    assert outcome.record.derived is None
