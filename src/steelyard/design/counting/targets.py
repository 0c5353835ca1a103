"""What is launched for one count of a record's subject: a command, or one benchmark of a harness."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from steelyard.design.counting.plan import Place
from steelyard.design.runner.draws import draw_pair
from steelyard.design.runner.targets import called, subject_of, work_of
from steelyard.measure.count.pins import environment
from steelyard.model.counting import CountSettings
from steelyard.model.launches import LaunchSpec, Measured
from steelyard.model.records import Run, Weighing
from steelyard.subjects.command import PASSED_ON, launch_spec
from steelyard.subjects.harness import harness_named


@dataclass(frozen=True)
class CountLaunches:
    """The launches of a record that is counted; `source` is the environment that names are passed on from."""

    record: Weighing | Run
    settings: CountSettings
    source: Mapping[str, str]

    def specs(self, place: Place) -> list[LaunchSpec]:
        """The target; or with loops the target with so many and with twice them, whose difference is the count."""
        pinned = self._environment()
        env = tuple(os.fsencode(f"{name}={value}") for name, value in pinned.items())
        loops = self.settings.loops is not None or self.record.settings.harness is not None
        specs = [self._spec(place, times, pinned) for times in ((1, 2) if loops else (1,))]
        # One process, however many make a launch that is timed: counts need no length.
        return [replace(spec, env=env, repeat=1) for spec in specs]

    def name(self, place: Place) -> str:
        """What an error calls the target."""
        return called(self.record, place[0], subject_of(self.record, *place).name)

    def complaint(self, measured: Measured) -> str | None:
        """What a harness that failed says of it by itself."""
        harness = self.record.settings.harness
        return None if harness is None else harness_named(harness).complaint(measured)

    def _spec(self, place: Place, times: int, pinned: Mapping[str, str]) -> LaunchSpec:
        settings = self.record.settings
        spec = launch_spec(subject_of(self.record, *place, times=times), settings, pinned, draw_pair(0, 0, 0))
        if settings.harness is None:
            return spec
        work = work_of(self.record, place[0])
        return harness_named(settings.harness).running(spec, replace(work, loops=times * work.loops, samples=1))

    def _environment(self) -> dict[str, str]:
        settings = self.record.settings
        return environment(
            self.source,
            [name for name in settings.environment if name not in PASSED_ON],
            settings.variables,
            preload=True,
            start=self.settings.after_start,
        )
