"""Trials of a suite's benchmarks: how many iterations a sample has on both sides, and how many samples a launch."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import ceil, inf
from typing import Literal, NamedTuple, TypeVar

from steelyard.design.findings import own_starts_finding
from steelyard.design.runner.failure import TookTooLongError
from steelyard.design.runner.runner import Reading, Runner
from steelyard.design.runner.target import HARNESS_REMEDY, Target, shared_target
from steelyard.design.runner.targets import decides_by_cpu
from steelyard.design.suite.loops import (
    LEAST_SAMPLES,
    PILOT_LAUNCHES,
    PILOT_SAMPLES,
    TARGET_NS,
    TURN_NS,
    NeverLongError,
    Pilot,
    answered,
    asking_loops,
    choose_samples,
    computes_alone,
    is_long,
    iteration_ns,
    long_samples_in_step,
    process_amounts,
    shared_loops,
)
from steelyard.design.suite.pilot_time import REFINEMENT, PilotTime
from steelyard.model.errors import LaunchError
from steelyard.model.launches import LaunchSpec, Sample
from steelyard.model.metrics import timed
from steelyard.model.progress import Progress, Watch
from steelyard.model.records import Benchmark, Finding, Settings, Subject
from steelyard.report.figures import count, seconds
from steelyard.subjects.harness import Harness, Work


class Ask(NamedTuple):
    """A launch of one benchmark of a subject that is to be tried."""

    subject: int
    loops: int
    samples: int
    by_process: bool = False


class Amounts(NamedTuple):
    """What each launch of a benchmark runs; no loops where the harness chooses them itself, neither where it failed."""

    loops: int | None = None
    samples: int | None = None
    clock: Literal["process"] | None = None


# What is left to do at least when several have been tried once at the same time: their loops, and a pair.
_MORE_LAUNCHES = 4
# How often processor time is tried beside elapsed time, which other work may have made longer.
_MOST_TRIES, _TRY_SAMPLES, _FEWEST_LOOPS = 3, 8, 8

_Found = TypeVar("_Found")
_Asking = Generator[Ask, Pilot, _Found]


@dataclass
class _Trial:
    """One benchmark while it is tried together with others."""

    asking: _Asking[Amounts]
    ask: Ask | None = None
    amounts: Amounts | None = None

    def go_on(self, pilot: Pilot | LaunchError | None = None) -> None:
        """Ask for the next launch, or come to an end: without amounts if one failed."""
        self.ask = None
        if isinstance(pilot, LaunchError):
            return
        with suppress(LaunchError):  # it says so again when it is tried by itself
            try:
                self.ask = next(self.asking) if pilot is None else self.asking.send(pilot)
            except StopIteration as end:
                self.amounts = end.value


@dataclass
class Trials:
    """Tries the benchmarks of one suite, and keeps what came of that, by their entries."""

    settings: Settings
    harness: Harness
    subjects: Sequence[Subject]
    """What is tried of each: of several layouts the first."""
    spec: Callable[[Subject], LaunchSpec]
    runner: Runner
    watch: Watch
    time: PilotTime
    known: dict[str, Amounts] = field(default_factory=dict)
    failures: dict[str, Finding] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)
    """Those that were not reached."""
    pair_s: dict[str, float] = field(default_factory=dict)
    """How long a pair takes, as the latest trial went, in seconds."""
    processed: dict[tuple[int, str], dict[str, float]] = field(default_factory=dict)
    """What an iteration of a subject's benchmark processes, as it was told, by the unit."""
    findings: list[Finding] = field(default_factory=list)
    times_processes: bool = False
    """Whether launches may be timed by their processor time, as the harness's own times hold the waiting for it."""
    shares_starts: bool = False
    """Whether several can be tried, and measured, out of one start."""
    _launch_s: float = 0.0
    """How long the latest launch of several took."""

    def try_all(self, benchmarks: Sequence[Benchmark]) -> None:
        """Try each once, however many candidates have it; raises Interrupted."""
        entries = dict.fromkeys(one.entry or "" for one in benchmarks)
        sides = {entry: self._candidates(entry, benchmarks) for entry in entries}
        if self.shares_starts:
            self._try_together(sides)
        for number, (entry, candidates) in enumerate(sides.items()):
            if entry not in self.known:
                self.watch(Progress(f"trying {entry}", number, len(entries)))
                self._try(entry, candidates, len(entries) - number)

    def _candidates(self, entry: str, benchmarks: Sequence[Benchmark]) -> list[int]:
        if len(self.subjects) == 1:
            return []
        return sorted({one.candidate for one in benchmarks if one.entry == entry and not one.control})

    def _try(self, entry: str, candidates: Sequence[int], left: int) -> None:
        """Try one by itself, with so many to try, this one included."""
        tried = bool(self.known)
        if self.time.is_up(tried=tried):
            self.missed.append(entry)
            return
        in_step = self.settings.pairing == "tandem" and self.harness.keeps_step
        try:
            self._keep(
                entry,
                candidates,
                answered(self._amounts(entry, candidates, left, in_step=in_step), partial(self._pilot, entry)),
            )
        except LaunchError as error:
            if isinstance(error, TookTooLongError) and self.time.is_up(tried=tried):
                self.missed.append(entry)
                return
            self.known[entry] = Amounts()
            self.failures[entry] = Finding(code="failed", message=str(error))

    def _keep(self, entry: str, candidates: Sequence[int], amounts: Amounts) -> None:
        self.known[entry] = amounts
        self.time.keep(max(1, len(candidates)) * self.pair_s[entry])

    def _amounts(
        self, entry: str, candidates: Sequence[int], left: int, at_once: int = 1, *, in_step: bool = False
    ) -> _Asking[Amounts]:
        """The amounts for all sides of a benchmark: the baseline decides, unless a candidate is far slower.

        With too little time for the `left` benchmarks, of which so many are tried `at_once`, they are rougher.
        """
        fixed = self.harness.samples_a_launch
        if not self.harness.fixes_loops:
            for number in (0, *candidates):
                yield Ask(number, 1, PILOT_SAMPLES)
            return Amounts(None, fixed or PILOT_SAMPLES)
        target_ns = TURN_NS if in_step else TARGET_NS
        loops, taken = yield from self._loops(entry, target_ns, hurried=self.time.is_short(ceil(left / at_once)))
        if is_long(taken):
            return Amounts(loops, fixed or (long_samples_in_step(taken) if in_step else 1))
        tries = [taken]
        for number in candidates:
            tries += [(yield Ask(number, loops, 1)).samples]
        loops = shared_loops(loops, tries, target_ns)
        if fixed or not timed(self.settings.metrics):
            return Amounts(loops, fixed or 1)
        if self.time.is_short(left, REFINEMENT, self.pair_s[entry] / 2):
            return Amounts(loops, LEAST_SAMPLES)
        if self.times_processes and (found := (yield from self._by_process(tries, candidates))):
            return found
        pilots = list[Pilot]()
        for _ in range(PILOT_LAUNCHES):
            pilots += [(yield Ask(0, loops, PILOT_SAMPLES))]
        slowest_ns = loops * max(map(iteration_ns, tries))
        brief = yield Ask(0, loops, 1)
        return Amounts(loops, choose_samples(pilots, slowest_ns, brief, in_step=in_step))

    def _by_process(self, tries: Sequence[Sequence[Sample]], candidates: Sequence[int]) -> _Asking[Amounts | None]:
        """The amounts of launches that are timed by their processor time; None where that is another time.

        Both sides have to be such that this is the time of their work (`computes_alone`); `tries` have a try of each.
        """
        each = [0, *candidates]
        usual_ns, alone_ns = [iteration_ns(samples) for samples in tries], [inf] * len(each)
        amounts, loops = process_amounts(usual_ns), max(_FEWEST_LOOPS, tries[0][0].loops)
        if amounts is None or any(self._target("", Ask(one, *amounts, True)).start is None for one in each):
            return None
        for _ in range(_MOST_TRIES):
            fits = []
            for place, number in enumerate(each):
                usual = yield Ask(number, loops, _TRY_SAMPLES)
                alone = yield Ask(number, loops, _TRY_SAMPLES, by_process=True)
                whole = yield Ask(number, *amounts, by_process=True)
                if not alone.samples or not whole.samples:
                    return None
                usual_ns[place] = min(usual_ns[place], iteration_ns(usual.samples))
                alone_ns[place] = min(alone_ns[place], iteration_ns(alone.samples))
                fits.append(computes_alone(whole.samples[0], usual_ns[place], alone_ns[place]))
            if all(fits):
                return Amounts(*amounts, "process")
        return None

    def _loops(self, entry: str, target_ns: int, *, hurried: bool) -> _Asking[tuple[int, Sequence[Sample]]]:
        """The iterations that the baseline's samples need, and the samples that were taken last."""
        asking, taken = asking_loops(target_ns, hurried=hurried), list[Sample]()
        try:
            amount = next(asking)
            while True:
                taken = [*(yield Ask(0, *amount)).samples]
                amount = asking.send(taken)
        except StopIteration as end:
            return end.value, taken
        except NeverLongError as error:
            raise LaunchError(f"{self._called(0, entry)} {error}") from error

    def _pilot(self, entry: str, ask: Ask) -> Pilot:
        """Run one launch; without samples if it was timed by its process, and that came to nothing."""
        target = self._target(entry, ask)
        try:
            reading = self.runner.trial(target)
        except LaunchError:
            if not ask.by_process:
                raise
            return Pilot(0.0, ())
        self.pair_s[entry] = 2 * reading.measured.wall_ns / 1e9
        return self._read(entry, ask, target, reading)

    def _read(self, entry: str, ask: Ask, target: Target, reading: Reading[None], beside_ns: float = 0.0) -> Pilot:
        if target.work and (told := self.harness.processed(reading.measured, target.work)):
            self.processed[ask.subject, entry] = told
        overhead_ns = beside_ns + reading.measured.wall_ns - sum(sample.ns for sample in reading.samples)
        return Pilot(overhead_ns, reading.samples)

    def _target(self, entry: str, ask: Ask) -> Target:
        still = self.settings.clock == "still"
        samples = self.harness.samples_a_launch or ask.samples
        work = Work(entry, ask.loops, samples, still=still, by_process=ask.by_process)
        spec = self.time.limited(self.spec(self.subjects[ask.subject]))
        return Target(
            self._called(ask.subject, entry),
            self.harness.running(spec, work),
            ask.subject,
            None,
            self.harness,
            work,
            decides_by_cpu(self.settings) and (ask.by_process or not self.times_processes),
            remedy=HARNESS_REMEDY,
            start=self.harness.starting(spec, work) if ask.by_process else None,
        )

    def _try_together(self, sides: Mapping[str, Sequence[int]]) -> None:
        """Try all of them at once; those of which nothing comes that way are left to be tried by themselves."""
        many = len(sides)
        self.watch(Progress(f"trying {count(many, 'benchmark')} at once", 0, many))
        trials = {
            entry: _Trial(self._amounts(entry, candidates, many, many, in_step=True))
            for entry, candidates in sides.items()
        }
        for trial in trials.values():
            trial.go_on()
        try:
            self._round(trials)
            if self.time.is_short(1, _MORE_LAUNCHES, self._launch_s):
                raise LaunchError(f"one takes {seconds(self._launch_s)}, which leaves too little time for pairs")
            while self._round(trials):
                pass
        except LaunchError as error:
            self.shares_starts = False
            self.findings.append(own_starts_finding(str(error)))
            return
        for entry, trial in trials.items():
            if trial.amounts is not None:
                self._keep(entry, sides[entry], trial.amounts)

    def _round(self, trials: Mapping[str, _Trial]) -> bool:
        """Run what the trials ask for, one launch for each subject; whether they asked for anything."""
        asks = {entry: trial.ask for entry, trial in trials.items() if trial.ask}
        for subject in sorted({ask.subject for ask in asks.values()}):
            theirs = {entry: ask for entry, ask in asks.items() if ask.subject == subject}
            for entry, pilot in self._pilots(subject, theirs).items():
                trials[entry].go_on(pilot)
        return bool(asks)

    def _pilots(self, subject: int, asks: Mapping[str, Ask]) -> dict[str, Pilot | LaunchError]:
        """Run one launch for several benchmarks of a subject."""
        targets = [self._target(entry, ask) for entry, ask in asks.items()]
        launch = self.time.limited(self.spec(self.subjects[subject]))
        shared = shared_target(targets, launch, self.subjects[subject].name)
        wall_ns, readings = self.runner.launch_shared(shared, lambda _, reading: reading)
        self._launch_s = wall_ns / 1e9
        self.pair_s.update(dict.fromkeys(asks, 2 * self._launch_s / len(asks)))
        own_ns = sum(one.measured.wall_ns for one in readings if not isinstance(one, LaunchError))
        start_ns = max(0.0, wall_ns - own_ns) / len(asks)
        return {
            entry: one if isinstance(one, LaunchError) else self._read(entry, ask, target, one, start_ns)
            for (entry, ask), target, one in zip(asks.items(), targets, readings, strict=True)
        }

    def _called(self, number: int, entry: str) -> str:
        return f"{self.subjects[number].name} ({entry})"
