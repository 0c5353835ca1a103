"""Harnesses that tell elapsed time alone, by the C library's clock: that stands still while they wait."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.measure.scratch import Scratch
from steelyard.measure.still import begin_account, under_still_clock, use_in
from steelyard.subjects.harness import Harness, Work

if TYPE_CHECKING:
    from steelyard.model.launches import LaunchSpec, Sample


class StillHarness(Harness):
    """One whose samples hold no waiting for a processor, where the work says so and its clock did stand still."""

    stands_still = True
    _latest_was_to = False
    """Whether the clock of the latest launch was to: by a timer of its own it may not, and then has no account."""

    def timed_by(self, launch: LaunchSpec, work: Work) -> LaunchSpec:
        """The launch with the clock that the work is to be timed by; raises MeasurementError where it cannot be."""
        self._latest_was_to = work.still
        if not work.still:
            return launch
        begin_account(self._account)
        return under_still_clock(launch, self._account)

    def told_by(self, samples: Iterable[Sample], work: Work) -> tuple[Sample, ...]:
        """The samples of such a launch: without waiting, if that was left out in all of it."""
        taken = tuple(samples)
        if not (work.still and self._latest_was_to):
            return taken
        use = use_in(self._account)
        stood_still = use is not None and use.clocks and not use.several and not use.unknown
        return tuple(one._replace(delay_ns=0) for one in taken) if stood_still else taken

    @cached_property
    def _account(self) -> Path:
        return self.scratch("clock") / "account"

    def scratch(self, what_for: str) -> Path:
        """A new folder that is there for as long as this is."""
        scratch = Scratch(what_for)
        weakref.finalize(self, scratch.remove)
        return scratch.path
