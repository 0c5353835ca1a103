"""What several layouts say of a harness's samples."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.design.judging.judgement import verdicts
from steelyard.model.launches import Launches, LaunchRow, Sample
from steelyard.model.layouts import LayoutFacts
from tests.model.samples import row, weighing

LAYOUTS, PAIRS, SAMPLES = 6, 48, 8


def facts(layout: float, launch: float, sample: float) -> LayoutFacts:
    """Of samples whose candidates differ by these standard deviations."""
    generator = np.random.default_rng(1)
    effects = layout * generator.standard_normal(LAYOUTS)
    rows: list[LaunchRow] = []
    for pair in range(PAIRS):
        drawn = 1 + pair % LAYOUTS
        for side in (0, 1):
            level = side * (effects[drawn - 1] + launch * generator.standard_normal())
            times = 1e7 * np.exp(level + side * sample * generator.standard_normal(SAMPLES))
            samples = tuple(Sample(1, int(time), int(time), 0) for time in (2e7, *times))
            rows.append(row(pair, side, layout=drawn, samples=samples, wall_ns=10**9))
    record = weighing([], settings={"harness": "protocol", "layouts": LAYOUTS, "max_time_s": None, "pairs": PAIRS})
    record = record.model_copy(update={"launches": Launches.of_rows(rows), "stop": ["pairs"]})
    found = verdicts(record)[0].layouts
    assert found is not None
    return found


@pytest.mark.parametrize("level", [0, 1, 2])
def test_the_level_that_spreads_has_the_share(level: int) -> None:
    spreads = [0.001, 0.001, 0.001]
    spreads[level] = 0.05
    found = facts(*spreads)
    assert [part.level for part in found.parts] == ["layout", "launch", "sample"]
    assert found.parts[level].share > 0.9
    assert found.parts[level].spread == pytest.approx(0.05, rel=0.5)
    assert found.most == found.parts[level].level
