"""Trials of a suite's benchmarks: how many iterations a sample has on both sides, and how many samples a launch."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import ceil, inf
from typing import TypeVar

from steelyard.design.findings import own_starts_finding
from steelyard.design.runner.failure import TookTooLongError
from steelyard.design.suite.amounts import Amounts, Ask, Tried, long_sides
from steelyard.design.suite.loops import (
    LEAST_SAMPLES,
    PILOT_LAUNCHES,
    PILOT_SAMPLES,
    TARGET_NS,
    TURN_NS,
    Amount,
    NeverLongError,
    Pilot,
    answered,
    are_far_apart,
    asking_loops,
    choose_samples,
    computes_alone,
    first_samples,
    is_long,
    iteration_ns,
    long_samples_in_step,
    may_hide_more,
    process_amounts,
    shared_loops,
)
from steelyard.design.suite.pilot_time import REFINEMENT
from steelyard.design.suite.pilots import Pilots
from steelyard.model.errors import LaunchError
from steelyard.model.kept import Finding
from steelyard.model.metrics import PER_ITERATION, timed
from steelyard.model.progress import Progress, Watch
from steelyard.model.rows import Sample, judged_samples
from steelyard.model.subject import Benchmark
from steelyard.report.figures import count, seconds

# At least this many launches are left once several benchmarks have been tried together: for their loops, and for a
# pair.
_MORE_LAUNCHES = 4
# How often processor time is tried beside elapsed time, which other work may have lengthened; more often if only that
# speaks against it.
_TRIES, _MOST_TRIES, _TRY_SAMPLES, _FEWEST_LOOPS = 3, 6, 8, 8

_Found = TypeVar("_Found")
_Asking = Generator[Ask, Pilot, _Found]


@dataclass
class _Trial:
    """One benchmark while it is tried together with others."""

    asking: _Asking[Amounts]
    ask: Ask | None = None
    amounts: Amounts | None = None

    def go_on(self, pilot: Pilot | LaunchError | None = None) -> None:
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
    missed: list[str] = field(default_factory=list)
    """The entries of those that were not reached."""
    findings: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._settings, self._harness, self._time = self.pilots.settings, self.pilots.harness, self.pilots.time

    def try_all(self, benchmarks: Sequence[Benchmark]) -> None:
        """Try each benchmark once, however many candidates have it; raises Interrupted."""
        found: dict[str, set[int]] = {}
        for one in benchmarks:
            has_candidate = len(self.pilots.subjects) > 1 and not one.control
            found.setdefault(one.entry or "", set()).update([one.candidate] if has_candidate else [])
        sides = {entry: sorted(candidates) for entry, candidates in found.items()}
        if self.shares_starts:
            self._try_together(sides)
        for number, (entry, candidates) in enumerate(sides.items()):
            if entry not in self.known:
                self.watch(Progress(f"trying {entry}", number, len(sides), noun="benchmark"))
                self._try(entry, candidates, len(sides) - number)

    def _try(self, entry: str, candidates: Sequence[int], left: int) -> None:
        """Try one benchmark by itself; `left` are still to be tried, this one included."""
        tried = bool(self.known)
        if self._time.is_up(tried=tried):
            self.missed.append(entry)
            return
        in_step = self._settings.pairing == "tandem" and self._harness.keeps_step
        asking = self._amounts(entry, candidates, left, in_step=in_step)
        try:
            self._keep(entry, candidates, answered(asking, partial(self.pilots.of_one, entry)))
        except LaunchError as error:
            if isinstance(error, TookTooLongError) and self._time.is_up(tried=tried):
                self.missed.append(entry)
            else:
                self.known[entry] = Amounts()
                self.failures[entry] = Finding(code="failed", message=str(error))

    def _keep(self, entry: str, candidates: Sequence[int], amounts: Amounts) -> None:
        self.known[entry] = amounts._replace(clock="plain") if entry in self.pilots.plain else amounts
        self._time.keep(max(1, len(candidates)) * self.pilots.pair_s[entry])

    def _amounts(
        self, entry: str, candidates: Sequence[int], left: int, at_once: int = 1, *, in_step: bool = False
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
        baseline = yield from self._loops(0, entry, target_ns, hurried=hurried)
        if is_long(baseline.taken):
            samples = fixed or (long_samples_in_step(baseline.taken) if in_step else 1)
            faster = yield from self._beside_long(baseline, samples, entry, candidates, left)
            sides = long_sides({0: baseline, **faster}) if faster else {0: baseline.loops}
            return Amounts(sides.pop(0), samples, own_loops=sides)
        tries, own = yield from self._beside(baseline, entry, candidates, target_ns, hurried=hurried)
        loops = shared_loops(baseline.loops, tries, target_ns)
        own_loops = {number: one.loops for number, one in own.items()}
        if fixed or not timed(self._settings.metrics):
            return Amounts(loops, fixed or 1, own_loops=own_loops)
        tried = {0: Tried(loops, max(tries, key=iteration_ns)), **own}
        longest = max(tried, key=lambda number: tried[number].sample_ns)
        if own and is_long(tried[longest].taken):
            sides = long_sides(tried)
            return Amounts(sides.pop(0), long_samples_in_step(tried[longest].taken) if in_step else 1, own_loops=sides)
        if self._time.is_short(left, REFINEMENT, self.pilots.pair_s[entry] / 2):
            return Amounts(loops, LEAST_SAMPLES, own_loops=own_loops)
        if self.pilots.times_processes and not own and (found := (yield from self._by_process(tries, candidates))):
            return found
        # Where sides have loops of their own, the one whose samples cost most tells how many samples pay.
        pilot = Ask(longest, tried[longest].loops, PILOT_SAMPLES)
        pilots = list[Pilot]()
        for _ in range(PILOT_LAUNCHES):
            pilots += [(yield pilot)]
        brief = yield pilot._replace(samples=1)
        samples = choose_samples(pilots, tried[longest].sample_ns, brief, in_step=in_step)
        return Amounts(loops, samples, own_loops=own_loops)

    def _beside(
        self, baseline: Tried, entry: str, candidates: Sequence[int], target_ns: int, *, hurried: bool
    ) -> _Asking[tuple[list[Sequence[Sample]], dict[int, Tried]]]:
        """Try the candidates; return the samples of the sides that have the baseline's loops, and those with their own.

        A candidate is tried with the baseline's loops. If that takes far longer, or its iteration far less, it is tried
        as the baseline was, with few loops first.
        """
        tries, own = [baseline.taken], dict[int, Tried]()
        for number in candidates:
            ask = Ask(number, baseline.loops, first_samples(baseline.loops), is_given_up=True)
            first = (yield ask).samples
            taken = judged_samples(first)
            if taken and not self._may_differ(baseline.taken, taken) and not may_hide_more(first, baseline.taken):
                tries.append(taken)
                continue
            if taken and baseline.loops == 1 and iteration_ns(taken) > iteration_ns(baseline.taken):
                found = Tried(1, taken)  # there are no fewer
            else:
                found = yield from self._loops(number, entry, target_ns, hurried=hurried)
            if self._may_differ(baseline.taken, found.taken):
                own[number] = found
            else:
                tries.append(found.taken)
        return tries, own

    def _beside_long(
        self, baseline: Tried, samples: int, entry: str, candidates: Sequence[int], left: int
    ) -> _Asking[dict[int, Tried]]:
        """Find the candidates that are far faster than a baseline whose single iteration is a long sample.

        All others run one iteration, too, as do all if there is too little time to find that out.
        """
        faster = dict[int, Tried]()
        for number in candidates if self._judges_iterations else ():
            if self._time.is_short(left, _MORE_LAUNCHES, self.pilots.pair_s[entry] / 2):
                break
            taken = judged_samples((yield Ask(number, 1, min(samples, 2), is_given_up=True)).samples)
            if taken and not is_long(taken) and self._may_differ(baseline.taken, taken):
                faster[number] = yield from self._loops(number, entry, TARGET_NS, hurried=False)
        return faster

    def _may_differ(self, one: Sequence[Sample], other: Sequence[Sample]) -> bool:
        """Whether these sides have loops of their own."""
        return self._judges_iterations and are_far_apart(one, other)

    @property
    def _judges_iterations(self) -> bool:
        """Whether no metric is of a launch as a whole, for which both sides would have to do the same amount."""
        return self._settings.heap is None and set(self._settings.metrics) <= set(PER_ITERATION)

    def _by_process(self, tries: Sequence[Sequence[Sample]], candidates: Sequence[int]) -> _Asking[Amounts | None]:
        """Find the amounts of launches timed by their processor time; None if that is not the time of their work.

        It has to be so on both sides (`computes_alone`); `tries` have a try of each.
        """
        each = [0, *candidates]
        usual_ns, alone_ns = [iteration_ns(samples) for samples in tries], [inf] * len(each)
        amounts, loops = process_amounts(usual_ns), max(_FEWEST_LOOPS, tries[0][0].loops)
        if amounts is None or any(self.pilots.target("", Ask(one, *amounts, True)).start is None for one in each):
            return None
        for tried in range(1, _MOST_TRIES + 1):
            if not (yield from self._least_times(each, loops, usual_ns, alone_ns)):
                return None
            # Other work may have made the first times many times too long: so few iterations would be lost in the
            # start.
            amounts = process_amounts([*map(min, usual_ns, alone_ns)])
            if amounts is None or (wholes := (yield from self._wholes(each, amounts))) is None:
                return None
            if all(map(computes_alone, wholes, usual_ns, alone_ns)):
                return Amounts(*amounts, "process")
            if tried >= _TRIES and not all(map(computes_alone, wholes, map(min, usual_ns, alone_ns), alone_ns)):
                return None
        return None

    def _least_times(
        self, each: Sequence[int], loops: int, usual_ns: list[float], alone_ns: list[float]
    ) -> _Asking[bool]:
        """Lower the known least times of an iteration, as usual and on one processor; return whether it tells them."""
        for place, number in enumerate(each):
            usual = yield Ask(number, loops, _TRY_SAMPLES)
            alone = yield Ask(number, loops, _TRY_SAMPLES, by_process=True)
            if not alone.samples:
                return False
            usual_ns[place] = min(usual_ns[place], iteration_ns(usual.samples))
            alone_ns[place] = min(alone_ns[place], iteration_ns(alone.samples))
        return True

    def _wholes(self, each: Sequence[int], amounts: Amount) -> _Asking[list[Sample] | None]:
        """Return the one sample of each side's launch timed by its processor time; None if one tells none."""
        wholes = []
        for number in each:
            whole = yield Ask(number, *amounts, by_process=True)
            if not whole.samples:
                return None
            wholes.append(whole.samples[0])
        return wholes

    def _loops(self, number: int, entry: str, target_ns: int, *, hurried: bool) -> _Asking[Tried]:
        """Find the iterations that a subject's samples need."""
        asking, taken = asking_loops(target_ns, hurried=hurried), list[Sample]()
        try:
            amount = next(asking)
            while True:
                taken = [*(yield Ask(number, *amount)).samples]
                if number and amount == (1, 1) and is_long(taken):  # or does it load, or compile, at its first call?
                    taken = judged_samples((yield Ask(number, 1, 2, is_given_up=True)).samples) or taken
                amount = asking.send(taken)
        except StopIteration as end:
            return Tried(end.value, taken)
        except NeverLongError as error:
            raise LaunchError(f"{self.pilots.called(number, entry)} {error}") from error

    def _try_together(self, sides: Mapping[str, Sequence[int]]) -> None:
        """Try all of them at once; those that come to nothing that way are left to be tried by themselves."""
        many = len(sides)
        self.watch(Progress(f"trying {count(many, 'benchmark')} at once", 0, many, noun="benchmark"))
        trials = {
            entry: _Trial(self._amounts(entry, candidates, many, many, in_step=True))
            for entry, candidates in sides.items()
        }
        for trial in trials.values():
            trial.go_on()
        try:
            self._round(trials)
            if self._time.is_short(1, _MORE_LAUNCHES, self.pilots.launch_s):
                raise LaunchError(f"one takes {seconds(self.pilots.launch_s)}, which leaves too little time for pairs")
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
        """Run what the trials ask for, one launch for each subject; return whether they asked for anything."""
        asks = {entry: trial.ask for entry, trial in trials.items() if trial.ask}
        # What may be given up has launches of its own: the others may take longer.
        for launch in sorted({(ask.subject, ask.is_given_up) for ask in asks.values()}):
            theirs = {entry: ask for entry, ask in asks.items() if (ask.subject, ask.is_given_up) == launch}
            for entry, pilot in self.pilots.of_several(*launch, theirs).items():
                trials[entry].go_on(pilot)
        return bool(asks)
