"""Units and directions."""

from __future__ import annotations

import pytest

from steelyard.report.foreign import direction, value


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
    assert value(amount, unit) == text


def test_directions() -> None:
    assert (direction(True), direction(False)) == ("higher is better", "lower is better")
