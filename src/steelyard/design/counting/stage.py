"""The counting part of a weighing or run: each side twice, side by side, and more often where counts do not repeat."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Protocol

from steelyard.design.counting.functions import columns, differing_functions, slope
from steelyard.design.counting.notes import CountNotes
from steelyard.design.counting.plan import Place, by_place, judged, missing, planned
from steelyard.design.counting.targets import CountLaunches
from steelyard.design.counting.tool import begun
from steelyard.design.runner.targets import hooks, subject_of
from steelyard.design.timing.recorder import InterruptedByUser, Recorder, of_side
from steelyard.measure.count.counter import Counted, Counter, Launching
from steelyard.measure.count.pool import WorkerPool
from steelyard.measure.count.valgrind import Valgrind
from steelyard.measure.launch import Launcher
from steelyard.model.counting import INSTRUCTIONS, Count, CountSettings, Functions
from steelyard.model.errors import LaunchError, MeasurementError, SteelyardError
from steelyard.model.launches import LaunchSpec, Measured
from steelyard.model.metrics import timed
from steelyard.model.progress import Progress
from steelyard.model.records import Finding, Run, StopReason, Weighing
from steelyard.stats.counts import FIRST_COUNTS
from steelyard.subjects.command import shared_environment
from steelyard.subjects.programs import Programs


class CountSink(Protocol):
    """Where counts go as they come."""

    def count(self, count: Count, functions: Functions | None) -> None:
        """Keep one count."""

    def fail(self, benchmark: int, message: str) -> None:
        """Note that a benchmark failed, and the others go on."""


def is_complete(record: Weighing | Run) -> bool:
    """Whether all that is to be counted was."""
    return not missing(record)


class CountingStage:
    """Counts what a record asks for, `jobs` launches at once. Raises MeasurementError without a usable Valgrind."""

    def __init__(self, header: Weighing | Run, source: Mapping[str, str], jobs: int) -> None:
        settings = header.settings
        self._settings = settings.counting or CountSettings()
        valgrind = Valgrind.found(source.get("PATH"))
        self._begun = begun(header, self._settings, valgrind)
        self.header = header.model_copy(update={"counting": self._begun})
        """The record before anything more is counted."""
        self._source = source
        shared = shared_environment(settings, source)
        self._prepare = hooks("--prepare", settings.prepare, settings, shared)
        self._cleanup = hooks("--cleanup", settings.cleanup, settings, shared)
        # What has to run before each launch must not meet another launch's work.
        self._pool = WorkerPool(valgrind, self._settings, 1 if self._prepare else jobs)
        self._cancelled = False
        self._counts = list(self._begun.counts)
        self._by_place = by_place(self.header)
        self._functions = {(part.benchmark, part.side): part for part in self._begun.functions}
        self._programs = Programs()
        self._launches = CountLaunches(header, self._settings, source)
        self._failed: dict[int, LaunchError] = {}
        self._failed_places: list[Place] = []
        self._notes = CountNotes()

    def cancel(self) -> None:
        """Stop; for a signal handler."""
        self._cancelled = True
        self._pool.cancel()

    def run(
        self, launcher: Launcher, sink: CountSink, watch: Callable[[Progress], None]
    ) -> tuple[Weighing | Run, SteelyardError | None]:
        """Count; the record with all that was counted, and why it failed if it did. `watch` is told of every count."""
        started, self._sink, self._watch = time.monotonic(), sink, watch
        reason: StopReason = "decided"
        error: SteelyardError | None = None
        try:
            self._count_all()
            if not timed(self.header.settings.metrics):  # else there is more to come
                self._clean_up(launcher)
        except InterruptedByUser:
            reason = "interrupted"
        except SteelyardError as failure:
            reason, error = "failed", failure
        counted = self._counted()
        failures = [*self._failed.values(), *([error] if error else [])]
        found = [
            *(Finding(code="failed", message=str(failure)) for failure in failures),
            *self._notes.findings(counted),
        ]
        return counted.model_copy(
            update={
                "stop": ["failed" if before == "failed" else reason for before in counted.stop],
                "seconds": time.monotonic() - started,
                "findings": [*self.header.findings, *(one for one in found if one not in self.header.findings)],
            }
        ), error

    def _count_all(self) -> None:
        left = missing(self.header)
        with self._pool:
            while left:
                self._count(left)
                left = missing(self._counted())

    def _counted(self) -> Weighing | Run:
        functions = list(self._functions.values())
        counting = self._begun.model_copy(update={"counts": self._counts, "functions": functions})
        stop = ["failed" if number in self._failed else before for number, before in enumerate(self.header.stop)]
        return self.header.model_copy(update={"counting": counting, "stop": stop})

    # --- launches

    def _count(self, places: Sequence[Place]) -> None:
        tasks = [self._task(place) for place in places]
        done, failed = 0, len(self._failed_places)
        with closing(self._pool.count_all(tasks)) as counting:
            for number, counted in counting:
                self._keep(places[number], counted)
                done += 1
                name = self.header.benchmarks[places[number][0]].name
                limit = max(planned(self.header), len(self._counts) + len(places) - done)
                self._watch(Progress(name, len(self._counts), limit))
        if done + len(self._failed_places) - failed < len(tasks):
            raise InterruptedByUser

    def _task(self, place: Place) -> Callable[[Counter], Counted | None]:
        """What counts one place; nothing comes of it if it fails, and that ends only its benchmark, as in a harness."""

        def task(counter: Counter) -> Counted | None:
            try:
                return self._count_once(counter, place)
            except LaunchError as error:
                if self.header.settings.harness is None:
                    raise
                if self._failed.setdefault(place[0], error) is error:  # both its sides may, at the same time
                    self._sink.fail(place[0], str(error))
                self._failed_places.append(place)
                return None

        return task

    def _count_once(self, counter: Counter, place: Place) -> Counted:
        parts = []
        for spec in self._launches.specs(place):
            self._prepared(counter.launcher, place)
            part = counter.count(spec)
            if part.measured.cancelled:
                return part
            self._check(part.measured, place)
            self._refuse_nothing(part, place)
            parts.append(part)
        try:
            return parts[0] if len(parts) == 1 else slope(*parts)
        except LaunchError as error:
            raise LaunchError(f"{self._launches.name(place)}: {error}") from error

    def _prepared(self, launcher: Launching, place: Place) -> None:
        """What has to be done before each launch, and a look whether the target is still the same program."""
        if self._prepare:
            self._surround("--prepare", launcher, of_side(self._prepare, place[1]))
        elif self._cancelled:
            raise InterruptedByUser
        subject = subject_of(self.header, *place)
        self._programs.check(subject.program, subject.name)

    def _clean_up(self, launcher: Launcher) -> None:
        for spec in self._cleanup:
            self._surround("--cleanup", launcher, spec)

    def _surround(self, option: str, launcher: Launching, spec: LaunchSpec) -> None:
        if self._cancelled:
            raise InterruptedByUser
        Recorder.check_surrounding(option, launcher.launch(spec))

    def _check(self, measured: Measured, place: Place) -> None:
        if measured.timed_out:
            raise LaunchError(
                f"{self._launches.name(place)} did not end within {measured.wall_ns / 1e9:.3g} s and was killed: under "
                "valgrind a program takes 5 to 200 times as long as alone; raise --timeout, unless it waits for "
                "something"
            )
        complaint = self._launches.complaint(measured) if measured.has_failed() else None
        Recorder.check_ended(measured, self._launches.name(place), self.header.settings.ignore_failure, complaint)

    def _refuse_nothing(self, counted: Counted, place: Place) -> None:
        """No instruction at all is no count: nothing had the counting begin."""
        if counted.events[INSTRUCTIONS] > 0:
            return
        if self.header.settings.harness is not None:
            raise LaunchError(
                f"{self._launches.name(place)} was not counted: its harness makes no requests to Valgrind around its "
                "samples (docs/protocol.md, Counting), or this machine's kind of processor has none"
            )
        if self._settings.body:
            raise MeasurementError(
                f"{self._launches.name(place)} executed nothing between start and stop requests: does it use "
                "CALLGRIND_START_INSTRUMENTATION and reach it? Else leave --body out"
            )
        raise MeasurementError(
            f"nothing of {self._launches.name(place)} was counted: --after-start takes a program that the C library's "
            "loader starts (no static one, no other C library); leave it out"
        )

    # --- what comes of them

    def _keep(self, place: Place, counted: Counted) -> None:
        count = Count(
            benchmark=place[0],
            side=place[1],
            events=counted.events,
            processes=counted.processes if len(counted.processes) > 1 else [],
            forked=counted.forked,
            seconds=counted.seconds,
        )
        if self._settings.body:
            counted = replace(counted, replaced_by=None)  # what a wrapper did before the body is not counted anyway
        before = self._by_place.setdefault(place, [])
        # Those of the first count, and in their place those of the first one that is judged after it.
        is_first = len(before) in (0, FIRST_COUNTS)
        functions = columns(counted.functions, place) if is_first else None
        differing = None if is_first else self._differing(place, counted)
        late = len(before) >= FIRST_COUNTS
        self._sink.count(count, functions)  # on disk before it counts for anything
        self._notes.take(self.header.benchmarks[place[0]].name, count, counted, differing, late=late)
        if functions is not None:
            self._functions[place] = functions
        before.append(count)
        self._counts.append(count)

    def _differing(self, place: Place, counted: Counted) -> list[str] | None:
        """The functions in which a count differs most from the one whose functions are kept; None if it is equal."""
        if counted.events == judged(self._by_place[place])[0].events:
            return None
        functions = columns(counted.functions, place)
        return differing_functions(self._functions.get(place, functions), functions)
