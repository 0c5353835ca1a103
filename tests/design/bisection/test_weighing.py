from __future__ import annotations

import pytest

from steelyard.design.bisection.weighing import _to_weighed, choice
from steelyard.design.outcome import judge_outcome
from steelyard.model.bisection import Commit
from steelyard.model.errors import LaunchError, UsageError
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark
from tests.report.records import verdict, weighing


def test_of_several_benchmarks_that_is_advised_which_changed_most() -> None:
    suite = [
        verdict(benchmark="same", verdict="same", change=0.001),
        verdict(benchmark="slow", verdict="slower", change=0.05),
        verdict(benchmark="slow too", verdict="slower", change=0.16),
        verdict(benchmark="fast", verdict="faster", change=-0.2),
        verdict(benchmark="open", verdict="undecided", change=0.3),
    ]
    assert choice(suite, "slower") == "--benchmark 'slow too', which is slower by most: +16.0 %"
    assert choice(suite, "faster") == "--benchmark fast, which is faster by most: -20.0 %"
    assert choice(suite[:1], "slower") == "--benchmark same"


def test_of_several_benchmarks_one_is_to_be_chosen_where_another_one_failed_too() -> None:
    commits = [Commit(hash=name, parents=[], tree=name, author="", date="", subject="") for name in "xy"]
    benchmarks = [Benchmark(name="a"), Benchmark(name="b")]
    record = weighing(0.05, settings=Settings(harness="protocol")).model_copy(
        update={"benchmarks": benchmarks, "stop": ["decided", "failed"]}
    )
    with pytest.raises(UsageError, match="here are several: choose with --benchmark a, which is slower by most"):
        _to_weighed(judge_outcome(record, LaunchError("1 of 2 benchmarks failed")), commits, "slower")
