"""What several layouts say of a harness's samples."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.design.judging.judgement import verdicts
from steelyard.model.derived import Verdict
from steelyard.model.launches import Launches, LaunchRow, Sample
from steelyard.model.layouts import LayoutFacts
from tests.model.samples import row, weighing

LAYOUTS, PAIRS, SAMPLES = 6, 48, 8


def judged(
    layout: float,
    launch: float,
    sample: float,
    *,
    layouts: int = LAYOUTS,
    change: float = 0.0,
    pairs: int = PAIRS,
    stop: str = "pairs",
) -> Verdict:
    """Samples whose candidates differ by these standard deviations."""
    generator = np.random.default_rng(1)
    effects = change + layout * generator.standard_normal(layouts)
    rows: list[LaunchRow] = []
    for pair in range(pairs):
        drawn = 1 + pair % layouts
        for side in (0, 1):
            level = side * (effects[drawn - 1] + launch * generator.standard_normal())
            times = 1e7 * np.exp(level + side * sample * generator.standard_normal(SAMPLES))
            samples = tuple(Sample(1, int(time), int(time), 0) for time in (2e7, *times))
            rows.append(row(pair, side, layout=drawn, samples=samples, wall_ns=10**9))
    record = weighing([], settings={"harness": "protocol", "layouts": layouts, "max_time_s": None, "pairs": PAIRS})
    record = record.model_copy(update={"launches": Launches.of_rows(rows), "stop": [stop]})
    return verdicts(record)[0]


def facts(layout: float, launch: float, sample: float) -> LayoutFacts:
    found = judged(layout, launch, sample).layouts
    assert found is not None
    return found


@pytest.mark.parametrize(("layouts", "wrong"), [(2, "10 in 100"), (3, "3 in 100"), (4, None)])
def test_a_verdict_of_two_or_three_layouts_says_how_often_it_is_wrong_of_two_speeds(
    layouts: int, wrong: str | None
) -> None:
    verdict = judged(0.001, 0.001, 0.001, layouts=layouts, change=0.3)
    assert verdict.verdict == "slower"
    (told,) = [finding.message for finding in verdict.findings if finding.code == "normal-layouts"]
    assert told.startswith(f"{layouts} layouts are too few")
    assert ("two speeds" in told) is (wrong is not None)
    assert wrong is None or wrong in told


@pytest.mark.parametrize("level", [0, 1, 2])
def test_the_level_that_spreads_has_the_share(level: int) -> None:
    spreads = [0.001, 0.001, 0.001]
    spreads[level] = 0.05
    found = facts(*spreads)
    assert [part.level for part in found.parts] == ["layout", "launch", "sample"]
    assert found.parts[level].share > 0.9
    assert found.parts[level].spread == pytest.approx(0.05, rel=0.5)
    assert found.most == found.parts[level].level


def test_what_stops_between_the_looks_that_may_decide_says_so() -> None:
    verdict = judged(0.02, 0.005, 0.001, change=0.04, pairs=20, stop="interrupted")
    assert verdict.verdict == "undecided"
    assert verdict.interval is not None
    assert verdict.interval[0] > 0
    assert verdict.p_value is not None
    assert verdict.p_value > 0.01
    codes = [finding.code for finding in verdict.findings]
    assert "between-looks" in codes
    assert "shared-alpha" not in codes
