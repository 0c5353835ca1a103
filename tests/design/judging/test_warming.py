"""Launches whose samples become shorter and shorter, or longer and longer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from steelyard.design.judging.judgement import verdicts
from steelyard.design.judging.summaries import summaries
from steelyard.design.runner.targets import targets_of
from steelyard.design.suite.selection import Selection
from steelyard.design.timing.alone import RunMeasurement
from steelyard.model.findings import Finding
from steelyard.model.records import Run
from tests.design.scripted import recorder, without_files
from tests.design.scripted_harness import Asked, Body, machine, planner, run_header, steady, weigh

EACH_NS = 70_000

Shape = Callable[[int], Sequence[float]]
"""shape(samples) -> how long each sample takes, relative to the usual time."""


def shaped(shape: Shape, more_loops: int = 0) -> Body:
    """Return a body with samples of this shape and 1 % of noise; each has `more_loops` more than the one before."""
    random = np.random.default_rng(7)

    def run(asked: Asked) -> Any:
        noise = np.exp(0.01 * random.standard_normal(asked.samples))
        loops = [asked.loops + more_loops * number for number in range(asked.samples)]
        each = EACH_NS * noise * np.asarray(shape(asked.samples))
        return [
            {"loops": many, "ns": int(many * ns), "cpu_ns": int(many * ns), "delay_ns": 0}
            for many, ns in zip(loops, each, strict=True)
        ]

    return run


def warms_up(samples: int) -> list[float]:
    """Interpreted for the first two fifths of a launch, and compiled after that."""
    return [3.0 if number < 2 * samples // 5 else 1.0 for number in range(samples)]


def piles_up(samples: int) -> list[float]:
    """Growing to half as long again at the end."""
    return [1.0 + 0.5 * number / samples for number in range(samples)]


def is_cold(samples: int) -> list[float]:
    """A first sample, which is not judged, is far longer than the others."""
    return [30.0] + [1.0] * (samples - 1)


def found(baseline: Body, candidate: Body) -> list[Finding]:
    """Return what is said about samples that change within launches."""
    suites = machine(baseline={"one": baseline}, candidate={"one": candidate})
    findings = verdicts(weigh(suites, pairs=12, max_time_s=None))[0].findings
    return [finding for finding in findings if finding.code in ("warming", "piling")]


def test_code_that_warms_up_while_it_is_timed_is_told_with_its_side() -> None:
    (said,) = found(steady(EACH_NS), shaped(warms_up))
    assert said.code == "warming"
    assert said.remedy == "have its set-up warm it up, by a fixed number of calls"
    assert said.message == (
        "samples of the candidate shrink by 67 % within a launch: it is still warming up, and how far it gets, which "
        "other work may delay, is part of what is shown"
    )


def test_where_both_sides_do_they_are_told_at_once() -> None:
    (said,) = found(shaped(warms_up), shaped(warms_up))
    assert said.message.startswith("samples of either side shrink by 67 % within a launch: ")


def test_code_that_takes_longer_each_time_is_told_with_what_looks_into_it() -> None:
    (said,) = found(shaped(piles_up), steady(EACH_NS))
    assert said.code == "piling"
    assert said.remedy is not None
    assert "steelyard check" in said.remedy
    assert "samples of the baseline grow by 28 % within a launch: " in said.message


def test_two_sides_that_go_different_ways_are_two_findings() -> None:
    warming, piling = found(shaped(warms_up), shaped(piles_up))
    assert (warming.code, piling.code) == ("warming", "piling")
    assert " of the baseline " in warming.message
    assert " of the candidate " in piling.message


@pytest.mark.parametrize(
    "odd",
    [
        steady(EACH_NS, within=0.1),
        shaped(is_cold),
        shaped(lambda samples: np.linspace(1.06, 1.0, samples).tolist()),
        shaped(warms_up, more_loops=1),
    ],
    ids=["noise", "cold caches", "less than a tenth", "samples of unlike loops"],
)
def test_nothing_is_said_of(odd: Body) -> None:
    assert found(steady(EACH_NS), odd) == []


def test_a_few_launches_that_other_work_hit_do_not_tell_it() -> None:
    launches = iter(range(10**6))
    calm, hit = shaped(lambda samples: [1.0] * samples), shaped(warms_up)
    assert found(steady(EACH_NS), lambda asked: (hit if next(launches) % 3 == 0 else calm)(asked)) == []


def test_of_one_version_alone_it_is_told_without_a_side() -> None:
    suites = machine(baseline={"one": shaped(warms_up)})
    record = planner(suites, run_header(pairs=12, max_time_s=None)).plan(Selection())
    assert isinstance(record, Run)
    targets = without_files(targets_of(record, {}))
    measured = RunMeasurement(record, recorder(suites, targets=targets), suites.clock, lambda _: None).run()
    (said,) = [one.message for one in summaries(measured)[0].findings if one.code == "warming"]
    assert said.startswith("samples shrink by 67 % within a launch: ")
