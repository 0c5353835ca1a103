from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from steelyard.model.measured import Measured
from steelyard.model.numbers import NUMBERS
from tests.model.samples import row

ROW = row(0, 0, lost_ns=13, written_blocks=14)
FIRST = Measured.of_row(ROW)
LATER = Measured.of_row(ROW._replace(side=1, start_ns=ROW.start_ns + 10**9))
# Numbers that are not summed over the processes of a launch.
APART = {"start_ns", "max_rss_bytes", "exit_code", "signal"}


def test_what_a_row_has_of_a_launch_are_its_numbers() -> None:
    assert {name: getattr(FIRST, name) for name in NUMBERS} == {name: getattr(ROW, name) for name in NUMBERS}
    assert (FIRST.timed_out, FIRST.cancelled, FIRST.stdout, FIRST.left_behind) == (False, False, None, ())


@pytest.mark.parametrize("name", [name for name in NUMBERS if name not in APART])
def test_times_and_counts_of_several_processes_add_up(name: str) -> None:
    changed: dict[str, Any] = {name: 7}
    both = FIRST.followed_by(replace(LATER, **changed))
    assert getattr(both, name) == getattr(FIRST, name) + 7


def test_what_one_process_does_not_tell_both_do_not() -> None:
    unknown = replace(LATER, delay_ns=None)
    assert FIRST.followed_by(unknown).delay_ns is unknown.followed_by(FIRST).delay_ns is None


def test_two_processes_begin_with_the_first_and_need_the_memory_of_the_larger() -> None:
    for memory in ((7, 5), (5, 7)):
        first, later = (replace(one, max_rss_bytes=size) for one, size in zip((FIRST, LATER), memory, strict=True))
        both = first.followed_by(later)
        assert (both.start_ns, both.max_rss_bytes) == (FIRST.start_ns, 7)


def test_a_failure_is_that_of_either_process() -> None:
    failed = replace(LATER, exit_code=None, signal=9, stderr=b"sorry")
    for both in (FIRST.followed_by(failed), failed.followed_by(FIRST)):
        assert (both.exit_code, both.signal, both.stderr, both.has_failed()) == (None, 9, b"sorry", True)


def test_what_either_left_behind_was_left_behind() -> None:
    both = replace(FIRST, left_behind=("1 a",)).followed_by(replace(LATER, left_behind=("2 b",)))
    assert both.left_behind == ("1 a", "2 b")


@pytest.mark.parametrize("how", [{"exit_code": 1}, {"signal": 9}, {"timed_out": True}, {"cancelled": True}], ids=str)
def test_only_status_0_by_itself_is_no_failure(how: dict[str, Any]) -> None:
    assert not FIRST.has_failed()
    assert replace(FIRST, **how).has_failed()
