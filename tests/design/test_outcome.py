"""The outcome of a record that was read."""

from __future__ import annotations

import pytest

from steelyard.design.outcome import failure, judge_outcome, recall_record
from steelyard.model.derived import Derived
from steelyard.model.files import with_derived
from steelyard.model.findings import Finding
from steelyard.model.records import Run, Weighing
from tests.design.scripted import run_header, weighing
from tests.report.records import FASTER


@pytest.mark.parametrize(
    "record", [weighing(0), weighing(0, harness="protocol"), run_header().model_copy(update={"benchmarks": []})]
)
def test_a_record_without_benchmarks_says_so(record: Weighing | Run) -> None:
    outcome = recall_record(record)
    assert str(outcome.error) == "the record has no benchmarks, so nothing was measured"
    assert outcome.record.derived is None


def test_one_that_failed_and_others_that_were_not_reached_are_told_as_they_are_shown() -> None:
    record = weighing(2, harness="protocol").model_copy(
        update={"stop": ["failed", "time"], "findings": [Finding(code="failed", message="the first took too long")]}
    )
    outcome, shown = judge_outcome(record, None), recall_record(record)
    assert str(outcome.error) == str(shown.error) == "1 of 2 benchmarks failed, the first: the first took too long"
    assert outcome.record.derived == shown.record.derived
    assert outcome.record.derived is not None


@pytest.mark.parametrize("record", [weighing(2), run_header()])
def test_what_a_file_says_was_derived_of_one_that_failed_is_not_taken_from_it(record: Weighing | Run) -> None:
    failed = record.model_copy(update={"stop": ["failed"] * len(record.benchmarks)})
    written = with_derived(failed, Derived(verdicts=[FASTER] if isinstance(failed, Weighing) else []))
    assert recall_record(written).record == recall_record(failed).record == failed


def test_failed_benchmarks_are_counted_with_a_separator_of_thousands() -> None:
    stops = [*["failed"] * 1200, "time"]
    record = weighing(1201, harness="protocol").model_copy(update={"stop": stops})
    assert str(failure(record)) == "1,200 of 1,201 benchmarks failed"
    assert str(failure(record.model_copy(update={"stop": ["failed"] * 1201}))) == "all 1,201 benchmarks failed"
