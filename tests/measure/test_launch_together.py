"""Two launches at the same time, against the real server."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from steelyard.measure.launch import LEAD_NS, Launcher
from steelyard.model.errors import MeasurementError, UsageError
from tests.measure.launching import BUSY, SLEEPER, alarm, program, sh


def test_both_run_meanwhile_and_each_has_its_own_numbers(launcher: Launcher) -> None:
    one, other = launcher.launch_together(
        sh(BUSY + b"; echo one", stdout=10), sh(BUSY + b"; echo other; exit 3", stdout=10), second_begins=False
    )
    assert (one.stdout, one.exit_code, other.stdout, other.exit_code) == (b"one\n", 0, b"other\n", 3)
    assert other.start_ns - one.start_ns > 0.9 * LEAD_NS
    for each in (one, other):
        assert each.cpu_ns is not None
        assert each.delay_ns is not None
        assert each.delay_ns > each.cpu_ns / 4  # it waits for the other one, and at times for other processes


def test_what_children_wait_beside_the_partner_is_lost_to_the_whole(launcher: Launcher) -> None:
    both = [sh(b"(%s); (%s); true" % (BUSY, BUSY))] * 2
    # The kernel drops its reports of ended processes while other programs start many; then nothing is told: try again.
    tries = (launcher.launch_together(*both, second_begins=False, followed=True) for _ in range(5))
    told = next((pair for pair in tries if pair[0].lost_ns is not None and pair[1].lost_ns is not None), ())
    assert bool(told) == launcher.offers["switches"]
    for each in told:
        ran_ns = each.user_ns + each.sys_ns
        assert each.lost_ns is not None
        assert each.lost_ns > 0.5 * ran_ns
        assert 0.9 * ran_ns < each.wall_ns - each.lost_ns < 1.1 * ran_ns + 10e6
    short = [sh(b"(true); true")] * 2
    assert [each.lost_ns for each in launcher.launch_together(*short, second_begins=False)] == [None, None]


def test_of_two_in_step_neither_leads(launcher: Launcher) -> None:
    specs = [replace(sh(b"true"), lockstep=True, results=1000)] * 2
    one, other = launcher.launch_together(specs[0], specs[1], second_begins=True)
    assert one.start_ns == other.start_ns


def test_one_that_ends_before_its_lead_is_over_has_its_own_time(launcher: Launcher) -> None:
    begun = time.monotonic()
    both = launcher.launch_together(sh(b"true"), sh(b"true"), second_begins=True, lead_ns=10**10)
    assert time.monotonic() - begun < 5
    assert all(one.wall_ns < 10**9 for one in both)


def test_each_has_the_time_of_both(launcher: Launcher) -> None:
    both = [replace(sh(b"sleep 0.3"), timeout_ns=200_000_000)] * 2
    assert [one.timed_out for one in launcher.launch_together(*both, second_begins=True)] == [False, False]
    both = [replace(SLEEPER, timeout_ns=100_000_000)] * 2
    assert [one.timed_out for one in launcher.launch_together(*both, second_begins=True)] == [True, True]


def test_a_cancel_in_a_signal_handler_ends_both(launcher: Launcher) -> None:
    begun = time.monotonic()
    with alarm(0.1, launcher.cancel):
        both = launcher.launch_together(SLEEPER, SLEEPER, second_begins=False)
    assert [one.cancelled for one in both] == [True, True]
    assert time.monotonic() - begun < 60
    assert not launcher.launch(sh(b"exit 0")).cancelled


def test_what_cannot_be_launched_is_an_error_of_the_pair(launcher: Launcher) -> None:
    with pytest.raises(MeasurementError, match="/no/such/program"):
        launcher.launch_together(SLEEPER, program(b"/no/such/program"), second_begins=False)
    with pytest.raises(UsageError, match="cwd"):
        launcher.launch_together(replace(SLEEPER, cwd=b"/no/such/folder"), SLEEPER, second_begins=True)
    assert launcher.launch(sh(b"exit 0")).exit_code == 0
