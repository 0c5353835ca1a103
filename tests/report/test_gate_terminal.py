"""A gate on a terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from steelyard.model.findings import NOISY_ALONE, SAID_BY_ONE, SAID_FAILURE, SHARED, Finding
from steelyard.model.gate import GateReport, Judged
from steelyard.model.limits import Limits
from steelyard.report import gate_markdown, gate_terminal, junit
from tests.report.records import UNDECIDED, flat, on_screen, weighing

NOISY = Finding(code=NOISY_ALONE, message="pairs vary by 3 %", remedy="--pairing auto runs both at once")


def opened(benchmarks: int, *findings: Finding) -> GateReport:
    record = weighing(0.0, stop="time")
    judged = [
        Judged(
            "a.json",
            record,
            UNDECIDED.model_copy(update={"benchmark": f"b{number}", "findings": list(findings)}),
            None,
            "open",
            deciding=True,
        )
        for number in range(benchmarks)
    ]
    return GateReport(Limits(), ["a.json"], [record], judged, [])


def cold(number: int) -> GateReport:
    """Return a report of benchmarks of which only the warm-up was measured, a problem each."""
    report = opened(number)
    judged = [
        replace(one, verdict=one.verdict.model_copy(update={"pairs": 0, "interval": None})) for one in report.judged
    ]
    problems = [f"{one.verdict.benchmark}: only the warm-up was measured for active" for one in judged]
    return replace(report, judged=judged, problems=problems)


def shown(report: GateReport) -> str:
    return flat(on_screen(lambda console: gate_terminal.show(console, report), 100))


@pytest.mark.parametrize(("benchmarks", "note"), [(1, "note pairs vary by 3 %"), (2, "note b0, b1: pairs vary by 3 %")])
def test_a_note_that_is_pointed_at_is_shown(benchmarks: int, note: str) -> None:
    text = shown(opened(benchmarks, NOISY))
    assert "--pairing auto (see the note)" in text
    assert text.count(f"{note} --pairing auto runs both at once") == 1


@pytest.mark.parametrize("number", [1, 3])
def test_what_is_missing_is_not_listed_as_open_too(number: int) -> None:
    report = cold(number)
    for text in (shown(report), flat(gate_markdown.page(report))):
        assert "+0.42 %" not in text
        assert all(f"b{place}" in text for place in range(number))
        assert text.count("about 240 pairs, 6.3 s, would settle a large change") == 1
    both = replace(report, judged=[*report.judged, *opened(1).judged])
    assert "open b0 active +0.42 % [-0.40 %, +1.20 %], limit 0.5 %: not slower" in shown(both)


def test_of_very_many_the_first_are_listed_and_the_others_counted() -> None:
    assert "limit 0.5 %: not slower by more than 1.20 %, not faster" in shown(opened(1))
    text = shown(opened(1300))
    assert text.count("limit 0.5 %: not slower") == 200
    assert " 1,100 more: --markdown FILE has all of them" in text


def test_other_notes_are_not() -> None:
    assert "short" not in shown(opened(2, NOISY, Finding(code="short", message="short")))
    assert "note" not in shown(opened(2))


def test_that_something_else_may_have_been_weighed_is() -> None:
    found = [Finding(code=code, message=f"{code} was seen") for code in (SHARED, SAID_FAILURE, SAID_BY_ONE)]
    record = weighing(0.0).model_copy(update={"findings": found})
    text = shown(GateReport(Limits(), ["a.json", "b.json"], [record, record], [], []))
    assert text.count("note shared was seen stderr-failure was seen") == 1
    assert "stderr was" not in text


def test_what_shows_no_notes_points_at_none() -> None:
    text = junit.xml(opened(1, NOISY))
    assert "--pairing auto" in text
    assert "see the note" not in text
