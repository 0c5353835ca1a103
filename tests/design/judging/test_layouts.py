"""Several layouts of a harness, judged by its samples."""

from __future__ import annotations

import re
from math import sqrt

import numpy as np
import pytest

from steelyard.design.judging.judgement import verdicts
from steelyard.model.derived import Verdict
from steelyard.model.launches import Launches
from steelyard.model.layouts import LayoutFacts
from steelyard.model.rows import LaunchRow, Sample
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
    """Return the verdict on samples whose candidate varies by these standard deviations."""
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


@pytest.mark.parametrize(
    ("layout", "launch", "share"), [(0.02, 0.002, (0.97, 1.01)), (0.02, 0.05, (0.6, 0.95)), (2.5, 0.002, None)]
)
def test_how_far_layouts_alone_leave_it_open_is_told_of_the_interval(
    layout: float, launch: float, share: tuple[float, float] | None
) -> None:
    verdict = judged(layout, launch, 0.001, layouts=4)
    assert verdict.interval is not None
    half = sqrt((1 + verdict.interval[1]) / (1 + verdict.interval[0])) - 1
    (said,) = [finding.message for finding in verdict.findings if finding.code == "few-layouts"]
    told = re.search(r"with 4 of them the interval reaches (?:([0-9.]+) %|any size) to either side", said)
    assert told is not None
    assert told[1] is None if share is None else share[0] <= float(told[1]) / 100 / half <= share[1]


def test_where_launches_differ_by_more_than_layouts_no_limit_of_these_is_told() -> None:
    verdict = judged(0.001, 0.03, 0.001)
    assert verdict.verdict == "undecided"
    assert "few-layouts" not in [finding.code for finding in verdict.findings]


def test_parts_are_told_from_two_pairs_of_each_layout_on() -> None:
    few, enough = (judged(0.02, 0.005, 0.001, layouts=8, pairs=pairs).layouts for pairs in (15, 16))
    assert few is not None
    assert enough is not None
    assert (few.p_value, few.parts, few.most) == (None, [], None)
    assert (len(enough.parts), enough.most) == (3, "layout")
