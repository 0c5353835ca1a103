from __future__ import annotations

import pytest

from steelyard.design.judging.suite_means import suite_means
from steelyard.model.derived import Verdict
from steelyard.model.findings import CONTROL_ALARM, Finding
from steelyard.model.records import Weighing
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark
from tests.report.records import TOO_FEW, verdict, weighing

NAMES = ("parse", "emit", "sort")


def suite(*, harness: str | None = "protocol", starts: str | None = None) -> Weighing:
    settings = Settings.model_validate({"harness": harness, "starts": starts})
    return weighing(benchmarks=NAMES, settings=settings)


def verdicts(**changes: object) -> list[Verdict]:
    return [verdict(benchmark=name, index=index, **changes) for index, name in enumerate(NAMES)]


def test_the_mean_of_all_is_surer_than_each_of_them() -> None:
    [mean] = suite_means(suite(), verdicts())
    # (+0.61 %, +1.40 %) around +1.02 % is (-0.41, +0.38); the mean of three has 1 / sqrt(3) + 1 / 5 of that.
    assert (mean.metric, mean.benchmarks, mean.left_out) == ("active", 3, 0)
    assert mean.change == pytest.approx(0.0102)
    assert mean.interval == pytest.approx((0.0070, 0.0132), abs=5e-5)


def test_out_of_shared_starts_it_is_as_sure_as_each() -> None:
    [mean] = suite_means(suite(starts="shared"), verdicts())
    assert mean.interval == pytest.approx((0.0061, 0.0140))


def test_benchmarks_without_an_interval_are_not_among_them() -> None:
    first, second, _ = verdicts()
    open_one = TOO_FEW.model_copy(update={"index": 2})
    [mean] = suite_means(suite(), [first, second, open_one])
    assert (mean.benchmarks, mean.left_out) == (2, 1)
    assert suite_means(suite(), [first, open_one]) == []


@pytest.mark.parametrize(
    ("record", "changes"),
    [
        (suite(harness=None), {}),
        (suite(), {"metric": "instructions"}),
        (suite(), {"control": True}),
        (suite(), {"findings": [Finding(code=CONTROL_ALARM, message="differs from itself")]}),
    ],
)
def test_there_is_none_of_what_is_no_suite_that_was_measured(record: Weighing, changes: dict[str, object]) -> None:
    assert suite_means(record, verdicts(**changes)) == []


def test_there_is_none_of_several_candidates() -> None:
    benchmarks = [Benchmark(name=name, candidate=1 + place % 2) for place, name in enumerate(NAMES)]
    assert suite_means(suite().model_copy(update={"benchmarks": benchmarks}), verdicts()) == []


def test_each_metric_has_its_own() -> None:
    found = suite_means(suite(), [*verdicts(), *verdicts(metric="cpu", change=-0.02, interval=(-0.03, -0.01))])
    assert [mean.metric for mean in found] == ["active", "cpu"]
    assert [mean.change for mean in found] == pytest.approx([0.0102, -0.02])
