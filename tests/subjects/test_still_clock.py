"""Harnesses that are timed by a still clock: when they are, and when their samples say so."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import pytest

from steelyard.measure.still import FILE_NAME
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.rows import Sample
from steelyard.subjects.adapters.divan import Divan
from steelyard.subjects.harness import Work, harness_named, harness_names

PLAIN = LaunchSpec(b"/bin/true", (b"true",), (b"A=1",))
TAKEN = (Sample(10, 1000), Sample(10, 1100, cpu_ns=900))
STILL = Work("a", 10, 2, still=True)


def variables(launch: LaunchSpec) -> dict[bytes, bytes]:
    return dict(entry.partition(b"=")[::2] for entry in launch.env)


def happened(launch: LaunchSpec, *, clocks: int = 1, several: int = 0, unknown: int = 0) -> None:
    """Write the account as the launch's processes would."""
    told = struct.pack("=8s7Q", b"STEELYC1", 1, clocks, 5_000_000, several, unknown, 0, 0)
    Path(variables(launch)[FILE_NAME].decode()).write_bytes(told)


def test_only_work_that_says_so_is_timed_by_it() -> None:
    harness, work = Divan(), Work("a", 10, 2)
    assert harness.with_still_clock(PLAIN, work) == PLAIN
    assert harness.without_waits(TAKEN, work) == TAKEN


def test_samples_of_a_clock_that_stood_still_have_no_delay() -> None:
    harness = Divan()
    launch = harness.with_still_clock(PLAIN, STILL)
    assert {b"A", b"LD_PRELOAD", FILE_NAME} == set(variables(launch))
    happened(launch)
    told = harness.without_waits(TAKEN, STILL)
    assert told == tuple(sample._replace(delay_ns=0) for sample in TAKEN)
    assert [sample.time_ns("active") for sample in told] == [100, 110]


@pytest.mark.parametrize("what", [{"clocks": 0}, {"several": 1}, {"unknown": 1}])
def test_samples_of_one_that_went_on_as_usual_do_not_tell(what: dict[str, int]) -> None:
    harness = Divan()
    happened(harness.with_still_clock(PLAIN, STILL), **what)
    assert harness.without_waits(TAKEN, STILL) == TAKEN


def test_each_launch_begins_an_account_of_its_own() -> None:
    harness = Divan()
    happened(harness.with_still_clock(PLAIN, STILL), several=1)
    happened_before = harness.without_waits(TAKEN, STILL)
    assert happened_before == TAKEN
    harness.with_still_clock(PLAIN, STILL)
    assert harness.without_waits(TAKEN, STILL) == TAKEN, "nothing has asked yet"


def test_one_with_a_timer_of_its_own_has_not_the_account_of_the_launch_before() -> None:
    harness = Divan()
    happened(harness.with_still_clock(PLAIN, STILL))
    harness.running(replace(PLAIN, argv=(b"bench", b"--timer=tsc")), STILL)
    assert harness.without_waits(TAKEN, STILL) == TAKEN


def test_those_are_driven_so_that_ask_the_c_library_in_one_thread() -> None:
    standing = {name for name in harness_names() if harness_named(name).stands_still}
    assert standing == {"catch2", "criterion", "divan", "google-benchmark", "nanobench", "pyperf"}


@pytest.mark.parametrize("name", ["catch2", "criterion", "divan", "google-benchmark", "nanobench", "pyperf"])
def test_their_launches_have_the_clock_that_the_work_says(name: str) -> None:
    harness = harness_named(name)
    for still in (False, True):
        launch = harness.running(PLAIN, Work("a", 10, 1, still=still))
        assert (FILE_NAME in variables(launch)) == still
