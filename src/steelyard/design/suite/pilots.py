"""The launches of a suite's trials: each of one benchmark, or of several out of one start."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from steelyard.design.runner.failure import TookTooLongError
from steelyard.design.runner.runner import Reading, Runner
from steelyard.design.runner.target import HARNESS_REMEDY, Target, shared_target
from steelyard.design.runner.targets import decides_by_cpu, shown_name
from steelyard.design.suite.loops import Ask, Pilot
from steelyard.design.suite.pilot_time import PilotTime, TooLittleTimeError
from steelyard.model.errors import LaunchError, SkippedError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.settings import Settings
from steelyard.model.subject import Subject
from steelyard.report.figures import seconds
from steelyard.subjects.harness import Harness, Work

# A launch is given up after this many times as long as the one before it took, but not before this many seconds.
_GIVEN_UP_TIMES, _GIVEN_UP_S = 10, 2.0
# A launch of several benchmarks may take so many seconds for each of them, beside the time that one alone may take.
_TOGETHER_S = 1.0


@dataclass
class Pilots:
    """Runs what trials ask for, and keeps what that took and processed, by the entries of the benchmarks."""

    settings: Settings
    harness: Harness
    subjects: Sequence[Subject]
    """The subjects as they are tried: of several layouts the first."""
    spec: Callable[[Subject], LaunchSpec]
    runner: Runner
    time: PilotTime
    times_processes: bool
    """Whether launches may be timed by their processor time, as the harness's own times include waits for a
    processor."""
    pair_s: dict[str, float] = field(default_factory=dict)
    """How long a pair takes, in seconds, going by the latest trial."""
    processed: dict[tuple[int, str], dict[str, float]] = field(default_factory=dict)
    """What an iteration of a subject's benchmark processes, as it was told, by unit."""
    amount_errors: dict[tuple[int, str], float] = field(default_factory=dict)
    """By how much of itself each of these amounts may be off."""
    plain: set[str] = field(default_factory=set)
    """The benchmarks of which at least one side has a clock that went on where it was to stand still. From then on none
    of their clocks stands still, as times with and without waiting cannot be compared."""
    launch_s: float = 0.0
    """How long the latest launch of several benchmarks took, in seconds."""

    def run_one(self, entry: str, ask: Ask) -> Pilot:
        """Run one launch; return no samples if it was given up, or if it was to be timed by its process and failed."""
        target = self.target(entry, ask)
        if ask.is_given_up:
            target = with_give_up_limit(self.pair_s[entry] / 2, target)
        try:
            reading = self.runner.trial(target)
        except SkippedError as error:
            # A candidate that skips what the baseline runs has lost it.
            raise error if ask.subject == 0 else LaunchError(str(error)) from error
        except LaunchError as error:
            if not ask.by_process and not (ask.is_given_up and isinstance(error, TookTooLongError)):
                raise
            return Pilot(0.0, ())
        self.pair_s[entry] = 2 * reading.measured.wall_ns / 1e9
        return self._read(entry, ask, target, reading)

    def run_several(self, subject: int, is_given_up: bool, asks: Mapping[str, Ask]) -> dict[str, Pilot | LaunchError]:
        """Run one launch for several benchmarks of a subject; return no samples of any if it was given up."""
        targets = [self.target(entry, ask) for entry, ask in asks.items()]
        launch = self.time.with_limit(self.spec(self.subjects[subject]))
        shared = shared_target(targets, launch, self.subjects[subject].name)
        shared = replace(shared, whole=self._with_limit_together(shared.whole, targets))
        if is_given_up:
            shared = replace(shared, whole=with_give_up_limit(self.launch_s, shared.whole))
        try:
            wall_ns, readings = self.runner.shared_trial(shared)
        except TookTooLongError as error:
            if is_given_up:
                return dict.fromkeys(asks, Pilot(0.0, ()))
            late = f"{shared.whole.name} did not end within {seconds((shared.whole.spec.timeout_ns or 0) / 1e9)}"
            if self.time.end is None:
                raise LaunchError(late) from error
            raise TooLittleTimeError(f"{late}, which leaves too little time for pairs") from error
        self.launch_s = wall_ns / 1e9
        self.pair_s.update(dict.fromkeys(asks, 2 * self.launch_s / len(asks)))
        own_ns = sum(result.measured.wall_ns for result in readings if not isinstance(result, LaunchError))
        start_ns = max(0.0, wall_ns - own_ns) / len(asks)
        return {
            entry: result if isinstance(result, LaunchError) else self._read(entry, ask, target, result, start_ns)
            for (entry, ask), target, result in zip(asks.items(), targets, readings, strict=True)
        }

    def _with_limit_together(self, whole: Target, each: Sequence[Target]) -> Target:
        """Return a launch of several with a limit that a hang of one of them does not make as long as that of all.

        Benchmarks that take longer gain little by a common start.
        """
        longest_ns = max((one.spec.timeout_ns or inf for one in each), default=inf)
        together_s = self.time.longest_together_s(first=not self.launch_s)
        limit_s = min(longest_ns / 1e9 + _TOGETHER_S * len(each), together_s)
        return whole.within(limit_s) if limit_s < (whole.spec.timeout_ns or inf) / 1e9 else whole

    def target(self, entry: str, ask: Ask) -> Target:
        """Return the launch of one benchmark."""
        still = self.settings.clock == "still" and entry not in self.plain
        samples = self.harness.samples_a_launch or ask.samples
        by_process = ask.by_process
        work = Work(entry, ask.loops, samples, still=still, by_process=by_process, tries_process=by_process)
        spec = self.time.with_limit(self.spec(self.subjects[ask.subject]))
        return Target(
            self.shown_name(ask.subject, entry),
            self.harness.running(spec, work),
            ask.subject,
            None,
            self.harness,
            work,
            decides_by_cpu(self.settings) and (ask.by_process or not self.times_processes),
            remedy=HARNESS_REMEDY,
            start=self.harness.starting(spec, work) if ask.by_process else None,
        )

    def shown_name(self, number: int, entry: str) -> str:
        """Return what errors call a subject's benchmark."""
        return shown_name(self.subjects[number].name, entry)

    def _read(self, entry: str, ask: Ask, target: Target, reading: Reading[None], start_ns: float = 0.0) -> Pilot:
        if target.work and (processed := self.harness.processed(reading.measured, target.work)):
            self.processed[ask.subject, entry] = processed
            self.amount_errors[ask.subject, entry] = self.harness.amount_error(reading.measured)
        if target.work and target.work.still and any(one.delay_ns is None for one in reading.samples):
            self.plain.add(entry)
        return Pilot(beside_samples_ns(reading), reading.samples, start_ns)


def beside_samples_ns(reading: Reading[None]) -> float:
    """Return what a launch took beside its samples, in ns, without the waits of both, as far as these are known."""
    waits = [reading.measured.delay_ns, *(sample.delay_ns for sample in reading.samples)]
    known = [wait for wait in waits if wait is not None]
    waited_ns = known[0] - sum(known[1:]) if len(known) == len(waits) else 0
    return float(reading.measured.wall_ns - waited_ns - sum(sample.ns for sample in reading.samples))


def with_give_up_limit(latest_s: float, target: Target) -> Target:
    """Return a launch that may not take much longer than the latest one of the same benchmarks took."""
    most_s = max(_GIVEN_UP_S, _GIVEN_UP_TIMES * latest_s)
    return target.within(min(most_s, (target.spec.timeout_ns or inf) / 1e9))
