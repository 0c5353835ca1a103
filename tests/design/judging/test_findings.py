"""Findings beside a verdict, and when there are none."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.design.judging.controls import withhold
from steelyard.design.judging.findings import data_findings, medians_finding
from steelyard.design.judging.judgement import verdicts
from steelyard.model.counters import EVENTS, Counted, Counters
from steelyard.model.derived import Side
from steelyard.model.findings import VerdictName
from steelyard.model.metrics import METRICS, NOISY_METRIC
from steelyard.model.records import Weighing
from steelyard.model.rows import IN_TANDEM, Sample
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark
from tests.design.scripted import noisy, weigh
from tests.model.samples import WARM_UP, pairs, weighing


def said(record: Weighing, shown: str, asked: str | None = None) -> dict[str, tuple[str, str]]:
    """Return (message, remedy) of the findings about a metric, by code."""
    found = data_findings(record, 0, asked or shown, shown, None)
    return {one.code: (one.message, one.remedy or "") for one in found}


def of(settings: dict[str, Any], offers: dict[str, bool] | None = None, **launch: Any) -> Weighing:
    """Return a weighing on a machine with these offers, all of whose launches measured this."""
    record = weighing([row._replace(**launch) for row in pairs(3)], settings=Settings(**settings))
    return record.model_copy(update={"machine": record.machine.model_copy(update={"offers": offers or {}})})


@pytest.mark.parametrize("metric", METRICS)
def test_of_a_metric_that_is_noisy_by_itself_it_is_said(metric: str) -> None:
    if not METRICS[metric].counted:
        caution = METRICS[metric].caution
        assert said(of({"metrics": [metric]}), metric).get(NOISY_METRIC, (None,))[0] == caution


def test_a_machine_that_tells_no_waits_is_why_wall_was_judged() -> None:
    message, remedy = said(of({}, {"schedstat": False}), "wall", "active")["metric-fallback"]
    assert message.startswith("this machine does not tell how long a process waits")
    assert remedy == ""
    assert "metric-fallback" not in said(of({}, {"schedstat": False}), "wall")


@pytest.mark.parametrize(
    ("settings", "shown", "others_ns", "is_told"),
    [
        ({"cpu": 0}, "active", 5_000_000, True),
        ({"cpu": 0}, "active", 0, False),
        ({}, "active", 5_000_000, False),
        ({"cpu": 0}, "wall", 5_000_000, True),
        ({"cpu": 0, "metrics": ["wall"]}, "wall", 5_000_000, False),
        ({"cpu": 0}, "max_rss", 5_000_000, False),
        ({"cpu": 0, "harness": "protocol"}, "active", 5_000_000, False),
    ],
)
def test_threads_that_shared_one_processor_are_told(
    settings: dict[str, Any], shown: str, others_ns: int, is_told: bool
) -> None:
    record = of(settings, others_ns=others_ns)
    assert ("pinned-threads" in said(record, shown)) is is_told


@pytest.mark.parametrize(
    ("settings", "others_ns", "is_told"), [({}, 5_000_000, True), ({}, 0, False), ({"cpu": 0}, 5_000_000, True)]
)
def test_threads_that_had_no_other_processor_are_told_so(
    settings: dict[str, Any], others_ns: int, is_told: bool
) -> None:
    _, remedy = said(of(settings, {"several_processors": False}, others_ns=others_ns), "active").get(
        "pinned-threads", ("", "")
    )
    assert ("wider taskset or cpuset" in remedy) is is_told


def test_threads_of_some_launches_are_enough() -> None:
    rows = [row._replace(others_ns=5_000_000 * (row.pair == 1)) for row in pairs(3)]
    assert "pinned-threads" in said(weighing(rows, settings=Settings(cpu=0)), "active")


@pytest.mark.parametrize(("wait_s", "offers", "is_told"), [(1, False, True), (0, False, False), (1, True, False)])
def test_where_nothing_could_be_waited_for_it_is_said(wait_s: float, offers: bool, is_told: bool) -> None:
    assert ("no-pressure" in said(of({"wait_quiet_s": wait_s}, {"pressure": offers}), "active")) is is_told


@pytest.mark.parametrize(
    ("metric", "offers", "is_told"),
    [("cycles", False, True), ("cycles", True, False), ("task_clock", False, False), ("wall", False, False)],
)
def test_counters_that_leave_the_kernel_out_are_told(metric: str, offers: bool, is_told: bool) -> None:
    record = of({"metrics": [metric]}, {"kernel_counters": offers})
    assert ("outside-kernel" in said(record, metric)) is is_told


@pytest.mark.parametrize(("ran_ns", "told"), [(80, None), (40, "from 50 % or more"), (20, "from 25 % or more")])
def test_by_how_much_a_count_is_scaled_up_is_told_of_the_launch_with_the_least(ran_ns: int, told: str | None) -> None:
    rows = [row._replace(counters=counters((1000, 80, 80))) for row in pairs(3)]
    rows[2], rows[3] = (
        rows[2]._replace(counters=counters((1000, 80, ran_ns))),
        rows[3]._replace(counters=counters(None)),
    )
    found = said(weighing(rows, settings=Settings(metrics=["cycles"])), "cycles").get("counters-in-turns")
    assert found is None if told is None else found is not None and told in found[0]


def counters(cycles: Counted | None) -> Counters:
    return tuple(cycles if name == "cycles" else None for name in EVENTS)


def test_a_launch_is_called_short_by_those_that_are_judged_and_ran_alone() -> None:
    warm_up, alone, beside = ([row._replace(pair=pair) for row in pairs(1)] for pair in range(3))
    rows = [
        *(row._replace(role=WARM_UP, wall_ns=1_000_000) for row in warm_up),
        *(row._replace(wall_ns=4_400_000) for row in alone),
        *(row._replace(order=row.order + IN_TANDEM, wall_ns=20_000_000) for row in beside),
    ]
    assert said(weighing(rows), "active")["short-launch"][0].startswith("a launch takes 4.00 ms with the start of its")


@pytest.mark.parametrize(
    ("ms", "begins"),
    [((4.0, 4.2), "a launch takes 4.10 ms with"), ((1.5, 4.5), "a launch takes 1.50 to 4.50 ms with"), ((1, 7), None)],
)
def test_a_launch_that_takes_longer_on_one_side_is_short_where_it_is_on_both(
    ms: tuple[float, float], begins: str | None
) -> None:
    rows = [row._replace(wall_ns=round(ms[row.side] * 1e6), delay_ns=0) for row in pairs(4)]
    told = said(weighing(rows), "active").get("short-launch")
    assert told is None if begins is None else told is not None and told[0].startswith(begins)


def test_how_often_a_short_command_is_to_be_repeated_counts_how_often_it_is() -> None:
    for waited in (0, 5_000_000):
        record = of({"repeat": 4}, wall_ns=1_000_000 + waited, delay_ns=waited)
        assert "--repeat 100 would make a launch last 30 ms" in said(record, "active")["short-launch"][1]


def test_advice_to_repeat_a_command_is_not_given_again_where_it_was_followed() -> None:
    told = [said(of({"repeat": 60}, wall_ns=ms * 1_000_000, delay_ns=0), "active") for ms in (9, 24, 35)]
    assert ["--repeat" in findings["short-launch"][1] for findings in told] == [True, False, False]


def test_a_command_before_which_something_is_prepared_is_not_to_be_repeated_within_a_launch() -> None:
    told = [said(of({"prepare": way}, wall_ns=1_000_000, delay_ns=0), "active") for way in ([], ["rm -rf out"])]
    assert ["--repeat" in findings["short-launch"][1] for findings in told] == [True, False]


def test_repeating_a_short_command_makes_its_start_no_smaller_a_part() -> None:
    message, remedy = said(of({"repeat": 40}, wall_ns=40_000_000, delay_ns=0), "active")["short-launch"]
    assert message == "one process takes 1.00 ms with its start: too short to time the work inside"
    assert "--repeat" not in remedy
    assert "short-launch" not in said(of({"repeat": 4}, wall_ns=40_000_000, delay_ns=0), "active")


def test_a_verdict_that_is_withheld_is_no_change() -> None:
    slower, alarm = verdicts(weigh(noisy(0.05))[0])[0], verdicts(weigh(noisy(-0.03))[0])[0]
    found = withhold(slower, alarm, is_copied=False)
    assert (slower.verdict, slower.is_change) == ("slower", True)
    assert (found.verdict, found.is_change, found.change) == ("undecided", False, slower.change)
    assert found.findings[0].message.startswith("the control found the baseline faster than itself (")


@pytest.mark.parametrize("change", [0.01, -0.01])
def test_what_one_alone_would_be_sure_of_is_told_not_to_be_enough_among_many(change: float) -> None:
    found = verdicts(weigh(noisy(change), 8, pairs=14)[0])
    told = [one.verdict for one in found if "shared-alpha" in [finding.code for finding in one.findings]]
    assert {*told} == {"undecided"}


def test_what_went_on_after_its_budget_says_what_that_look_has_spent() -> None:
    record = weighing(benchmarks=[Benchmark(name="one", ended=17)])
    assert said(record, "active")["went-on"][0].startswith("it was carried on after 17 pairs")
    assert "went-on" not in said(weighing(), "active")


@pytest.mark.parametrize(
    ("shown", "verdict", "medians", "is_told"),
    [
        (0.01, "slower", (10.0, 9.0), True),
        (0.01, "slower", (9.0, 10.0), False),
        (0.01, "slower", (9.0, 9.0), False),
        (-0.01, "faster", (9.0, 10.0), True),
        (0.001, "same", (10.0, 9.0), False),
        (0.005, "undecided", (10.0, 9.0), True),
        (0.004, "undecided", (10.0, 9.0), False),
        (-0.005, "undecided", (9.0, 10.0), True),
    ],
)
def test_medians_that_point_the_other_way_than_a_change_are_told(
    shown: float, verdict: VerdictName, medians: tuple[float, float], is_told: bool
) -> None:
    baseline, candidate = (Side(median=median, spread=0.01, launches=9) for median in medians)
    found = medians_finding(shown, verdict, (baseline, candidate), 0.005)
    assert (found is not None and found.code == "medians-differ") is is_told


def test_a_sure_change_about_the_margin_has_evidence_enough_of_its_own() -> None:
    (verdict,) = verdicts(weigh(noisy(0.005, 0.005), pairs=40)[0])
    assert (verdict.verdict, verdict.is_change) == ("undecided", True)
    assert "shared-alpha" not in [finding.code for finding in verdict.findings]


@pytest.mark.parametrize("cpu_ns", [None, 900])
def test_a_harness_that_tells_no_waits_is_judged_by_its_time_on_a_processor_where_it_tells_that(
    cpu_ns: int | None,
) -> None:
    record = of({"harness": "protocol"}, samples=(Sample(1, 1000, cpu_ns, None),) * 4)
    message, remedy = said(record, "wall", "active")["metric-fallback"]
    assert message.startswith("the harness does not tell how long it waited")
    assert remedy.startswith("--metric cpu") is (cpu_ns is not None)
