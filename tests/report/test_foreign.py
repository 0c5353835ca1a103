"""Units and directions."""

from __future__ import annotations

import pytest

from steelyard.design.unpaired.foreign import compare_foreign
from steelyard.design.unpaired.terms import Terms
from steelyard.report.foreign import diff_markdown, direction, show_diff, value_text
from tests.foreign import foreign_results, processes
from tests.report.records import on_screen


@pytest.mark.parametrize(
    ("amount", "unit", "text"),
    [
        (0.01281, "s", "12.81 ms"),
        (12.81, "us", "12.81 µs"),
        (0.5, "ns/op", "0.5000 ns/op"),
        (3, "ms/op", "3.000 ms/op"),
        (2048, "B", "2.000 KiB"),
        (1204.25, "ops/s", "1,204 ops/s"),
        (0.0000123, "ops/ns", "0.00001230 ops/ns"),
        (7, "count", "7 count"),
    ],
)
def test_a_value_in_its_unit(amount: float, unit: str, text: str) -> None:
    assert value_text(amount, unit) == text


def test_directions() -> None:
    assert (direction(True), direction(False)) == ("higher is better", "lower is better")


def test_an_interval_that_rests_on_a_guess_claims_no_confidence() -> None:
    baseline = foreign_results({"sort": processes(12)}, name="old.json")
    candidate = foreign_results({"sort": processes(12, 1.2, seed=5)}, name="new.json")
    text = diff_markdown(compare_foreign(baseline, candidate, Terms(margin=0.005, alpha=0.01)))
    assert "A <code>old.json</code>, B <code>new.json</code>" in text
    assert "%] if drift was no more than told |" in text
    assert "- <code>sort</code>: drift cannot be seen in so few or such short processes; 2 % is assumed" in text


def test_what_is_said_of_several_benchmarks_is_said_once() -> None:
    names = [f"bench{number}" for number in range(5)]
    baseline, candidate = (
        foreign_results({name: processes(12, 1.01, seed=seed + place) for place, name in enumerate(names)})
        for seed in (1, 9)
    )
    report = compare_foreign(baseline, candidate, Terms(margin=0.005, alpha=0.01))
    assert [one.verdict for one in report.verdicts] == ["undecided"] * 5
    on_terminal = " ".join(on_screen(lambda console: show_diff(console, report)).split())
    for text in (on_terminal, diff_markdown(report)):
        assert text.count("cannot be seen in so few or such short processes") == 1
    assert on_terminal.count("steelyard compare decides it") == 1
    assert on_terminal.count("if drift was no more than told, 12 and 12 processes") == 5, "also where that stands above"
    assert on_terminal.count("if drift was no more than told") == 6, "as for the mean, which is below all of it"
    assert "- <code>bench0</code>, <code>bench1</code>, <code>bench2</code> and 2 more: drift" in diff_markdown(report)
