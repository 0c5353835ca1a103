from __future__ import annotations

import pytest

from steelyard.model.derived import Verdict
from steelyard.model.kept import CONTROL_ALARM, Finding
from steelyard.model.records import Weighing
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark
from steelyard.report import markdown, terminal
from steelyard.report.suite_mean import of_each_metric, suite_mean
from tests.report.records import TOO_FEW, on_screen, verdict, weighing

NAMES = ("parse", "emit", "sort")


def suite(*, harness: str | None = "protocol", starts: str | None = None) -> Weighing:
    settings = Settings.model_validate({"harness": harness, "starts": starts})
    return weighing(benchmarks=NAMES, settings=settings)


def verdicts(**changes: object) -> list[Verdict]:
    return [verdict(benchmark=name, index=index, **changes) for index, name in enumerate(NAMES)]


def test_the_mean_of_all_is_surer_than_each_of_them() -> None:
    # (+0.61 %, +1.40 %) of +1.02 % is (-0.41, +0.38): of three 1 / sqrt(3) and a fifth of that.
    said = "geometric mean of 3 benchmarks: +1.02 % [+0.70 %, +1.32 %] at 99 % confidence"
    assert suite_mean(suite(), verdicts()) == said


def test_out_of_shared_starts_it_is_as_sure_as_each() -> None:
    assert "+1.02 % [+0.61 %, +1.40 %]" in suite_mean(suite(starts="shared"), verdicts())


def test_benchmarks_without_an_interval_are_not_among_them() -> None:
    first, second, _ = verdicts()
    open_one = TOO_FEW.model_copy(update={"index": 2})
    assert "of 2 benchmarks that have an interval: +1.02 %" in suite_mean(suite(), [first, second, open_one])
    assert suite_mean(suite(), [first, open_one]) == ""


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
    assert suite_mean(record, verdicts(**changes)) == ""


def test_there_is_none_of_several_candidates() -> None:
    benchmarks = [Benchmark(name=name, candidate=1 + place % 2) for place, name in enumerate(NAMES)]
    assert suite_mean(suite().model_copy(update={"benchmarks": benchmarks}), verdicts()) == ""


def test_each_metric_has_its_own() -> None:
    said = of_each_metric(suite(), [*verdicts(), *verdicts(metric="cpu", change=-0.02, interval=(-0.03, -0.01))])
    assert [line.split(":")[0] for line in said] == ["active", "cpu"]
    assert "-2.00 % [-2.7" in said[1]


def test_terminal_and_markdown_have_it() -> None:
    text = on_screen(lambda console: terminal.weighing(console, suite(), verdicts()), 120)
    assert text.count("geometric mean of 3 benchmarks: +1.02 %") == 1
    assert "- geometric mean of 3 benchmarks&#58; +1.02 %" in markdown.weighing(suite(), verdicts())
