"""What is said about failed launches if failures are accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from steelyard.design.judging.failures import failures_finding
from steelyard.design.judging.judgement import verdicts
from steelyard.model.launches import Launches
from steelyard.model.records import Weighing
from steelyard.model.rows import LaunchRow
from steelyard.model.settings import Settings
from tests.design.scripted import noisy, weigh
from tests.model.samples import row, run


def failing(ended: Callable[[LaunchRow], dict[str, Any]], **settings: Any) -> Weighing:
    """Return a weighing whose launches ended as `ended` says."""
    record, _ = weigh(noisy(), pairs=12)
    rows = [row._replace(**ended(row)) for row in record.launches.rows()]
    asked = record.settings.model_copy(update={"ignore_failure": True, **settings})
    return record.model_copy(update={"launches": Launches.of_rows(rows), "settings": asked})


def candidate_fails(row: LaunchRow) -> dict[str, Any]:
    return {"exit_code": 1} if row.side else {}


def test_one_side_s_are_counted() -> None:
    found = failures_finding(failing(candidate_fails), 0)
    assert found is not None
    assert found.message == (
        "12 of 12 launches of the candidate failed (exit status 1), which --ignore-failure accepts"
    )
    assert "may have done less work" in str(found.remedy)


def test_a_launch_whose_partner_was_cut_short_is_not_judged() -> None:
    record = failing(candidate_fails)
    rows = record.launches.rows()
    half = next(row for row in reversed(rows) if row.side)._replace(pair=99)
    found = failures_finding(record.model_copy(update={"launches": Launches.of_rows([*rows, half])}), 0)
    assert found is not None
    assert found.message.startswith("12 of 12 launches of the candidate failed")


def test_they_stand_beside_the_verdict() -> None:
    codes = [finding.code for finding in verdicts(failing(candidate_fails))[0].findings]
    assert codes.count("failures") == 1


def test_each_way_is_told() -> None:
    def ended(row: LaunchRow) -> dict[str, Any]:
        return {"exit_code": None, "signal": 11} if row.pair % 2 else {"exit_code": 3 + row.side}

    found = failures_finding(failing(ended), 0)
    assert found is not None
    assert (
        "of the baseline failed (SIGSEGV, a segmentation fault; exit status 3) and 12 of 12 launches of the candidate"
        in found.message
    )


def test_of_a_run_they_are_the_subject_s() -> None:
    rows = [row(number, exit_code=3 * (number < 2)) for number in range(5)]
    found = failures_finding(run(rows, settings=Settings(ignore_failure=True)), 0)
    assert found is not None
    assert found.message == "2 of 5 launches of the subject failed (exit status 3), which --ignore-failure accepts"
    assert found.remedy is None


def test_without_failures_there_is_nothing_to_say() -> None:
    assert failures_finding(failing(lambda row: {}), 0) is None  # noqa: ARG005
    assert failures_finding(failing(candidate_fails, ignore_failure=False), 0) is None
