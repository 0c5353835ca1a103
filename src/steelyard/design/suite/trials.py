"""Trials of a suite's benchmarks: how many iterations a sample has on both sides, and how many samples a launch."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import ceil, inf
from typing import TypeVar

from steelyard.design.findings import own_starts_finding, skipped_findings
from steelyard.design.runner.failure import TookTooLongError
from steelyard.design.suite.loops import (
    LEAST_SAMPLES,
    PILOT_LAUNCHES,
    PILOT_SAMPLES,
    TARGET_NS,
    TURN_NS,
    Amount,
    Amounts,
    Ask,
    NeverLongError,
    Pilot,
    TriedLoops,
    answer_all,
    are_far_apart,
    ask_for_loops,
    choose_samples,
    computes_alone,
    first_samples,
    is_long,
    iteration_ns,
    long_samples_in_step,
    loops_for_long_samples,
    may_hide_more,
    process_amounts,
    shared_loops,
)
from steelyard.design.suite.pilot_time import FEWEST_LAUNCHES_LEFT, REFINEMENT_LAUNCHES, TooLittleTimeError
from steelyard.design.suite.pilots import Pilots
from steelyard.model.errors import LaunchError, SkippedError
from steelyard.model.findings import Finding
from steelyard.model.metrics import PER_ITERATION, timed
from steelyard.model.progress import Progress, Watch
from steelyard.model.rows import Sample, judged_samples
from steelyard.model.subject import Benchmark
from steelyard.report.figures import count, seconds

# How often processor time is tried beside elapsed time, which other work may have lengthened; more often if only that
# speaks against it.
_FEWEST_PROCESS_TRIES, _MOST_PROCESS_TRIES, _PROCESS_TRY_SAMPLES, _FEWEST_PROCESS_LOOPS = 3, 6, 8, 8

_Found = TypeVar("_Found")
_Asking = Generator[Ask, Pilot, _Found]


@dataclass
class _Trial:
    """One benchmark while it is tried together with others."""

    asking: _Asking[Amounts]
    ask: Ask | None = None
    amounts: Amounts | None = None

    def advance(self, pilot: Pilot | LaunchError | None = None) -> None:
        """Ask for the next launch, or end: without amounts if a launch failed."""
        self.ask = None
        if isinstance(pilot, LaunchError):
            return
        with suppress(LaunchError):  # the error comes again when it is tried by itself
            try:
                self.ask = next(self.asking) if pilot is None else self.asking.send(pilot)
            except StopIteration as end:
                self.amounts = end.value


@dataclass
class Trials:
    """Tries the benchmarks of one suite, and keeps the results by their entries."""

    pilots: Pilots
    watch: Watch
    shares_starts: bool
    """Whether several can be tried, and measured, out of one start."""
    known: dict[str, Amounts] = field(default_factory=dict)
    failures: dict[str, Finding] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    """Those of the failures where the benchmark skips itself, with its reason."""
    missed: list[str] = field(default_factory=list)
    """The entries of those that were not reached."""
    findings: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._settings, self._harness, self._time = self.pilots.settings, self.pilots.harness, self.pilots.time

    def try_all(self, benchmarks: Sequence[Benchmark]) -> None:
        """Try each benchmark once, however many candidates have it; raises Interrupted."""
        candidates_by_entry: dict[str, set[int]] = {}
        for one in benchmarks:
            has_candidate = len(self.pilots.subjects) > 1 and not one.control
            candidates_by_entry.setdefault(one.entry or "", set()).update([one.candidate] if has_candidate else [])
        sides = {entry: sorted(candidates) for entry, candidates in candidates_by_entry.items()}
        if self.shares_starts:
            self._try_together(sides)
        for number, (entry, candidates) in enumerate(sides.items()):
            if entry not in self.known:
                self.watch(Progress(f"trying {entry}", number, len(sides), noun="benchmark"))
                self._try_alone(entry, candidates, len(sides) - number)

    def failed_or_skipped(self) -> list[Finding]:
        """Return what is to be said of benchmarks that failed, and of those that skip themselves."""
        failures = [failure for entry, failure in self.failures.items() if entry not in self.skipped]
        return [*failures, *skipped_findings(self.skipped)]

    def _try_alone(self, entry: str, candidates: Sequence[int], left: int) -> None:
        """Try one benchmark by itself; `left` are still to be tried, this one included."""
        tried = bool(self.known)
        if self._time.is_up(tried=tried):
            self.missed.append(entry)
            return
        in_step = self._settings.pairing == "tandem" and self._harness.keeps_step
        asking = self._find_amounts(entry, candidates, left, in_step=in_step)
        try:
            self._keep(entry, candidates, answer_all(asking, partial(self.pilots.run_one, entry)))
        except LaunchError as error:
            if isinstance(error, TookTooLongError) and self._time.is_up(tried=tried):
                self.missed.append(entry)
            else:
                self.known[entry] = Amounts()
                self.failures[entry] = Finding(code="failed", message=str(error))
                if isinstance(error, SkippedError):
                    self.skipped[entry] = error.reason

    def _keep(self, entry: str, candidates: Sequence[int], amounts: Amounts) -> None:
        self.known[entry] = amounts._replace(clock="plain") if entry in self.pilots.plain else amounts
        self._time.add_pair_time(max(1, len(candidates)) * self.pilots.pair_s[entry])

    def _find_amounts(
        self, entry: str, candidates: Sequence[int], left: int, at_once: int = 1, *, in_step: bool
    ) -> _Asking[Amounts]:
        """Find the amounts for all sides of a benchmark: the baseline decides, unless a candidate is much slower.

        A candidate that is far slower or faster has loops of its own, if only times of an iteration are asked for. With
        too little time for the `left` benchmarks, of which so many are tried `at_once`, the amounts are rougher.
        """
        fixed = self._harness.samples_a_launch
        if not self._harness.fixes_loops:
            for number in (0, *candidates):
                yield Ask(number, 1, PILOT_SAMPLES)
            return Amounts(None, fixed or PILOT_SAMPLES)
        target_ns = TURN_NS if in_step else TARGET_NS
        hurried = self._time.is_short(ceil(left / at_once))
        baseline = yield from self._find_loops(0, entry, target_ns, hurried=hurried)
        if is_long(baseline.samples):
            samples = fixed or (long_samples_in_step(baseline.samples) if in_step else 1)
            faster = yield from self._faster_candidates(baseline, samples, entry, candidates, left)
            return _amounts_by_side(
                loops_for_long_samples({0: baseline, **faster}) if faster else {0: baseline.loops}, samples
            )
        tries, with_own_loops = yield from self._try_candidates(baseline, entry, candidates, target_ns, hurried=hurried)
        loops = shared_loops(baseline.loops, tries, target_ns)
        own_loops = {number: one.loops for number, one in with_own_loops.items()}
        if fixed or not timed(self._settings.metrics):
            return Amounts(loops, fixed or 1, own_loops=own_loops)
        tried = {0: TriedLoops(loops, max(tries, key=iteration_ns)), **with_own_loops}
        longest = max(tried, key=lambda number: tried[number].sample_ns)
        if with_own_loops and is_long(tried[longest].samples):
            samples = long_samples_in_step(tried[longest].samples) if in_step else 1
            return _amounts_by_side(loops_for_long_samples(tried), samples)
        if self._time.is_short(left, REFINEMENT_LAUNCHES, self.pilots.pair_s[entry] / 2):
            return Amounts(loops, LEAST_SAMPLES, own_loops=own_loops)
        if (
            self.pilots.times_processes
            and not with_own_loops
            and (found := (yield from self._process_amounts(tries, candidates)))
        ):
            return found
        # Where sides have loops of their own, the one whose samples cost most tells how many samples pay.
        return Amounts(
            loops, (yield from _samples_that_pay(longest, tried[longest], in_step=in_step)), own_loops=own_loops
        )

    def _try_candidates(
        self, baseline: TriedLoops, entry: str, candidates: Sequence[int], target_ns: int, *, hurried: bool
    ) -> _Asking[tuple[list[Sequence[Sample]], dict[int, TriedLoops]]]:
        """Try the candidates; return the samples of the sides that have the baseline's loops, and those with their own.

        A candidate is tried with the baseline's loops. If that takes far longer, or its iteration far less, it is tried
        as the baseline was, with few loops first.
        """
        tries, with_own_loops = [baseline.samples], dict[int, TriedLoops]()
        for number in candidates:
            ask = Ask(number, baseline.loops, first_samples(baseline.loops), is_given_up=True)
            first = (yield ask).samples
            taken = judged_samples(first)
            if (
                taken
                and not self._have_own_loops(baseline.samples, taken)
                and not may_hide_more(first, baseline.samples)
            ):
                tries.append(taken)
                continue
            if taken and baseline.loops == 1 and iteration_ns(taken) > iteration_ns(baseline.samples):
                found = TriedLoops(1, taken)  # there are no fewer
            else:
                found = yield from self._find_loops(number, entry, target_ns, hurried=hurried)
            if self._have_own_loops(baseline.samples, found.samples):
                with_own_loops[number] = found
            else:
                tries.append(found.samples)
        return tries, with_own_loops

    def _faster_candidates(
        self, baseline: TriedLoops, samples: int, entry: str, candidates: Sequence[int], left: int
    ) -> _Asking[dict[int, TriedLoops]]:
        """Find the candidates that are far faster than a baseline whose single iteration is a long sample.

        All others run one iteration, too, as do all if there is too little time to find that out.
        """
        faster = dict[int, TriedLoops]()
        for number in candidates if self._judges_iterations else ():
            if self._time.is_short(left, FEWEST_LAUNCHES_LEFT, self.pilots.pair_s[entry] / 2):
                break
            taken = judged_samples((yield Ask(number, 1, min(samples, 2), is_given_up=True)).samples)
            if taken and not is_long(taken) and self._have_own_loops(baseline.samples, taken):
                faster[number] = yield from self._find_loops(number, entry, TARGET_NS, hurried=False)
        return faster

    def _have_own_loops(self, one: Sequence[Sample], other: Sequence[Sample]) -> bool:
        """Whether these sides have loops of their own."""
        return self._judges_iterations and are_far_apart(one, other)

    @property
    def _judges_iterations(self) -> bool:
        """Whether no metric is of a launch as a whole, for which both sides would have to do the same amount."""
        return self._settings.heap is None and set(self._settings.metrics) <= set(PER_ITERATION)

    def _process_amounts(self, tries: Sequence[Sequence[Sample]], candidates: Sequence[int]) -> _Asking[Amounts | None]:
        """Find the amounts of launches timed by their processor time; None if that is not the time of their work.

        It has to be so on both sides (`computes_alone`); `tries` have a try of each.
        """
        each = [0, *candidates]
        usual_ns, alone_ns = [iteration_ns(samples) for samples in tries], [inf] * len(each)
        amounts, loops = process_amounts(usual_ns), max(_FEWEST_PROCESS_LOOPS, tries[0][0].loops)
        if amounts is None or any(self.pilots.target("", Ask(one, *amounts, True)).start is None for one in each):
            return None
        for tried in range(1, _MOST_PROCESS_TRIES + 1):
            if not (yield from self._lower_least_times(each, loops, usual_ns, alone_ns)):
                return None
            # Other work may have made the first times many times too long: so few iterations would be lost in the
            # start.
            amounts = process_amounts([*map(min, usual_ns, alone_ns)])
            if amounts is None or (wholes := (yield from self._whole_samples(each, amounts))) is None:
                return None
            if all(map(computes_alone, wholes, usual_ns, alone_ns)):
                return Amounts(*amounts, "process")
            if tried >= _FEWEST_PROCESS_TRIES and not all(
                map(computes_alone, wholes, map(min, usual_ns, alone_ns), alone_ns)
            ):
                return None
        return None

    def _lower_least_times(
        self, each: Sequence[int], loops: int, usual_ns: list[float], alone_ns: list[float]
    ) -> _Asking[bool]:
        """Lower the known least times of an iteration, as usual and on one processor; return whether it tells them."""
        for place, number in enumerate(each):
            usual = yield Ask(number, loops, _PROCESS_TRY_SAMPLES)
            alone = yield Ask(number, loops, _PROCESS_TRY_SAMPLES, by_process=True)
            if not alone.samples:
                return False
            usual_ns[place] = min(usual_ns[place], iteration_ns(usual.samples))
            alone_ns[place] = min(alone_ns[place], iteration_ns(alone.samples))
        return True

    def _whole_samples(self, each: Sequence[int], amounts: Amount) -> _Asking[list[Sample] | None]:
        """Return the one sample of each side's launch timed by its processor time; None if one tells none."""
        wholes = []
        for number in each:
            whole = yield Ask(number, *amounts, by_process=True)
            if not whole.samples:
                return None
            wholes.append(whole.samples[0])
        return wholes

    def _find_loops(self, number: int, entry: str, target_ns: int, *, hurried: bool) -> _Asking[TriedLoops]:
        """Find the iterations that a subject's samples need."""
        asking, taken = ask_for_loops(target_ns, hurried=hurried), list[Sample]()
        try:
            amount = next(asking)
            while True:
                taken = [*(yield Ask(number, *amount)).samples]
                if number and amount == (1, 1) and is_long(taken):  # or does it load, or compile, at its first call?
                    taken = judged_samples((yield Ask(number, 1, 2, is_given_up=True)).samples) or taken
                amount = asking.send(taken)
        except StopIteration as end:
            return TriedLoops(end.value, taken)
        except NeverLongError as error:
            raise LaunchError(f"{self.pilots.shown_name(number, entry)} {error}") from error

    def _try_together(self, sides: Mapping[str, Sequence[int]]) -> None:
        """Try all of them at once; those that come to nothing that way are left to be tried by themselves."""
        number = len(sides)
        self.watch(Progress(f"trying {count(number, 'benchmark')} at once", 0, number, noun="benchmark"))
        trials = {
            entry: _Trial(self._find_amounts(entry, candidates, number, number, in_step=True))
            for entry, candidates in sides.items()
        }
        for trial in trials.values():
            trial.advance()
        try:
            self._run_round(trials)
            if self._time.is_short(1, FEWEST_LAUNCHES_LEFT, self.pilots.launch_s):
                late = f"one takes {seconds(self.pilots.launch_s)}"
                raise TooLittleTimeError(f"{late}, which leaves too little time for pairs")
            while self._run_round(trials):
                pass
        except LaunchError as error:
            self.shares_starts = False
            self.findings.append(own_starts_finding(str(error), for_lack_of_time=isinstance(error, TooLittleTimeError)))
            return
        for entry, trial in trials.items():
            if trial.amounts is not None:
                self._keep(entry, sides[entry], trial.amounts)

    def _run_round(self, trials: Mapping[str, _Trial]) -> bool:
        """Run what the trials ask for, one launch for each subject; return whether they asked for anything."""
        asks = {entry: trial.ask for entry, trial in trials.items() if trial.ask}
        # What may be given up has launches of its own: the others may take longer.
        for launch in sorted({(ask.subject, ask.is_given_up) for ask in asks.values()}):
            launch_asks = {entry: ask for entry, ask in asks.items() if (ask.subject, ask.is_given_up) == launch}
            for entry, pilot in self.pilots.run_several(*launch, launch_asks).items():
                trials[entry].advance(pilot)
        return bool(asks)


def _amounts_by_side(loops: Mapping[int, int], samples: int) -> Amounts:
    """Return the amounts of sides that each have loops of their own."""
    return Amounts(loops[0], samples, own_loops={number: one for number, one in loops.items() if number})


def _samples_that_pay(number: int, tried: TriedLoops, *, in_step: bool) -> _Asking[int]:
    """Find how many samples of a side a launch is best asked for."""
    pilot = Ask(number, tried.loops, PILOT_SAMPLES)
    pilots = list[Pilot]()
    for _ in range(PILOT_LAUNCHES):
        pilots += [(yield pilot)]
    brief = yield pilot._replace(samples=1)
    return choose_samples(pilots, tried.sample_ns, brief, in_step=in_step)
