from __future__ import annotations

from steelyard.model.derived import Derived, SuiteMean
from steelyard.model.records import Weighing
from steelyard.model.settings import Settings
from steelyard.report import markdown, terminal
from steelyard.report.suite_mean import of_each_metric, of_unpaired
from tests.report.records import on_screen, verdict, weighing

NAMES = ("parse", "emit", "sort")
MEAN = SuiteMean(metric="active", change=0.0102, interval=(0.0070, 0.0132), benchmarks=3)
OF_CPU = MEAN.model_copy(update={"metric": "cpu", "change": -0.02, "interval": (-0.025, -0.015)})


def suite(*means: SuiteMean) -> Weighing:
    verdicts = [
        verdict(benchmark=name, index=index, metric=mean.metric) for index, name in enumerate(NAMES) for mean in means
    ]
    record = weighing(benchmarks=NAMES, settings=Settings.model_validate({"harness": "protocol"}))
    return record.model_copy(update={"derived": Derived(verdicts=verdicts, means=list(means))})


def test_it_says_of_how_many_it_is_and_how_sure() -> None:
    assert of_each_metric(suite(MEAN)) == [
        "geometric mean of 3 benchmarks: +1.02 % [+0.70 %, +1.32 %] at 99 % confidence"
    ]
    some = MEAN.model_copy(update={"benchmarks": 2, "left_out": 1})
    assert "of 2 benchmarks that have an interval: +1.02 %" in of_each_metric(suite(some))[0]


def test_each_of_several_metrics_is_named() -> None:
    told = of_each_metric(suite(MEAN, OF_CPU))
    assert [line.split(":")[0] for line in told] == ["active", "cpu"]
    assert "-2.00 % [-2.50 %, -1.50 %]" in told[1]


def test_of_what_was_measured_apart_it_says_how_sure_it_is() -> None:
    said = "geometric mean of 3 benchmarks: +1.02 % [+0.70 %, +1.32 %] if so"
    assert of_unpaired([MEAN], ["active"] * 3, "if so") == [said]
    told = of_unpaired([MEAN, OF_CPU], ["active", "cpu"] * 3, "if so")
    assert [line.split(":")[0] for line in told] == ["active", "cpu"]


def test_a_mean_of_one_of_several_metrics_is_named_though_the_others_have_none() -> None:
    assert of_unpaired([MEAN], ["active"] * 3 + ["max_rss"], "if so")[0].startswith("active: geometric mean of 3")


def test_terminal_and_markdown_have_it() -> None:
    record = suite(MEAN)
    assert record.derived is not None
    verdicts = record.derived.verdicts
    text = on_screen(lambda console: terminal.weighing(console, record, verdicts), 120)
    assert text.count("geometric mean of 3 benchmarks: +1.02 %") == 1
    assert "- geometric mean of 3 benchmarks&#58; +1.02 %" in markdown.weighing(record, verdicts)
