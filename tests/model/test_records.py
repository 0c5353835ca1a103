from __future__ import annotations

import pytest
from pydantic import ValidationError

from steelyard.model.launches import Launches
from steelyard.model.metrics import METRICS
from steelyard.model.settings import Settings, Shard
from steelyard.model.subject import Benchmark
from tests.model.samples import weighing

NOT_FINITE = [float("nan"), float("inf"), -float("inf")]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("margin", value) for value in (0, 1, -0.1, *NOT_FINITE)],
        *[("alpha", value) for value in (0, 0.5, 1e-10, *NOT_FINITE)],
        *[("max_time_s", value) for value in (0, -1, *NOT_FINITE)],
        *[("timeout_s", value) for value in (0, -1, *NOT_FINITE)],
        ("pairs", 0),
        ("warm_up", -1),
        ("seed", -1),
        ("cpu", -1),
        ("metrics", []),
        ("metrics", ["wall", "speed"]),
        ("colour", "red"),
    ],
)
def test_a_setting_out_of_range_is_refused(name: str, value: object) -> None:
    with pytest.raises(ValidationError, match=name if name != "metrics" or not value else "speed"):
        Settings.model_validate({name: value})


@pytest.mark.parametrize(("number", "of"), [(3, 2), (1, 3), (1, 10**9)])
def test_a_suite_has_no_more_parts_than_benchmarks(number: int, of: int) -> None:
    with pytest.raises(ValidationError, match=r"a suite of 2 (benchmarks|parts) has no"):
        Shard(number=number, of=of, suite=["a", "b"])


def test_no_budget_ended_after_more_pairs_than_a_record_has() -> None:
    with pytest.raises(ValidationError, match="ended"):
        Benchmark(name="a", ended=2**40)


def test_every_metric_may_be_set() -> None:
    assert Settings(metrics=list(METRICS)).metrics == list(METRICS)


def test_records_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        weighing().seconds = 2.0


@pytest.mark.parametrize("seconds", [-1.0, *NOT_FINITE])
def test_the_time_it_took_is_a_number(seconds: float) -> None:
    with pytest.raises(ValidationError, match="seconds"):
        weighing(seconds=seconds)


def test_launches_are_needed() -> None:
    with pytest.raises(ValidationError, match="launches"):
        weighing(launches=None)
    assert weighing(launches=Launches()).launches == Launches()


def test_a_benchmark_s_candidate_is_one_of_the_subjects() -> None:
    weighing(benchmarks=[Benchmark(name="one", candidate=1)])
    with pytest.raises(ValidationError, match="candidate"):
        weighing(benchmarks=[Benchmark(name="one", candidate=2)])
