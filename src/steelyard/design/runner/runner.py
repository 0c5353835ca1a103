"""The one place that starts launches: prepare, look at the program, launch, judge how it ended, read, keep."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Generic, Protocol, TypeVar

from steelyard.design.runner.failure import Interrupted, check_ended, check_hook_ended, with_prepare_hint
from steelyard.design.runner.survivors import survivor_findings
from steelyard.design.runner.target import Hooks, Shared, Target
from steelyard.measure.instrument import Instrument, Timer, Value
from steelyard.measure.scratch import end_of, room_for, scratch_folder
from steelyard.model.errors import LaunchError, MeasurementError, SteelyardError
from steelyard.model.findings import Finding
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.progress import Progress, Watch
from steelyard.model.rows import Frame, Place, Sample
from steelyard.subjects.command import command_line
from steelyard.subjects.harness import Harness, Listed, Starting
from steelyard.subjects.programs import Programs

Kept = TypeVar("Kept")
_Together = Callable[[LaunchSpec, LaunchSpec], tuple[Measured, Measured]]

TIMER = Timer()
# How much of what a set-up command prints on stderr is kept, for the sentence that says why it failed.
_MOST_STDERR_BYTES = 4096
# The watch is told of a command around launches that runs for this long.
_LONG_COMMAND_S = 2.0


LaunchSeries = Callable[[Sequence[Place], Sequence[LaunchSpec], LaunchSpec | None], Sequence[Measured | SteelyardError]]
"""Runs the launches at some places of the plan, one after the other, and keeps all that it returns but the last, each
before the next begins. If another launch is given, the first one runs right behind it, and nothing of it is kept. It
may return fewer than asked for, and then began no more."""


class LaunchServer(Protocol):
    """The native launch server, or a scripted one in tests."""

    version: str
    server_pid: int
    """The PID of its process, from which all launches descend and in whose control group they begin."""
    offers: dict[str, bool]
    """What it can read on this machine."""
    missing_counters: Mapping[str, int]
    """The events that cannot be counted here, with the system's error numbers."""
    waiting: Callable[[float], None] | None
    """Is called as the `waiting` of `launch` is, for every request."""

    def launch(self, spec: LaunchSpec, waiting: Callable[[float], None] | None = None) -> Measured:
        """Run one launch to its end; if it lasts, `waiting` is told now and then for how long, in seconds.

        Raises SteelyardError if it cannot be set up or executed.
        """

    def launch_together(
        self, first: LaunchSpec, second: LaunchSpec, *, second_begins: bool, followed: bool = False
    ) -> tuple[Measured, Measured]:
        """Run two at the same time on one processor; if `followed`, tell what their threads and processes lost.

        Raises as `launch`.
        """

    def cancel(self) -> None:
        """Kill the launch in flight, or the next one if none is; for a signal handler."""

    def forget_cancel(self) -> None:
        """Run whatever is launched from here on: no earlier cancel was meant for it."""

    def keep_rows_in(self, journal: int) -> None:
        """Hand over the descriptor of the journal, for the rows of `launch_series`."""

    def launch_series(
        self, specs: Sequence[LaunchSpec], frames: Sequence[Frame | None]
    ) -> Sequence[Measured | SteelyardError]:
        """Run launches in order, and keep the rows of all but the last; return fewer where one did not end well.

        A launch without a frame is neither kept nor returned.
        """


@dataclass(frozen=True, slots=True)
class Reading(Generic[Value]):
    """The result of a launch that ended well."""

    measured: Measured
    samples: tuple[Sample, ...]
    """The samples of a harness; none for a command."""
    value: Value
    """What the instrument saw."""


@dataclass
class Runner:
    """Launches targets, one after the other, on one launch server."""

    launcher: LaunchServer
    interrupted: Callable[[], bool] = lambda: False
    hooks: Hooks = field(default_factory=Hooks)
    programs: Programs = field(default_factory=Programs)
    left_behind: list[str] = field(default_factory=list)
    """The processes ("PID name" each) that outlived their launch, killed unless they ended by themselves."""
    not_killed: list[str] = field(default_factory=list)
    """Those left by launches, or by the commands around them, that could not be killed and go on."""
    left_by_hooks: list[str] = field(default_factory=list)
    """As `left_behind`, but left by the commands around launches."""
    set_up_stderr: list[tuple[str, bytes]] = field(default_factory=list)
    """For each set-up command that ended well, its command line and the end of its standard error."""
    launches: int = 0
    """How many launches were started, without the commands around them."""
    has_begun: bool = False
    """Whether anything was started, be it a launch or a command around launches."""
    ended_well: set[str] = field(default_factory=set)
    """The names of the targets of which a launch has ended well."""
    watch: Watch = lambda _: None
    """Is told of a command around launches that lasts."""

    def launch(self, target: Target, instrument: Instrument[Value], keep: Callable[[Reading[Value]], Kept]) -> Kept:
        """Run one launch under an instrument; `keep` puts its reading on disk before anything else is done.

        Raises LaunchError if the target failed, Interrupted if the user asked to stop before it or while it ran, and
        SteelyardError for whatever else keeps it from being measured.
        """
        left_before, launched_before = len(self.left_by_hooks), self.launches
        self._prepare(target)
        left = self.left_by_hooks[left_before:]
        self.check_program(target)
        try:
            kept = self._run_target(target, instrument, keep)
        except LaunchError as error:
            with suppress(MeasurementError):  # why the target failed says more
                self._conclude(target)
            if left:
                raise with_prepare_hint(left, error) from None
            raise
        except Interrupted:
            if self.launches > launched_before:
                with suppress(MeasurementError, Interrupted):
                    self._conclude(target)
            raise
        self._conclude(target)
        return kept

    def _run_target(
        self, target: Target, instrument: Instrument[Value], keep: Callable[[Reading[Value]], Kept]
    ) -> Kept:
        started = None if target.start is None else self._run_start(target, target.start, instrument)
        with instrument.attached(target.spec) as attachment:
            measured = attachment.without_instrument(self.run(attachment.spec))
            self._check_ended(measured, target, instrument.when_late)
            reading = Reading(measured, target.samples(measured, started), attachment.read(measured))
        return self._keep(reading, keep)

    def _run_start(self, target: Target, start: Starting, instrument: Instrument[Value]) -> Measured:
        for spec in (start.first, start.spec):
            measured = self.run(spec)
            self._check_ended(measured, target, instrument.when_late)
            self._note_survivors(measured)
        return measured

    def trial(self, target: Target) -> Reading[None]:
        """Run a launch that only tells how to measure, and is no measurement itself; raises as `launch`."""
        return self.launch(target, TIMER, lambda reading: reading)

    def list_benchmarks(
        self, harness: Harness, spec: LaunchSpec, name: str, remedy: str, subject: int = 0
    ) -> list[Listed]:
        """Return what a program lists; raises as `launch`, and LaunchError, with the `name`, for what is no list."""
        target = Target(f"the list of {name}", harness.listing(spec), subject, harness=harness, remedy=remedy)
        measured = self.trial(target).measured
        try:
            return harness.listed(measured)
        except LaunchError as error:
            raise LaunchError(f"{name} {error}") from error

    def launch_series(
        self,
        targets: Sequence[Target],
        series: Callable[[Sequence[LaunchSpec], LaunchSpec | None], Sequence[Measured | SteelyardError]],
        keep: Callable[[bool, Reading[None]], Kept],
        behind: Target | None = None,
    ) -> Iterator[Kept]:
        """Run several launches in one request, as far as they get; raises as `launch`.

        `keep` is told of each launch whether the series has kept it already, and its reading. The first one runs right
        `behind` another, if that is given, of which nothing is kept.
        """
        self._check_interrupted()
        self._check_programs(targets)
        self.has_begun = True
        results = series([target.spec for target in targets], None if behind is None else behind.spec)
        try:
            for number, (target, result) in enumerate(zip(targets, results, strict=False), start=1):
                if isinstance(result, SteelyardError):
                    raise result
                self.launches += 1
                self._check_ended(result, target)
                reading = Reading(result, target.samples(result), None)
                yield self._keep(reading, partial(keep, number < len(results)))
        finally:
            self._check_programs(targets)  # a replaced program says more than how the launch ended

    def launch_together(
        self,
        targets: Sequence[Target],
        keep: Callable[[Reading[None]], Kept],
        *,
        second_begins: bool = False,
        followed: bool = False,
    ) -> tuple[Kept, Kept]:
        """Run two launches at the same time; raises as `launch`. Neither is kept unless both ended well."""
        together = partial(self.launcher.launch_together, second_begins=second_begins, followed=followed)
        started = self._run_starts_together(targets, together)
        results = self._run_together(targets, together)
        readings = [
            Reading(result, target.samples(result, start), None)
            for target, result, start in zip(targets, results, started, strict=True)
        ]
        first, second = (self._keep(reading, keep) for reading in readings)
        return first, second

    def _run_starts_together(self, targets: Sequence[Target], together: _Together) -> Sequence[Measured | None]:
        """Run the starts of two launches, also at the same time, and return their results; None if they have none."""
        starts = [target.start for target in targets if target.start is not None]
        if len(starts) < len(targets):
            return [None] * len(targets)
        for specs in ([start.first for start in starts], [start.spec for start in starts]):
            results = self._run_together(
                [replace(one, spec=spec) for one, spec in zip(targets, specs, strict=True)], together
            )
            for measured in results:
                self._note_survivors(measured)
        return results

    def _run_together(self, targets: Sequence[Target], together: _Together) -> tuple[Measured, Measured]:
        self._check_interrupted()
        self._check_programs(targets)
        self.has_begun = True
        self.launches += 2
        try:
            results = together(targets[0].spec, targets[1].spec)
            # A launch that failed may be what the other one waited for in vain, so it is reported first.
            for target, measured in sorted(zip(targets, results, strict=True), key=lambda ended: ended[1].timed_out):
                self._check_ended(measured, target)
        finally:
            self._check_programs(targets)
        return results

    def launch_shared_pair(
        self,
        both: Sequence[Shared],
        keep: Callable[[int, int, Reading[None]], Kept],
    ) -> dict[tuple[int, int], Kept | LaunchError]:
        """Run one start per side that serves several targets; return what came of each, or why it failed.

        The keys are a side's place among `both` and a target's number there, in the order in which the targets ran;
        `keep` is called with both and with the reading. Raises as `launch` if a launch as a whole failed.
        """
        together = partial(self.launcher.launch_together, second_begins=False)
        measured = self._run_together([item.whole for item in both], together)
        parts = {
            (place, number): (target, part)
            for place, (shared, whole) in enumerate(zip(both, measured, strict=True))
            for number, (target, part) in enumerate(zip(shared.each, shared.apart(whole), strict=True))
        }
        return {
            where: self._keep_part(target, part, partial(keep, *where))
            for where, (target, part) in sorted(parts.items(), key=lambda item: item[1][1].start_ns)
        }

    def shared_trial(self, shared: Shared) -> tuple[int, list[Reading[None] | LaunchError]]:
        """Try several targets in one launch; return how long it took, in ns, and each reading, or why it failed.

        Raises as `launch` if the launch as a whole failed.
        """
        self.check_program(shared.whole)
        measured = self.run(shared.whole.spec)
        self._check_ended(measured, shared.whole)
        parts = shared.apart(measured)
        self.check_program(shared.whole)
        return measured.wall_ns, [
            self._keep_part(target, part, lambda reading: reading)
            for target, part in zip(shared.each, parts, strict=True)
        ]

    def _keep_part(self, target: Target, part: Measured, keep: Callable[[Reading[None]], Kept]) -> Kept | LaunchError:
        try:
            self._check_ended(part, target)
            return self._keep(Reading(part, target.samples(part), None), keep)
        except LaunchError as error:
            return error

    def run(self, spec: LaunchSpec) -> Measured:
        """Run a launch without judging its end; raises Interrupted if the user asked to stop, before or meanwhile."""
        self._check_interrupted()
        self.launches += 1
        self.has_begun = True
        measured = self.launcher.launch(spec)
        if measured.cancelled:
            raise Interrupted
        return measured

    def _check_ended(self, measured: Measured, target: Target, when_late: str = TIMER.when_late) -> None:
        check_ended(measured, target, when_late, is_first=target.name not in self.ended_well)
        self.ended_well.add(target.name)

    def _check_interrupted(self) -> None:
        if self.interrupted():
            raise Interrupted

    def check_program(self, target: Target) -> None:
        """Raise MeasurementError if the target is no longer the program that it was."""
        if target.program is not None:
            self.programs.check(target.program, target.name)

    def set_up(self) -> None:
        """Run each set-up command once; what they leave running goes on. Raises as `launch`."""
        for spec in self.hooks.setup:
            self._check_interrupted()
            with room_for("what --setup prints needs"), scratch_folder("setup") as folder:
                stderr_path = folder / "stderr"  # not a pipe, which would break for what goes on running
                stderr_path.touch()
                measured = self._run_hook(
                    "--setup", replace(spec, stderr=os.fsencode(stderr_path), leaves_running=True)
                )
                measured = replace(measured, stderr=end_of(stderr_path, _MOST_STDERR_BYTES))
            check_hook_ended("--setup", spec, measured)
            self.set_up_stderr.append((command_line(spec.argv), measured.stderr or b""))

    def _check_programs(self, targets: Sequence[Target]) -> None:
        for target in {target.program: target for target in targets}.values():
            self.check_program(target)

    def _keep(self, reading: Reading[Value], keep: Callable[[Reading[Value]], Kept]) -> Kept:
        kept = keep(reading)
        self._note_survivors(reading.measured)
        return kept

    def survivor_findings(self) -> Iterator[Finding]:
        """Yield the findings on processes that outlived what started them."""
        return survivor_findings(self.left_behind, self.not_killed, self.left_by_hooks)

    def _note_survivors(self, measured: Measured) -> None:
        self.left_behind += measured.left_behind
        self.not_killed += measured.not_killed

    def _prepare(self, target: Target) -> None:
        if self.hooks.prepare:
            self._check_interrupted()
            self.run_hook("--prepare", self.hooks.of(self.hooks.prepare, target))

    def _conclude(self, target: Target) -> None:
        """Run the command that follows a launch that has begun, even if the user has asked to stop meanwhile."""
        if self.hooks.conclude:
            self.launcher.forget_cancel()
            self.run_hook("--conclude", self.hooks.of(self.hooks.conclude, target))

    def run_hook(self, option: str, spec: LaunchSpec) -> None:
        """Run the command that an option named; raises MeasurementError if it fails, Interrupted if it is cut short."""
        check_hook_ended(option, spec, self._run_hook(option, spec))

    def _run_hook(self, option: str, spec: LaunchSpec) -> Measured:
        """Run a command that may last, and tell the watch of it, as nothing else would show it."""
        self.has_begun, reported_s, name = True, list[float](), f"{option} {command_line(spec.argv)}"

        def waiting(seconds: float) -> None:
            if seconds >= _LONG_COMMAND_S:
                reported_s.append(seconds)
                self.watch(Progress(name, 0, None, waited_s=seconds))

        measured = self.launcher.launch(spec, waiting)
        if reported_s:
            self.watch(Progress(name, 0, None, waited_s=0.0))
        self.left_by_hooks += measured.left_behind
        self.not_killed += measured.not_killed
        return measured
