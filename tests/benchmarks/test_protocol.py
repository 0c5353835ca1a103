from __future__ import annotations

import sys

import pytest
from benchmarks.protocol import samples_of


@pytest.mark.real
def test_the_samples_are_those_that_are_asked_for() -> None:
    found = samples_of([sys.executable, "-m", "steelyard.harness", "--timeit", "pass"], "timeit", 7, 3)
    assert [one["loops"] for one in found] == [7, 7, 7]
    assert all(one["ns"] >= 0 for one in found)
