from __future__ import annotations

import numpy as np

from steelyard.stats.changes import relative_changes


def test_what_has_no_baseline_has_no_relative_change_unless_both_sides_are_nothing() -> None:
    baseline, candidate = np.array([2.0, 0.0, 0.0, np.nan, 4.0, -1.0]), np.array([3.0, 1.0, 0.0, 1.0, np.nan, 1.0])
    np.testing.assert_array_equal(relative_changes(baseline, candidate), [0.5, np.nan, 0.0, *[np.nan] * 3])
