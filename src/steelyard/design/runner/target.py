"""What one launch runs, and how it is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from steelyard.model.errors import LaunchError, MeasurementError, SkippedError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import Sample, judged_samples
from steelyard.model.secrecy import without_secrets
from steelyard.model.subject import Subject
from steelyard.report.figures import count
from steelyard.subjects.command import spec_with_parameters
from steelyard.subjects.harness import Harness, Starting, Work
from steelyard.subjects.process_time import timed_by_process
from steelyard.subjects.responses import check_within

ENVIRONMENT = "(A launch sees only a small environment: pass more with --env NAME or --inherit-env.)"
FIX_REMEDY = f"fix the command. {ENVIRONMENT}"
COMMAND_REMEDY = f"fix the command, or accept failures with --ignore-failure. {ENVIRONMENT}"
# Where a launch ended well before this one, which rarely fails for want of a variable then.
LEFT_BEHIND = (
    "(If a launch finds what one before it left, or lacks what that took away, --prepare CMD puts that right before "
    "each.)"
)
HARNESS_REMEDY = f"fix it, or choose others with --benchmark. {ENVIRONMENT}"
SHARED_REMEDY = "a start of its own shows more"
LIST_REMEDY = (
    "is it a program of the harness that --harness names? For a plain command leave --harness out. " + ENVIRONMENT
)
PROBE_REMEDY = "is there enough memory for it? If so, reinstall steelyard"
_CLOCK_WENT_ON = (
    "has a clock that went on in this launch while it waited for a processor, as where another thread asks for the "
    "time, too, and that stood still when it was tried: times by both cannot be compared. --metric wall has the plain "
    "clock in all launches"
)
# For `timeit`, where no words of the command name a harness.
STATEMENT_REMEDY = f"is it a Python that has steelyard installed? {ENVIRONMENT}"


def no_module_remedy(module: str) -> str:
    """Return what to do about a Python that cannot list its benchmarks because it lacks a module."""
    return f"activate the environment that has {module}, or give the path of its Python in the command. {ENVIRONMENT}"


@dataclass(frozen=True, slots=True)
class Target:
    """A launch to come: of a command, or of a program that a harness drives."""

    name: str
    """Its name in errors."""
    spec: LaunchSpec
    subject: int = 0
    """Its number in the record; it chooses among several commands of `--prepare` or `--conclude`."""
    program: str | None = None
    """The file that has to stay what it was at the first launch."""
    harness: Harness | None = None
    work: Work | None = None
    """What the harness was asked to run; None if it was asked for its list."""
    needs_cpu: bool = False
    """Whether every sample has to tell its processor time."""
    ignore_failure: bool = False
    remedy: str = COMMAND_REMEDY
    """What to do about a launch that failed."""
    layout: int = 1
    """Which of several builds of its subject it runs; the commands around launches run in that build's folder."""
    params: Mapping[str, str] = field(default_factory=dict)
    """What {name} stands for in its command, and in the commands before and after it."""
    start: Starting | None = None
    """A launch made before it, whose processor time is subtracted from that of this one."""
    needs_still: bool = False
    """Whether its clock has to stand still while it waits, as it did when the benchmark was tried."""

    def within(self, longest_s: float | None) -> Target:
        """Return the same launch with this limit on its time; with the limit that it has if this is None."""
        if longest_s is None:
            return self
        return self._changed(lambda spec: replace(spec, timeout_ns=round(longest_s * 1e9)))

    def at_own_addresses(self) -> Target:
        """Return the same launch at random addresses, not at those that its pair shares."""
        return self._changed(lambda spec: replace(spec, mapping_pages=None))

    def _changed(self, change: Callable[[LaunchSpec], LaunchSpec]) -> Target:
        """Return the same launch with this change, which its start has, too."""
        return replace(self, spec=change(self.spec), start=self.start and self.start.changed(change))

    def samples(self, measured: Measured, started: Measured | None = None) -> tuple[Sample, ...]:
        """Return the samples, given the result of the `start`; raises LaunchError for a missing or unusable answer."""
        if self.harness is None or self.work is None:
            return ()
        try:
            samples = self.harness.samples(measured, self.work)
            check_within(samples, measured, self.harness, self.work)
            if self.start is not None and started is not None:
                samples = timed_by_process(samples, measured, started, self.start.loops)
            if self.needs_cpu and any(one.cpu_ns is None for one in judged_samples(samples)):
                raise LaunchError("does not tell its time on a processor (cpu_ns): choose --metric wall")
            if self.needs_still and any(one.delay_ns is None for one in samples):
                raise LaunchError(_CLOCK_WENT_ON)
        except LaunchError as error:
            message = f"{self.name} {without_secrets(str(error), self.spec.env)}"
            if isinstance(error, SkippedError):
                raise SkippedError(message, error.reason) from error
            raise type(error)(message) from error
        return samples


@dataclass(frozen=True, slots=True)
class Shared:
    """A launch to come that serves several benchmarks of a harness, each in a process forked from its start."""

    whole: Target
    each: Sequence[Target]
    has_one_limit: bool = False
    """Whether the time limit of each is that of all together, as a budget is."""

    def within(self, longest_s: float | None) -> Shared:
        """Return the same launch with this time limit for each benchmark; with the limits that they have if None."""
        each = [target.within(longest_s) for target in self.each]
        limits_ns = [target.spec.timeout_ns for target in each]
        known_ns = [limit for limit in limits_ns if limit is not None]
        of_all = max if self.has_one_limit else sum
        timeout_ns = of_all(known_ns) if len(known_ns) == len(limits_ns) else None
        return replace(self, whole=replace(self.whole, spec=replace(self.whole.spec, timeout_ns=timeout_ns)), each=each)

    def apart(self, measured: Measured) -> list[Measured]:
        """Return what each forked process measured; raises LaunchError if they cannot be told apart."""
        if self.whole.harness is None:
            raise AssertionError("only harnesses have several benchmarks")
        try:
            return self.whole.harness.apart(measured, [target.work for target in self.each if target.work])
        except LaunchError as error:
            raise LaunchError(f"{self.whole.name} {error}") from error


@dataclass(frozen=True)
class Hooks:
    """The commands around launches: each kind has one for all, one per subject, or one per layout of each subject."""

    setup: Sequence[LaunchSpec] = ()
    """Before anything is launched, each once."""
    prepare: Sequence[LaunchSpec] = ()
    """Before each launch, untimed."""
    conclude: Sequence[LaunchSpec] = ()
    """After each launch, untimed."""
    cleanup: Sequence[LaunchSpec] = ()
    """When all is measured, each once."""
    layouts: int = 0
    """How many layouts of each subject have commands of their own; 0 where all share those of the subject."""

    def of(self, specs: Sequence[LaunchSpec], target: Target) -> LaunchSpec:
        """Return the one of these commands that goes with a launch."""
        place = target.subject * self.layouts + target.layout - 1 if self.layouts else target.subject
        spec = specs[min(place, len(specs) - 1)]
        return spec_with_parameters(spec, target.params) if target.params else spec


def shared_target(
    each: Sequence[Target], launch: LaunchSpec, name: str, turns: Sequence[int] = (), *, has_one_limit: bool = False
) -> Shared:
    """Return one launch that runs all of these targets, which are benchmarks of one program.

    With `turns`, one for each, samples are taken in turn with those of the other side's launch; with 0 it goes first.
    """
    parts = [replace(target, remedy=SHARED_REMEDY) for target in each]
    if turns:
        parts = [replace(part, work=_with_turn(part.work, turn)) for part, turn in zip(parts, turns, strict=True)]
        # Two launches at once share one processor by default, which those that take turns need not.
        launch = replace(launch, cpus=launch.cpus or tuple(sorted(os.sched_getaffinity(0))))
    first = parts[0]
    if first.harness is None:
        raise AssertionError("only harnesses have several benchmarks")
    spec = first.harness.running_each(launch, [target.work for target in parts if target.work])
    whole = replace(first, name=f"{name} ({count(len(parts), 'benchmark')})", spec=spec, work=None)
    return Shared(whole, parts, has_one_limit).within(None)


def _with_turn(work: Work | None, turn: int) -> Work | None:
    return None if work is None else replace(work, orders=str(turn) * work.samples)


def no_benchmark_error(subject: Subject) -> MeasurementError:
    """Return the error to raise if a subject's list is empty."""
    is_suite = "steelyard.harness" in subject.argv
    remedy = "has its suite @bench above a function" if is_suite else "is it the right program"
    if not is_suite and len(subject.argv) > 1:
        remedy += ", and do the arguments that it is given leave any"
    return MeasurementError(f"{subject.name} lists no benchmark: {remedy}?")
