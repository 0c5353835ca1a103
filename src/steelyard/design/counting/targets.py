"""What is launched for one count of a record's subject: a command, or one benchmark of a harness."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from steelyard.design.counting.plan import CountedSide
from steelyard.design.runner.draws import draw_pair
from steelyard.design.runner.target import COMMAND_REMEDY, HARNESS_REMEDY, Target
from steelyard.design.runner.targets import details_of, parameters_of, shown_name, subject_of, work_of
from steelyard.measure.count.pins import environment
from steelyard.measure.native import PRELOAD
from steelyard.measure.preloading import is_foreign
from steelyard.model.counting import CountSettings
from steelyard.model.records import Run, Weighing
from steelyard.model.settings import Settings
from steelyard.model.subject import Subject
from steelyard.subjects.command import PASSED_ON, given_variables, launch_spec
from steelyard.subjects.harness import Harness, harness_named


def program_of(subject: Subject, settings: Settings) -> Path:
    """Return the file that a launch of a subject executes."""
    return Path(subject.directory or settings.directory, subject.program)


@dataclass(frozen=True)
class CountTargets:
    """The launches of a record that is counted; `source` is the environment that variables are passed on from."""

    record: Weighing | Run
    settings: CountSettings
    source: Mapping[str, str]

    def of(self, side: CountedSide) -> list[Target]:
        """Return the target; with loops, the target with these and with twice as many: the difference is the count."""
        loops = self.settings.loops is not None or self.record.settings.harness is not None
        return [self._target(side, times) for times in ((1, 2) if loops else (1,))]

    def _target(self, side: CountedSide, times: int) -> Target:
        record, settings = self.record, self.record.settings
        subject = subject_of(record, *side, times=times)
        pinned = self._environment(preload=not is_foreign(program_of(subject, settings), PRELOAD))
        # No limit unless one was asked for: nobody knows how much longer a program takes under Valgrind.
        spec = launch_spec(subject, settings, pinned, draw_pair(0, 0, 0))
        harness: Harness | None = None
        if settings.harness is not None:
            harness = harness_named(settings.harness)
            work = work_of(record, side[0])
            spec = harness.running(spec, replace(work, loops=times * work.loops, samples=1, still=False))
        env = tuple(os.fsencode(f"{name}={value}") for name, value in pinned.items())
        return Target(
            shown_name(subject.name, details_of(record)[side[0]]),
            # One process, however many a timed launch has: counts need no length.
            replace(spec, env=env, repeat=1),
            record.benchmarks[side[0]].subject_of(side[1]),
            subject.program,
            harness,  # without its work: under Valgrind nobody reads the times of its samples
            ignore_failure=settings.ignore_failure,
            remedy=COMMAND_REMEDY if harness is None else HARNESS_REMEDY,
            params=parameters_of(record, side[0], times),
        )

    def _environment(self, *, preload: bool) -> dict[str, str]:
        settings = self.record.settings
        return environment(
            self.source,
            [name for name in settings.environment if name not in PASSED_ON],
            given_variables(settings, self.source),
            preload=preload,
            start=self.settings.after_start,
        )
