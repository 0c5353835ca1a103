"""Harnesses that tell only elapsed time, by the C library's clock, which can stand still while they wait."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.measure.scratch import Scratch
from steelyard.measure.still import begin_account, preload_still_clock, use_in
from steelyard.subjects.harness import Harness, Work

if TYPE_CHECKING:
    from steelyard.model.launch_spec import LaunchSpec
    from steelyard.model.rows import Sample


class StillHarness(Harness):
    """One whose samples contain no waiting for a processor, if the work asks for that and the clock did stand still."""

    stands_still = True
    _latest_had_still_clock = False
    """Whether the latest launch was given such a clock: one with a timer of its own is not, and has no account."""

    def with_still_clock(self, launch: LaunchSpec, work: Work) -> LaunchSpec:
        """Return the launch with the clock that the work asks for; raises MeasurementError where that cannot be."""
        self._latest_had_still_clock = work.still
        if not work.still:
            return launch
        begin_account(self._account)
        return preload_still_clock(launch, self._account)

    def without_waits(self, samples: Iterable[Sample], work: Work) -> tuple[Sample, ...]:
        """Return the samples of such a launch, with a wait of 0 if the clock left out all waiting."""
        all_samples = tuple(samples)
        if not (work.still and self._latest_had_still_clock):
            return all_samples
        use = use_in(self._account)
        stood_still = use is not None and use.clocks and not use.several and not use.unknown
        return tuple(sample._replace(delay_ns=0) for sample in all_samples) if stood_still else all_samples

    @cached_property
    def _account(self) -> Path:
        return self.scratch("clock") / "account"

    def scratch(self, what_for: str) -> Path:
        """Return a new folder that exists for as long as this object does."""
        scratch = Scratch(what_for)
        weakref.finalize(self, scratch.remove)
        return scratch.path
