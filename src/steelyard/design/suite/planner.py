"""The benchmarks inside programs: which both sides have, and how much of each a launch runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from steelyard.design.findings import not_measured_finding, other_work_finding, some_names
from steelyard.design.runner.draws import draw_pair
from steelyard.design.runner.failure import TookTooLongError
from steelyard.design.runner.runner import Runner
from steelyard.design.runner.target import HARNESS_REMEDY, LIST_REMEDY, Target, listing_target, read_list
from steelyard.design.runner.targets import decides_by_cpu, of_first_layout, with_time_limit
from steelyard.design.suite.loops import (
    LEAST_SAMPLES,
    PILOT_LAUNCHES,
    PILOT_SAMPLES,
    NeverLongError,
    Pilot,
    choose_loops,
    choose_samples,
    is_long,
    iteration_ns,
    shared_loops,
)
from steelyard.design.suite.pilot_time import REFINEMENT, PilotTime
from steelyard.design.suite.selection import Selection, chosen_benchmarks, fitting
from steelyard.design.suite.shards import dealt
from steelyard.measure.still import can_stand_still
from steelyard.model.errors import LaunchError, MeasurementError, UsageError
from steelyard.model.launches import LaunchSpec, Sample
from steelyard.model.metrics import timed
from steelyard.model.progress import Progress
from steelyard.model.records import Benchmark, Finding, Run, Subject, Weighing
from steelyard.model.throughput import Processed, processed_of
from steelyard.subjects.command import launch_spec
from steelyard.subjects.harness import AUTO, Harness, Listed, Work, harness_named, recognised_harness
from steelyard.subjects.suite import CONTROL_NAME, MOST_BENCHMARKS

# A benchmark whose launches are slow to start gets the time for so many pairs: fewer show only what is large.
_FEWEST_PAIRS = 12


@dataclass(frozen=True)
class Planner:
    """Asks the subjects of a record for their benchmarks, and tries these."""

    record: Weighing | Run
    shared: Mapping[str, str]
    runner: Runner
    watch: Callable[[Progress], None]
    time: PilotTime = field(default_factory=lambda: PilotTime(lambda: 0.0))
    _pair_s: dict[str | None, float] = field(default_factory=dict, init=False)
    """How long a pair of a benchmark takes, as its latest trial went, in seconds."""
    _processed: dict[tuple[int, str | None], dict[str, float]] = field(default_factory=dict, init=False)
    """What an iteration of a subject's benchmark processes, as it was told, by the unit."""

    def planned(self, selection: Selection) -> Weighing | Run:
        """The record with its harness, should it be recognised, and with its benchmarks, their loops and samples.

        A benchmark that fails is in it as `failed`; those that the time is too short for are named. Raises LaunchError
        if a harness does not list its benchmarks, UsageError if none is left, Interrupted.
        """
        if self.record.settings.harness == AUTO:
            return self._recognised().planned(selection)
        if self.record.settings.clock is None and self._can_stand_still():
            return self._with(clock="still").planned(selection)
        begun = self.time.clock()
        lists = self.lists()
        self._processed.update({(place, one.name): one.processed for place, of in enumerate(lists) for one in of})
        self.time.begin(len(lists), begun)
        if not lists[0]:
            raise MeasurementError(f"{self.record.subjects[0].name} lists no benchmark: is it the right program?")
        chosen = chosen_benchmarks(lists[0], selection.only, tags=selection.tags)
        benchmarks = _shared_benchmarks(self.record, lists, chosen)
        settings = self.record.settings
        if selection.shard is not None:
            benchmarks, shard = dealt(benchmarks, selection.shard)
            settings = settings.model_copy(update={"shard": shard})
        wanted = [fitting(listed, selection.only, selection.tags) for listed in lists]
        findings = _one_sided(self.record, wanted)
        if selection.control:
            benchmarks.append(benchmarks[0].model_copy(update={"name": CONTROL_NAME, "candidate": 0, "control": True}))
        tried, failures, missed = self._tried(benchmarks)
        tried = [one.model_copy(update={"processed": self._what(one, selection)}) for one in tried]
        findings += [*failures.values(), *other_work_finding(tried), *not_measured_finding(missed)]
        if selection.seconds_each is not None and settings.max_time_s is not None:
            each = [max(selection.seconds_each, _FEWEST_PAIRS * self._pair_s.get(one.entry, 0.0)) for one in tried]
            longest = max(settings.max_time_s, sum(each))
            settings = settings.model_copy(update={"max_time_s": longest})
        return self.record.model_copy(
            update={
                "settings": settings,
                "benchmarks": tried,
                "stop": ["failed" if one.entry in failures else "interrupted" for one in tried],
                "findings": [*self.record.findings, *findings],
            }
        )

    def _what(self, benchmark: Benchmark, selection: Selection) -> list[Processed]:
        """What a benchmark processes: as the user says, else as its sides tell."""
        if selection.processed:
            return [*selection.processed]
        baseline, candidate = (
            self._processed.get((place, benchmark.entry), {}) for place in (benchmark.baseline, benchmark.candidate)
        )
        return processed_of(baseline, candidate)

    def lists(self) -> list[list[Listed]]:
        """What each subject lists."""
        return [self._listed(subject, min(place, 1)) for place, subject in enumerate(self._subjects)]

    def _recognised(self) -> Planner:
        """A planner for the same record, with the harness that its programs are of."""
        return self._with(harness=recognised_harness([self._spec(subject) for subject in self._subjects]))

    def _with(self, **update: str) -> Planner:
        settings = self.record.settings.model_copy(update=update)
        return replace(self, record=self.record.model_copy(update={"settings": settings}))

    def _can_stand_still(self) -> bool:
        """Whether what a harness tells as elapsed time shall be without waiting, and can be."""
        times = timed(self.record.settings.metrics)
        is_wanted = self._harness.stands_still and "active" in times and "wall" not in times
        return is_wanted and all(can_stand_still(Path(subject.program)) for subject in self._subjects)

    def _listed(self, subject: Subject, side: int) -> list[Listed]:
        target = listing_target(self._harness, self._spec(subject), subject.name, LIST_REMEDY, side)
        return read_list(self._harness, self.runner.trial(target).measured, subject.name)

    def _tried(self, benchmarks: Sequence[Benchmark]) -> tuple[list[Benchmark], dict[str | None, Finding], list[str]]:
        """The benchmarks with their loops and samples, of those that failed why, by entry, and what was not reached."""
        known: dict[str | None, tuple[int | None, int | None]] = {}
        failures: dict[str | None, Finding] = {}
        missed: dict[str | None, str] = {}
        for number, benchmark in enumerate(benchmarks):
            if benchmark.entry in known or benchmark.entry in missed:
                continue
            if self.time.is_up(tried=bool(known)):
                missed[benchmark.entry] = benchmark.entry or ""
                continue
            self.watch(Progress(f"trying {benchmark.entry}", number, len(benchmarks)))
            sides = {one.candidate for one in benchmarks if one.entry == benchmark.entry and not one.control}
            candidates = sorted(sides) if len(self.record.subjects) > 1 else []
            try:
                known[benchmark.entry] = self._amounts(benchmark.entry or "", candidates, len(benchmarks) - number)
                self.time.keep(max(1, len(candidates)) * self._pair_s[benchmark.entry])
            except LaunchError as error:
                if isinstance(error, TookTooLongError) and self.time.is_up(tried=bool(known)):
                    missed[benchmark.entry] = benchmark.entry or ""
                    continue
                known[benchmark.entry] = (None, None)
                failures[benchmark.entry] = Finding(code="failed", message=str(error))
        amounts = [(benchmark, known[benchmark.entry]) for benchmark in benchmarks if benchmark.entry in known]
        tried = [
            benchmark.model_copy(update={"loops": loops, "samples": samples}) for benchmark, (loops, samples) in amounts
        ]
        return tried, failures, [*missed.values()]

    def _amounts(self, entry: str, candidates: Sequence[int], left: int) -> tuple[int | None, int]:
        """(loops, samples) for all sides of a benchmark: the baseline decides, unless a candidate is far slower.

        No loops where the harness chooses them itself. With too little time for the `left` benchmarks, this one
        included, they are rougher.
        """
        baseline, fixed = self._trial(0, entry), self._harness.samples_a_launch
        taken: Sequence[Sample] = ()

        def take(loops: int, samples: int) -> Sequence[Sample]:
            nonlocal taken
            taken = baseline(loops, samples).samples
            return taken

        if not self._harness.fixes_loops:
            for trial in (baseline, *(self._trial(number, entry) for number in candidates)):
                trial(1, PILOT_SAMPLES)
            return None, fixed or PILOT_SAMPLES
        try:
            loops = choose_loops(take, hurried=self.time.is_short(left))
        except NeverLongError as error:
            raise LaunchError(f"{self._called(0, entry)} {error}") from error
        if is_long(taken):
            return loops, fixed or 1
        tries = [taken, *(self._trial(number, entry)(loops, 1).samples for number in candidates)]
        loops = shared_loops(loops, tries)
        if fixed or not timed(self.record.settings.metrics):
            return loops, fixed or 1
        if self.time.is_short(left, REFINEMENT, self._pair_s[entry] / 2):
            return loops, LEAST_SAMPLES
        pilots = [baseline(loops, PILOT_SAMPLES) for _ in range(PILOT_LAUNCHES)]
        slowest_ns = loops * max(map(iteration_ns, tries))
        return loops, choose_samples(pilots, slowest_ns, brief=baseline(loops, 1))

    def _trial(self, number: int, entry: str) -> Callable[[int, int], Pilot]:
        """What runs a benchmark of a subject once, with so many loops, and samples if the harness can be asked."""
        harness, needs_cpu = self._harness, decides_by_cpu(self.record.settings)
        spec, name = self._spec(self._subjects[number]), self._called(number, entry)

        def run(loops: int, samples: int) -> Pilot:
            still = self.record.settings.clock == "still"
            work = Work(entry, loops, harness.samples_a_launch or samples, still=still)
            target = Target(
                name,
                harness.running(self.time.limited(spec), work),
                min(number, 1),
                None,
                harness,
                work,
                needs_cpu,
                remedy=HARNESS_REMEDY,
            )
            reading = self.runner.trial(target)
            self._pair_s[entry] = 2 * reading.measured.wall_ns / 1e9
            if told := harness.processed(reading.measured, work):
                self._processed[number, entry] = told
            return Pilot(reading.measured.wall_ns - sum(sample.ns for sample in reading.samples), reading.samples)

        return run

    def _called(self, number: int, entry: str) -> str:
        return f"{self.record.subjects[number].name} ({entry})"

    @cached_property
    def _subjects(self) -> list[Subject]:
        """What is asked and tried: of several layouts the first."""
        settings, roles = self.record.settings, ["baseline", *["candidate"] * (len(self.record.subjects) - 1)]
        named = zip(self.record.subjects, roles, strict=True)
        return [of_first_layout(subject, settings, role) for subject, role in named]

    @cached_property
    def _harness(self) -> Harness:
        return harness_named(self.record.settings.harness or "")

    def _spec(self, subject: Subject) -> LaunchSpec:
        settings = self.record.settings
        # Of a suite many may hang: none of them has the longer time that slow launches are granted unasked.
        usual = self.record.model_copy(update={"settings": settings.model_copy(update={"longest_time_s": None})})
        return launch_spec(subject, with_time_limit(usual), self.shared, draw_pair(settings.seed, 0, 0))


def relist(record: Weighing | Run, shared: Mapping[str, str], runner: Runner) -> None:
    """Have the harness of a record that is carried on read the lists of its programs, if it runs none without.

    Raises LaunchError if one does not list its benchmarks any more, Interrupted.
    """
    if harness_named(record.settings.harness or "").lists_first:
        planner = Planner(record, shared, runner, lambda progress: None)  # noqa: ARG005 - it takes no time
        planner.lists()


def _shared_benchmarks(
    record: Weighing | Run, lists: Sequence[Sequence[Listed]], chosen: Sequence[Listed]
) -> list[Benchmark]:
    """The chosen benchmarks that the baseline and a candidate have."""
    candidates = range(1, len(lists)) if len(lists) > 1 else range(1)
    names = [{one.name for one in listed} for listed in lists]
    several = len(candidates) > 1
    benchmarks = [
        Benchmark(
            name=f"{record.subjects[number].name}, {one.name}" if several else one.name,
            candidate=number if isinstance(record, Weighing) else 1,
            entry=one.name,
            tags=list(one.tags),
        )
        for one in chosen
        for number in candidates
        if one.name in names[number]
    ]
    if not benchmarks:
        theirs = sorted(set().union(*names[1:]))
        raise MeasurementError(
            f"there is no benchmark to compare: of the baseline {some_names([one.name for one in chosen])} would be, "
            f"and the {'candidates have' if several else 'candidate has'} {some_names(theirs) or 'none'}"
        )
    if len(benchmarks) > MOST_BENCHMARKS:
        raise UsageError(f"these are more than {MOST_BENCHMARKS} benchmarks: choose some with --benchmark")
    return benchmarks


def _one_sided(record: Weighing | Run, lists: Sequence[Sequence[Listed]]) -> list[Finding]:
    """What is said of benchmarks that only the baseline or only a candidate has."""
    found = []
    for candidate in range(1, len(lists)):
        name = record.subjects[candidate].name
        for code, place, one, other in (("removed", "not", 0, candidate), ("added", "only", candidate, 0)):
            known = {listed.name for listed in lists[other]}
            lonely = [listed.name for listed in lists[one] if listed.name not in known]
            if lonely:
                found.append(Finding(code=code, message=f"{place} in {name}, so not compared: {some_names(lonely)}"))
    return found
