"""What one launch consists of, for one benchmark and for several."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from steelyard.design.runner.target import SHARED_REMEDY, Shared, Target, shared_target
from steelyard.model.launch_spec import LaunchSpec
from steelyard.subjects.harness import Harness, Starting, Work

SPEC = LaunchSpec(b"/work", (b"work",), (), timeout_ns=9, mapping_pages=5)
START = replace(SPEC, argv=(b"start",))
TARGET = Target("work", SPEC, start=Starting(START, 1, START))


class Asked:
    """A harness that notes what one launch is asked to run."""

    def running_each(self, launch: LaunchSpec, works: Sequence[Work]) -> LaunchSpec:
        self.works = [*works]
        return replace(launch, results=7)


def shared(*turns: int, cpus: tuple[int, ...] | None = None) -> tuple[Shared, Asked]:
    harness = Asked()
    each = [Target(name, SPEC, harness=cast("Harness", harness), work=Work(name, 1, 3)) for name in "ab"]
    return shared_target(each, replace(SPEC, cpus=cpus), "suite", turns), harness


def test_what_holds_for_a_launch_holds_for_its_start() -> None:
    assert TARGET.within(None) == TARGET
    limited, elsewhere = TARGET.within(1.5), TARGET.at_own_addresses()
    assert limited.start is not None
    each = limited.spec, limited.start.spec, limited.start.first
    assert [one.timeout_ns for one in each] == [1_500_000_000] * 3
    assert elsewhere.start is not None
    each = elsewhere.spec, elsewhere.start.spec, elsewhere.start.first
    assert [one.mapping_pages for one in each] == [None] * 3


def test_one_launch_of_several_is_one_of_all_of_them() -> None:
    launch, harness = shared()
    assert [work.orders for work in harness.works] == ["", ""]
    assert (launch.whole.name, launch.whole.work, launch.whole.spec.results) == ("suite (2 benchmarks)", None, 7)
    assert launch.whole.spec.cpus is None
    assert {one.remedy for one in launch.each} == {SHARED_REMEDY}


def test_it_has_the_time_of_all_together_if_each_has_a_limit() -> None:
    launch, _ = shared()
    assert launch.whole.spec.timeout_ns == 9 + 9
    assert launch.within(2).whole.spec.timeout_ns == 4_000_000_000
    assert replace(launch, has_one_limit=True).within(2).whole.spec.timeout_ns == 2_000_000_000
    endless = replace(launch.each[0], spec=replace(SPEC, timeout_ns=None))
    assert replace(launch, each=[endless, launch.each[1]]).within(None).whole.spec.timeout_ns is None


def test_in_turn_each_goes_first_or_follows_in_all_of_its_samples_on_any_processor() -> None:
    launch, harness = shared(0, 1)
    assert [work.orders for work in harness.works] == ["000", "111"]
    assert launch.whole.spec.cpus == tuple(sorted(os.sched_getaffinity(0)))
    assert shared(0, 1, cpus=(3,))[0].whole.spec.cpus == (3,)
