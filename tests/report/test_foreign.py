"""Units and directions."""

from __future__ import annotations

import pytest

from steelyard.design.unpaired.foreign import compare_foreign
from steelyard.report.foreign import diff_markdown, direction, value_text
from tests.foreign import foreign_results, processes


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
    text = diff_markdown(compare_foreign(baseline, candidate, margin=0.005, alpha=0.01))
    assert "A <code>old.json</code>, B <code>new.json</code>" in text
    assert "%] if drift was no more than told below |" in text
    assert "- <code>sort</code>: drift cannot be seen in so few or such short processes; 2 % is assumed" in text
