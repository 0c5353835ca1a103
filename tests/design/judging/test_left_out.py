"""What a metric leaves out, and so cannot show."""

from __future__ import annotations

import pytest

from steelyard.design.judging.left_out import left_out_finding
from steelyard.model.rows import IN_TANDEM
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
