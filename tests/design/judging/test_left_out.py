"""What a metric leaves out, and so cannot show, or includes of what others did."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.design.judging.left_out import asleep_finding, left_out_finding
from steelyard.model.findings import Finding
from steelyard.model.records import Weighing
from steelyard.model.rows import IN_TANDEM
from steelyard.model.settings import Settings
from tests.model.samples import pairs, run, weighing

MIB = 1 << 20


@pytest.mark.parametrize(("baseline", "candidate", "is_told"), [(2, 9, True), (9, 3, True), (9, 4, False)])
def test_memory_that_may_be_the_server_s_is_told(baseline: int, candidate: int, is_told: bool) -> None:
    rows = [row._replace(max_rss_bytes=(baseline, candidate)[row.side] * MIB) for row in pairs(3)]
    found = left_out_finding(weighing(rows), 0, "max_rss")
    assert (found is not None and found.code == "little-memory") is is_told
    assert left_out_finding(weighing(rows), 0, "minor_faults") is None


def test_no_least_is_claimed_that_two_at_once_are_below() -> None:
    """A copy of the server starts them, which has less memory."""
    rows = [row._replace(order=row.order + IN_TANDEM, max_rss_bytes=MIB) for row in pairs(3)]
    found = left_out_finding(weighing(rows), 0, "max_rss")
    assert found is not None
    assert "that of the server that starts the launches, up to 4 MiB" in found.message


def test_of_one_measured_alone_as_well() -> None:
    rows = [row._replace(max_rss_bytes=2 * MIB) for row in pairs(3) if row.side == 0]
    found = left_out_finding(run(rows), 0, "max_rss")
    assert found is not None
    assert found.remedy is not None
    assert "minor_faults" in found.remedy


@pytest.mark.parametrize(
    ("metric", "others_ns", "is_told"),
    [("delay", 5_000_000, True), ("timeslices", 5_000_000, True), ("delay", 0, False), ("cpu", 5_000_000, False)],
)
def test_what_is_known_of_the_main_thread_alone_is_told(metric: str, others_ns: int, is_told: bool) -> None:
    rows = [row._replace(others_ns=others_ns if row.side else 0) for row in pairs(3)]
    found = left_out_finding(weighing(rows), 0, metric)
    assert (found is not None and found.code == "main-thread") is is_told
    assert found is None or (found.remedy is not None) is (metric == "timeslices")


MS = 1_000_000
CLIENT = {"wall_ns": 60 * MS, "delay_ns": 10 * MS, "cpu_ns": 5 * MS, "user_ns": 4 * MS, "sys_ns": MS, "others_ns": 0}


def of(settings: dict[str, Any] | None = None, **launch: Any) -> Weighing:
    """Return a weighing with these launches of the candidate; the baseline's work all the time."""
    working = {**CLIENT, "cpu_ns": 50 * MS}
    rows = [row._replace(**(CLIENT | launch if row.side else working)) for row in pairs(3)]
    return weighing(rows, settings=Settings(**settings or {}))


def said(record: Weighing, metric: str) -> Finding:
    found = asleep_finding(record, 0, metric)
    assert found is not None
    return found


def test_a_client_s_time_is_told_to_have_its_server_s_in_it() -> None:
    found = said(of(), "active")
    assert found.message.startswith("a launch of the candidate sleeps for 90 % of its time: ")
    assert "active includes what another program" in found.message


@pytest.mark.parametrize(("baseline_ms", "part"), [(5, "90 %"), (25, "50 % or more")])
def test_both_sides_are_named_where_both_sleep(baseline_ms: int, part: str) -> None:
    rows = [row._replace(**CLIENT | ({} if row.side else {"cpu_ns": baseline_ms * MS})) for row in pairs(3)]
    assert said(weighing(rows), "active").message.startswith(f"a launch of either side sleeps for {part} of its time: ")


def test_so_is_that_of_one_behind_a_shell() -> None:
    behind: dict[str, Any] = {"others_ns": 20 * MS, "lost_ns": 10 * MS, "pressure_ns": 40 * MS}
    assert said(of(**behind), "active").message.startswith("a launch of the candidate sleeps for 90 % of its time: ")


@pytest.mark.parametrize("metric", ["cpu", "user", "task_clock"])
def test_the_time_on_a_processor_is_told_to_have_nothing_of_it(metric: str) -> None:
    found = said(of({"metrics": [metric]}), metric)
    assert f"{metric} includes nothing of that, nor of what another program" in found.message
    assert found.remedy == "--metric wall judges that as well"
    assert said(of({"metrics": [metric, "wall"]}), metric).remedy is None


def test_one_measured_alone_is_no_side() -> None:
    record = run([row._replace(**CLIENT) for row in pairs(3) if row.side == 0])
    found = asleep_finding(record, 0, "active")
    assert found is not None
    assert found.message.startswith("a launch sleeps for 90 % of its time")


def test_of_brief_launches_the_one_that_was_held_up_does_not_speak_for_all() -> None:
    brief = {**CLIENT, "wall_ns": 3 * MS, "delay_ns": 0, "cpu_ns": 3 * MS}
    held_up = {**brief, "wall_ns": 9 * MS}
    rows = [row._replace(**(held_up if row.pair == 1 else brief)) for row in pairs(3)]
    assert asleep_finding(weighing(rows), 0, "active") is None


@pytest.mark.parametrize(
    ("settings", "launch", "metric"),
    [
        ({}, {}, "wall"),
        ({}, {}, "max_rss"),
        ({}, {"cpu_ns": 34 * MS}, "active"),
        ({}, {"delay_ns": 54 * MS}, "active"),
        ({}, {"wall_ns": 4 * MS, "delay_ns": 0, "cpu_ns": MS}, "active"),
        ({}, {"others_ns": 20 * MS}, "cpu"),  # how long its threads waited, and so slept, is not known
        ({}, {"others_ns": 20 * MS, "lost_ns": 10 * MS, "pressure_ns": 56 * MS}, "active"),  # may have waited unseen
        ({"harness": "protocol"}, {}, "active"),
    ],
)
def test_else_nothing_is_said(settings: dict[str, Any], launch: dict[str, Any], metric: str) -> None:
    assert asleep_finding(of(settings, **launch), 0, metric) is None
