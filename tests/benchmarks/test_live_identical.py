"""How likely alarms are, by chance."""

from __future__ import annotations

import pytest
from benchmarks.live_identical import at_least


@pytest.mark.parametrize(("found", "tries", "likely"), [(0, 10, 1.0), (1, 1, 0.05), (1, 2, 0.0975), (6, 48, 0.032)])
def test_so_many_alarms_or_more(found: int, tries: int, likely: float) -> None:
    assert at_least(found, tries, 0.05) == pytest.approx(likely, abs=5e-4)
