"""The benchmarks inside programs: which both sides have, and how much of each a launch runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property

from steelyard.design.findings import some_names
from steelyard.design.runner.draws import draw_pair
from steelyard.design.runner.targets import check_harness_ended, decides_by_cpu, hooks, listed_by, samples_of
from steelyard.design.suite.loops import (
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
from steelyard.design.timing.recorder import Recorder, TargetLauncher, launched, of_side
from steelyard.model.errors import LaunchError, MeasurementError, UsageError
from steelyard.model.launches import LaunchSpec, Measured, Sample
from steelyard.model.metrics import timed
from steelyard.model.progress import Progress
from steelyard.model.records import Benchmark, Finding, Run, Subject, Weighing
from steelyard.subjects.command import launch_spec
from steelyard.subjects.harness import AUTO, Harness, Listed, Work, harness_named, recognised_harness
from steelyard.subjects.suite import CONTROL_NAME, MOST_BENCHMARKS

# A benchmark whose launches are slow to start gets the time for so many pairs: fewer show only what is large.
_FEWEST_PAIRS = 12

_NO_HARNESS = "is it a program of the harness that --harness names? For a plain command leave --harness out"


@dataclass(frozen=True)
class Selection:
    """What the user asked of a harness's benchmarks."""

    only: Sequence[str] = ()
    """Patterns of names (as in a shell); without any, all benchmarks."""
    tags: Sequence[str] = ()
    """Patterns of tags, of which a benchmark has to have one that fits; without any, all benchmarks."""
    seconds_each: float | None = None
    """How long each may take, if that is more in all than the time limit."""
    control: bool = False
    """Whether the baseline's first benchmark is weighed against itself."""


@dataclass(frozen=True)
class Planner:
    """Asks the subjects of a record for their benchmarks, and tries these."""

    record: Weighing | Run
    shared: Mapping[str, str]
    launcher: TargetLauncher
    watch: Callable[[Progress], None]
    interrupted: Callable[[], bool]
    _pair_s: dict[str | None, float] = field(default_factory=dict, init=False)
    """How long a pair of a benchmark takes, as its latest trial went, in seconds."""

    def planned(self, selection: Selection) -> Weighing | Run:
        """The record with its harness, should it be recognised, and with its benchmarks, their loops and samples.

        A benchmark that fails is in it as `failed`. Raises LaunchError if a harness does not list its benchmarks,
        UsageError if none is left, InterruptedByUser.
        """
        if self.record.settings.harness == AUTO:
            return self._recognised().planned(selection)
        lists = [self._listed(subject, min(place, 1)) for place, subject in enumerate(self.record.subjects)]
        if not lists[0]:
            raise MeasurementError(f"{self.record.subjects[0].name} lists no benchmark: is it the right program?")
        chosen = chosen_benchmarks(lists[0], selection.only, tags=selection.tags)
        benchmarks = _shared_benchmarks(self.record, lists, chosen)
        findings = _one_sided(self.record, [_fitting(listed, selection.only, selection.tags) for listed in lists])
        if selection.control:
            benchmarks.append(benchmarks[0].model_copy(update={"name": CONTROL_NAME, "candidate": 0, "control": True}))
        tried, failures = self._tried(benchmarks)
        settings = self.record.settings
        if selection.seconds_each is not None and settings.max_time_s is not None:
            each = [max(selection.seconds_each, _FEWEST_PAIRS * self._pair_s.get(one.entry, 0.0)) for one in tried]
            longest = max(settings.max_time_s, sum(each))
            settings = settings.model_copy(update={"max_time_s": longest})
        return self.record.model_copy(
            update={
                "settings": settings,
                "benchmarks": tried,
                "stop": ["failed" if one.entry in failures else "interrupted" for one in tried],
                "findings": [*self.record.findings, *findings, *failures.values()],
            }
        )

    def _recognised(self) -> Planner:
        """A planner for the same record, with the harness that its programs are of."""
        name = recognised_harness([self._spec(subject) for subject in self.record.subjects])
        settings = self.record.settings.model_copy(update={"harness": name})
        return replace(self, record=self.record.model_copy(update={"settings": settings}))

    def _listed(self, subject: Subject, side: int) -> list[Listed]:
        measured = self._launch(self._harness.listing(self._spec(subject)), side)
        return listed_by(self._harness, measured, subject.name, _NO_HARNESS)

    def _tried(self, benchmarks: Sequence[Benchmark]) -> tuple[list[Benchmark], dict[str | None, Finding]]:
        """The benchmarks with their loops and samples, and of those that failed why, by entry."""
        known: dict[str | None, tuple[int | None, int | None]] = {}
        failures: dict[str | None, Finding] = {}
        for number, benchmark in enumerate(benchmarks):
            if benchmark.entry in known:
                continue
            self.watch(Progress(f"trying {benchmark.entry}", number, len(benchmarks)))
            sides = {one.candidate for one in benchmarks if one.entry == benchmark.entry and not one.control}
            try:
                known[benchmark.entry] = self._amounts(
                    benchmark.entry or "", sorted(sides) if len(self.record.subjects) > 1 else []
                )
            except LaunchError as error:
                known[benchmark.entry] = (None, None)
                failures[benchmark.entry] = Finding(code="failed", message=str(error))
        amounts = [known[benchmark.entry] for benchmark in benchmarks]
        tried = [
            benchmark.model_copy(update={"loops": loops, "samples": samples})
            for benchmark, (loops, samples) in zip(benchmarks, amounts, strict=True)
        ]
        return tried, failures

    def _amounts(self, entry: str, candidates: Sequence[int]) -> tuple[int | None, int]:
        """(loops, samples) for all sides of a benchmark: the baseline decides, unless a candidate is far slower.

        No loops where the harness chooses them itself.
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
            loops = choose_loops(take)
        except NeverLongError as error:
            raise LaunchError(f"{self._called(0, entry)} {error}") from error
        if is_long(taken):
            return loops, fixed or 1
        tries = [taken, *(self._trial(number, entry)(loops, 1).samples for number in candidates)]
        loops = shared_loops(loops, tries)
        if fixed or not timed(self.record.settings.metrics):
            return loops, fixed or 1
        pilots = [baseline(loops, PILOT_SAMPLES) for _ in range(PILOT_LAUNCHES)]
        slowest_ns = loops * max(map(iteration_ns, tries))
        return loops, choose_samples(pilots, slowest_ns, brief=baseline(loops, 1))

    def _trial(self, number: int, entry: str) -> Callable[[int, int], Pilot]:
        """What runs a benchmark of a subject once, with so many loops, and samples if the harness can be asked."""
        settings = self.record.settings
        spec, name = self._spec(self.record.subjects[number]), self._called(number, entry)

        def run(loops: int, samples: int) -> Pilot:
            work = Work(entry, loops, self._harness.samples_a_launch or samples)
            measured = self._launch(self._harness.running(spec, work), min(number, 1))
            check_harness_ended(self._harness, measured, name)
            taken = samples_of(self._harness, measured, work, name, needs_cpu=decides_by_cpu(settings))
            self._pair_s[entry] = 2 * measured.wall_ns / 1e9
            return Pilot(measured.wall_ns - sum(sample.ns for sample in taken), taken)

        return run

    def _called(self, number: int, entry: str) -> str:
        return f"{self.record.subjects[number].name} ({entry})"

    @cached_property
    def _harness(self) -> Harness:
        return harness_named(self.record.settings.harness or "")

    def _spec(self, subject: Subject) -> LaunchSpec:
        settings = self.record.settings
        limit = settings.timeout_s if settings.timeout_s is not None else settings.max_time_s
        limited = settings.model_copy(update={"timeout_s": limit})
        return launch_spec(subject, limited, self.shared, draw_pair(settings.seed, 0, 0))

    @cached_property
    def _prepare(self) -> list[LaunchSpec]:
        return hooks("--prepare", self.record.settings.prepare, self.record.settings, self.shared)

    def _launch(self, spec: LaunchSpec, side: int = 0) -> Measured:
        if self._prepare:
            Recorder.check_surrounding("--prepare", self._run(of_side(self._prepare, side)))
        return self._run(spec)

    def _run(self, spec: LaunchSpec) -> Measured:
        return launched(self.launcher, spec, self.interrupted)


def chosen_benchmarks(
    listed: Sequence[Listed], patterns: Sequence[str], whose: str = "the baseline's", tags: Sequence[str] = ()
) -> list[Listed]:
    """Those whose name fits one of the patterns and one of whose tags fits one of `tags`; all, where none are given.

    Raises UsageError for a pattern that none fits.
    """
    names, known = [one.name for one in listed], sorted({tag for one in listed for tag in one.tags})
    for pattern in patterns:
        if not _fits(names, [pattern]):
            raise UsageError(f"--benchmark {pattern!r} is none of {whose} benchmarks: {some_names(names)}")
    for pattern in tags:
        if not _fits(known, [pattern]):
            raise UsageError(f"--tag {pattern!r} is on none of {whose} benchmarks: {some_names(known) or 'no tags'}")
    chosen = _fitting(listed, patterns, tags)
    if listed and not chosen:
        raise UsageError("--benchmark and --tag together choose no benchmark: it has to fit both")
    return chosen


def _fitting(listed: Sequence[Listed], patterns: Sequence[str], tags: Sequence[str]) -> list[Listed]:
    return [
        one for one in listed if (not patterns or _fits([one.name], patterns)) and (not tags or _fits(one.tags, tags))
    ]


def _fits(names: Sequence[str], patterns: Sequence[str]) -> bool:
    """Whether any of the names fits any of the patterns."""
    # A name as it stands goes first: brackets are common in names.
    return any(name == pattern or fnmatchcase(name, pattern) for name in names for pattern in patterns)


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
