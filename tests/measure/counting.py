"""Counts of single launches, however their targets end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from steelyard.measure.count.counter import Counted, Counter
from steelyard.model.counting import CountSettings
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured


@dataclass(frozen=True)
class Counting:
    """A launcher and a counter, without the rules of a runner."""

    launch: Callable[[LaunchSpec], Measured]
    counter: Counter

    def with_settings(self, settings: CountSettings) -> Counting:
        return replace(self, counter=replace(self.counter, settings=settings))

    def count(self, spec: LaunchSpec) -> Counted:
        with self.counter.attached(spec) as attachment:
            measured = attachment.without_instrument(self.launch(attachment.spec))
            if measured.cancelled or measured.timed_out:
                return Counted({}, [], [], 0, measured, 0.0)
            return attachment.read(measured)
