"""Launches that sleep while another program, or nobody, works for them."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.design.judging.asleep import asleep_finding
from steelyard.model.findings import Finding
from steelyard.model.records import Weighing
from steelyard.model.settings import Settings
from tests.model.samples import pairs, run, weighing

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
