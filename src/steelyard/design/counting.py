"""The counting part of a weighing or run: each side twice, side by side, and more often where counts do not repeat."""

from __future__ import annotations

import hashlib
import os
import time
from collections import Counter as Tally
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from steelyard.design.count_findings import (
    differing_finding,
    forked_finding,
    lost_finding,
    not_pinned_finding,
    replaced_finding,
    went_around_finding,
)
from steelyard.design.draws import draw_pair
from steelyard.design.findings import left_behind_finding
from steelyard.design.recorder import InterruptedByUser, Recorder
from steelyard.design.targets import called, hooks, subject_of
from steelyard.measure.count.counter import Counted, Counter, Launching
from steelyard.measure.count.crew import Crew
from steelyard.measure.count.native import PRELOAD
from steelyard.measure.count.pins import environment, is_dynamic
from steelyard.measure.count.profile import FunctionCost
from steelyard.measure.count.valgrind import Valgrind
from steelyard.measure.launch import Launcher
from steelyard.model.counting import (
    INSTRUCTIONS,
    Count,
    CountedProcess,
    Counting,
    CountSettings,
    CountTool,
    Functions,
)
from steelyard.model.errors import MeasurementError, SteelyardError, UsageError
from steelyard.model.launches import LaunchSpec, Measured
from steelyard.model.metrics import timed
from steelyard.model.progress import Progress
from steelyard.model.records import Finding, Run, StopReason, Weighing
from steelyard.stats.counts import FIRST_COUNTS, counts_needed, stability
from steelyard.subjects.command import PASSED_ON, launch_spec, shared_environment
from steelyard.subjects.programs import Programs

# More functions than these are a browser's; the smaller ones are kept as one sum.
_MOST_FUNCTIONS = 20_000
_LIBRARIES = ("libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libstdc++.so.6")
_LIBRARY_FOLDERS = ("/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib", "/lib")

Place = tuple[int, int]
"""(benchmark, side)"""


class CountSink(Protocol):
    """Where counts go as they come."""

    def count(self, count: Count, functions: Functions | None) -> None:
        """Keep one count."""


def is_complete(record: Weighing | Run) -> bool:
    """Whether all that is to be counted was."""
    return not missing(record)


def missing(record: Weighing | Run) -> list[Place]:
    """What is still to be counted, one place a count: two of each side, and more of a benchmark that differs."""
    counts = record.counting.counts if record.counting else []
    done = Tally((count.benchmark, count.side) for count in counts)
    places = _places(record)
    first = _short(places, done, FIRST_COUNTS)
    if first:
        return first
    members = max(1, len({benchmark for benchmark, _ in places}))
    differing = [place for place in places if not _repeats(counts, place[0])]
    return _short(differing, done, counts_needed(record.settings.alpha / members))


def _short(places: Sequence[Place], done: Mapping[Place, int], wanted: int) -> list[Place]:
    """The places that have fewer counts than are wanted, in rounds: after each both sides have as many."""
    return [place for number in range(wanted) for place in places if done.get(place, 0) <= number]


def _repeats(counts: Sequence[Count], benchmark: int) -> bool:
    sides = [
        [float(count.events[event]) for count in counts if (count.benchmark, count.side) == (benchmark, side)]
        for side in (0, 1)
        for event in counts[0].events
    ]
    return all(stability(side, side) == "exact" for side in sides)


class CountingStage:
    """Counts what a record asks for, `jobs` launches at once. Raises MeasurementError without a usable Valgrind."""

    def __init__(self, header: Weighing | Run, source: Mapping[str, str], jobs: int) -> None:
        settings = header.settings
        self._settings = settings.counting or CountSettings()
        valgrind = Valgrind.found(source.get("PATH"))
        self._begun = _begun(header, _tool(header, self._settings, valgrind))
        self.header = header.model_copy(update={"counting": self._begun})
        """The record before anything more is counted."""
        self._source = source
        self._prepare = hooks("--prepare", settings.prepare, settings, shared_environment(settings, source))
        self._cleanup = hooks("--cleanup", settings.cleanup, settings, shared_environment(settings, source))
        # What has to run before each launch must not meet another launch's work.
        self._crew = Crew(valgrind, self._settings, 1 if self._prepare else jobs)
        self._cancelled = False
        self._counts = list(self._begun.counts)
        self._functions = list(self._begun.functions)
        self._programs = Programs()
        self._differing: dict[int, list[str]] = {}
        self._noted: dict[int, list[Finding]] = {}
        self._others_ns: dict[int, int] = {}
        self._left_behind: list[str] = []

    def cancel(self) -> None:
        """Stop; for a signal handler."""
        self._cancelled = True
        self._crew.cancel()

    def run(
        self, launcher: Launcher, sink: CountSink, watch: Callable[[Progress], None]
    ) -> tuple[Weighing | Run, SteelyardError | None]:
        """Count; the record with all that was counted, and why it failed if it did. `watch` is told of every count."""
        begun, self._sink, self._watch = time.monotonic(), sink, watch
        reason: StopReason = "decided"
        error: SteelyardError | None = None
        try:
            self._count_all(launcher)
            if not timed(self.header.settings.metrics):  # else there is more to come
                self._clean_up(launcher)
        except InterruptedByUser:
            reason = "interrupted"
        except SteelyardError as failure:
            reason, error = "failed", failure
        found = [*([Finding(code="failed", message=str(error))] if error else []), *self._findings()]
        return self._counted().model_copy(
            update={
                "stop": [reason] * len(self.header.benchmarks),
                "seconds": time.monotonic() - begun,
                "findings": [*self.header.findings, *(one for one in found if one not in self.header.findings)],
            }
        ), error

    def _count_all(self, launcher: Launcher) -> None:
        left = missing(self.header)
        self._run_as_they_are(launcher, list(dict.fromkeys(left)))
        with self._crew:
            while left:
                self._count(left)
                left = missing(self._counted())

    def _counted(self) -> Weighing | Run:
        counting = self._begun.model_copy(update={"counts": self._counts, "functions": self._functions})
        return self.header.model_copy(update={"counting": counting})

    def _findings(self) -> list[Finding]:
        """What the record should say of the counts; by benchmark, as far as it is about one."""
        found = [not_pinned_finding(what) for what in self._begun.tool.not_pinned]
        for number, benchmark in enumerate(self.header.benchmarks):
            counts = [count for count in self._counts if count.benchmark == number]
            if any(count.forked for count in counts):
                found.append(forked_finding(benchmark.name, max(count.forked for count in counts)))
            found += self._noted.get(number, [])
            if names := self._differing.get(number):
                programs = [subject.program for subject in self.header.subjects]
                found.append(differing_finding(benchmark.name, names, programs, self._others_ns.get(number, 0)))
        return found + left_behind_finding(self._left_behind)

    def _run_as_they_are(self, launcher: Launcher, places: Sequence[Place]) -> None:
        """Each target once without Valgrind: a command that fails does so at once, and files it caches are there."""
        for place in places:
            for spec in self._specs(place):
                self._prepared(launcher, place)
                measured = launcher.launch(replace(spec, timeout_ns=self._limit_ns(spec)))
                self._check(measured, place)
                self._left_behind += measured.left_behind
                self._others_ns[place[0]] = max(self._others_ns.get(place[0], 0), measured.others_ns or 0)

    def _prepared(self, launcher: Launching, place: Place) -> None:
        """What has to be done before each launch, and a look whether the target is still the same program."""
        if self._prepare:
            self._surround("--prepare", launcher, self._prepare[min(place[1], len(self._prepare) - 1)])
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

    def _limit_ns(self, spec: LaunchSpec) -> int | None:
        seconds = self.header.settings.max_time_s
        return spec.timeout_ns or (None if seconds is None else round(seconds * 1e9))

    def _count(self, places: Sequence[Place]) -> None:
        tasks = [self._task(place) for place in places]
        done = 0
        with closing(self._crew.count_all(tasks)) as counting:
            for number, counted in counting:
                self._keep(places[number], counted)
                done += 1
                name = self.header.benchmarks[places[number][0]].name
                self._watch(Progress(name, len(self._counts), len(self._counts) + len(places) - done))
        if done < len(tasks):
            raise InterruptedByUser

    def _task(self, place: Place) -> Callable[[Counter], Counted]:
        def task(counter: Counter) -> Counted:
            parts = []
            for spec in self._specs(place):
                self._prepared(counter.launcher, place)
                part = counter.count(spec)
                if part.measured.cancelled:
                    return part
                self._check(part.measured, place)
                parts.append(part)
            counted = parts[0] if len(parts) == 1 else slope(*parts)
            self._refuse_nothing(counted, place)
            return counted

        return task

    def _refuse_nothing(self, counted: Counted, place: Place) -> None:
        """No instruction at all is no count: nothing had the counting begin."""
        if counted.events[INSTRUCTIONS] > 0:
            return
        name = called(self.header, place[0], subject_of(self.header, *place).name)
        if self._settings.body:
            raise MeasurementError(
                f"{name} executed nothing between start and stop requests: does it use CALLGRIND_START_INSTRUMENTATION "
                "and reach it? Else leave --body out"
            )
        raise MeasurementError(
            f"nothing of {name} was counted: --after-start takes a program that the C library's loader starts "
            "(no static one, no other C library); leave it out"
        )

    def _specs(self, place: Place) -> list[LaunchSpec]:
        """What is launched for one count: the target, or with `loops` the target with so many and with twice them."""
        settings = self.header.settings
        pinned = environment(
            self._source,
            [name for name in settings.environment if name not in PASSED_ON],
            settings.variables,
            preload=True,
            start=self._settings.after_start,
        )
        subjects = [
            subject_of(self.header, *place, times=times) for times in ((1,) if self._settings.loops is None else (1, 2))
        ]
        specs = [launch_spec(one, settings, pinned, draw_pair(0, 0, 0)) for one in subjects]
        env = tuple(os.fsencode(f"{name}={value}") for name, value in pinned.items())
        # One process, however many make a launch that is timed: counts need no length.
        return [replace(spec, env=env, repeat=1) for spec in specs]

    def _check(self, measured: Measured, place: Place) -> None:
        name = called(self.header, place[0], subject_of(self.header, *place).name)
        Recorder.check_ended(measured, name, self.header.settings.ignore_failure)

    def _keep(self, place: Place, counted: Counted) -> None:
        count = Count(
            benchmark=place[0],
            side=place[1],
            events=counted.events,
            processes=counted.processes if len(counted.processes) > 1 else [],
            forked=counted.forked,
            seconds=counted.seconds,
        )
        functions = None
        first = next((part for part in self._functions if (part.benchmark, part.side) == place), None)
        if first is None:
            functions = columns(counted.functions, place)
            self._functions.append(functions)
        elif place[0] not in self._differing and self._differs(count):
            self._differing[place[0]] = differing_functions(_own(first), _own(columns(counted.functions, place)))
        self._note(place[0], counted)
        self._counts.append(count)
        self._sink.count(count, functions)

    def _note(self, benchmark: int, counted: Counted) -> None:
        """Remember what is to be said of a count, once for each benchmark."""
        name, notes = self.header.benchmarks[benchmark].name, self._noted.setdefault(benchmark, [])
        found = [
            *([lost_finding(name, counted.lost)] if counted.lost else []),
            *([replaced_finding(name, counted.replaced_by)] if counted.replaced_by else []),
            *([went_around_finding(name, counted.went_around)] if counted.went_around else []),
        ]
        known = {note.code for note in notes}
        notes += [finding for finding in found if finding.code not in known]

    def _differs(self, count: Count) -> bool:
        return any(
            (one.benchmark, one.side) == (count.benchmark, count.side) and one.events != count.events
            for one in self._counts
        )


def slope(once: Counted, twice: Counted) -> Counted:
    """The counts of the second launch less those of the first: `loops` iterations, without start and set-up.

    Raises MeasurementError if twice the loops did not do more.
    """
    events = {event: twice.events[event] - count for event, count in once.events.items()}
    if events[INSTRUCTIONS] <= 0:
        raise MeasurementError(
            "twice the loops executed no more instructions: does the command use {loops}, and its work grow with it?"
        )
    return replace(
        twice,
        events={event: max(0, count) for event, count in events.items()},
        functions=_difference(once.functions, twice.functions),
        processes=_of_each(once.processes, twice.processes),
        seconds=once.seconds + twice.seconds,
    )


def _of_each(once: Sequence[CountedProcess], twice: Sequence[CountedProcess]) -> list[CountedProcess]:
    """What each process did more of; nothing where there are more processes, not more work for each."""
    if len(once) != len(twice):
        return []
    return [
        CountedProcess(
            command=other.command, events={event: other.events[event] - count for event, count in one.events.items()}
        )
        for one, other in zip(once, twice, strict=True)
    ]


def _difference(once: Sequence[FunctionCost], twice: Sequence[FunctionCost]) -> list[FunctionCost]:
    before = {(function.name, function.object): function for function in once}
    functions = []
    for function in twice:
        first = before.get((function.name, function.object))
        less = first.events if first else {}
        events = {event: count - less.get(event, 0) for event, count in function.events.items()}
        inclusive = None
        if function.inclusive is not None:
            inclusive = function.inclusive - (first.inclusive or 0 if first else 0)
        if any(events.values()):
            functions.append(replace(function, events=events, inclusive=inclusive))
    return functions


def differing_functions(one: Mapping[str, int], other: Mapping[str, int], most: int = 3) -> list[str]:
    """The functions whose instructions differ most between two counts."""
    counts = {name: one.get(name, 0) - other.get(name, 0) for name in {**one, **other}}
    ranked = sorted((name for name, count in counts.items() if count), key=lambda name: -abs(counts[name]))
    return ranked[:most]


def _own(part: Functions) -> dict[str, int]:
    """The instructions of each function of a name, wherever it is."""
    own: dict[str, int] = {}
    for name, count in zip(part.name, part.events.get(INSTRUCTIONS, []), strict=True):
        own[name] = own.get(name, 0) + count
    return own


def columns(functions: Sequence[FunctionCost], place: Place) -> Functions:
    """Functions as columns, the largest first; the smallest of very many are one sum."""
    ranked = sorted(functions, key=lambda function: -function.events[INSTRUCTIONS])
    kept, rest = ranked[:_MOST_FUNCTIONS], ranked[_MOST_FUNCTIONS:]
    if rest:
        events = {event: sum(function.events[event] for function in rest) for event in rest[0].events}
        kept.append(replace(rest[0], name="(smaller functions)", file="???", object="", line=0, events=events))
    graph = bool(kept) and all(function.inclusive is not None for function in kept)
    return Functions(
        benchmark=place[0],
        side=place[1],
        name=[function.name for function in kept],
        file=[function.file for function in kept],
        object=[function.object for function in kept],
        line=[function.line for function in kept],
        events={event: [function.events[event] for function in kept] for event in (kept[0].events if kept else {})},
        inclusive=[function.inclusive or 0 for function in kept] if graph else None,
    )


def _places(record: Weighing | Run) -> list[Place]:
    """What is counted; a control would count the baseline against itself, which every side is anyway."""
    sides = range(len(record.subjects[:2]))
    return [
        (number, side) for number, benchmark in enumerate(record.benchmarks) if not benchmark.control for side in sides
    ]


def _begun(record: Weighing | Run, tool: CountTool) -> Counting:
    """What was counted of a record that is carried on; UsageError if another tool or library would count the rest."""
    if record.counting is None or not record.counting.counts:
        return Counting(tool=tool)
    before = record.counting.tool
    changed = [name for name in ("version", "flags", "fingerprint") if getattr(before, name) != getattr(tool, name)]
    if changed:
        what = "the C library or the preload" if changed == ["fingerprint"] else "valgrind"
        raise UsageError(
            f"what was counted before was counted with another {what} ({tool.tool} {before.version} then, "
            f"{tool.version} now): two countings cannot be mixed, weigh anew"
        )
    return record.counting


def _tool(record: Weighing | Run, settings: CountSettings, valgrind: Valgrind) -> CountTool:
    return CountTool(
        tool=settings.tool,
        version=valgrind.version,
        program=str(valgrind.program),
        flags=valgrind.flags(settings),
        fingerprint=_fingerprint(),
        not_pinned=_not_pinned(record),
    )


def _fingerprint() -> dict[str, str]:
    """SHA-256 of the libraries whose code is counted with every program, as far as they are where they usually are."""
    found = {}
    for path in [PRELOAD, *_libraries()]:
        try:
            with path.open("rb") as file:
                found[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            continue
    return found


def _libraries() -> Iterator[Path]:
    for name in _LIBRARIES:
        places = (Path(folder) / name for folder in _LIBRARY_FOLDERS)
        yield from (place for place in places if place.exists())


def _not_pinned(record: Weighing | Run) -> list[str]:
    """What may move counts of these subjects and is out of our hands."""
    programs = {subject.program for subject in record.subjects}
    static = sorted(program for program in programs if is_dynamic(Path(program)) is False)
    passed = [name for name in record.settings.environment if name not in PASSED_ON]
    found = []
    if static:
        found.append(f"random numbers of {', '.join(static)}: a static program does not load what fixes them")
    if passed or record.settings.variables:
        names = ", ".join(sorted({*passed, *record.settings.variables})[:8])
        found.append(f"the environment variables that were asked for: {names}")
    return found
