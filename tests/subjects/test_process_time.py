"""Samples whose time is the processor time of their process."""

from __future__ import annotations

from dataclasses import replace

import pytest

from steelyard.model.errors import LaunchError
from steelyard.model.rows import Sample
from steelyard.subjects.process_time import timed_by_process
from tests.design.scripted import PLAIN

TAKEN = (Sample(100, 1000), Sample(100, 3000))
START = replace(PLAIN, user_ns=400, sys_ns=100)


def test_what_the_start_does_not_take_is_theirs_and_what_elapsed_beyond_that_they_waited() -> None:
    whole = replace(PLAIN, user_ns=2000, sys_ns=460)
    told = timed_by_process(TAKEN, whole, START, 2)
    assert told == (Sample(100, 1000, 1000, 0), Sample(100, 3000, 1000, 2000))
    assert [sample.time_ns("active") for sample in told] == [10, 10]


def test_no_sample_takes_longer_than_what_elapsed() -> None:
    """As when other work than the measured iterations is on the processor, too."""
    whole = replace(PLAIN, user_ns=4420, sys_ns=0)
    assert [one.time_ns("active") for one in timed_by_process(TAKEN, whole, START, 2)] == [10, 20]


@pytest.mark.parametrize(("user_ns", "start_loops"), [(400, 2), (300, 2), (5000, 100)])
def test_without_iterations_there_is_no_time(user_ns: int, start_loops: int) -> None:
    with pytest.raises(LaunchError, match="took no more processor time for its samples than with"):
        timed_by_process(TAKEN, replace(PLAIN, user_ns=user_ns, sys_ns=100), START, start_loops)
