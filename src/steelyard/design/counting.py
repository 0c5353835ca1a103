"""The counting part of a weighing or run: each side twice, side by side, and more often where counts do not repeat."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from steelyard.design.count_findings import differing_finding, forked_finding, not_pinned_finding
from steelyard.design.draws import draw_pair
from steelyard.design.recorder import InterruptedByUser, Recorder
from steelyard.design.targets import called, hooks, subject_of
from steelyard.measure.count.counter import Counted, Counter
from steelyard.measure.count.crew import Crew
from steelyard.measure.count.native import PRELOAD
from steelyard.measure.count.pins import environment, is_dynamic
from steelyard.measure.count.profile import FunctionCost
from steelyard.measure.count.valgrind import Valgrind
from steelyard.measure.launch import Launcher
from steelyard.model.counting import INSTRUCTIONS, Count, Counting, CountSettings, CountTool, Functions
from steelyard.model.errors import MeasurementError, SteelyardError
from steelyard.model.launches import LaunchSpec, Measured
from steelyard.model.progress import Progress
from steelyard.model.records import Finding, Run, StopReason, Weighing
from steelyard.stats.counts import FIRST_COUNTS, counts_needed, stability
from steelyard.subjects.command import PASSED_ON, launch_spec

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
    done = record.counting.counts if record.counting else []
    return all(
        sum((count.benchmark, count.side) == place for count in done) >= FIRST_COUNTS for place in _places(record)
    )


class CountingStage:
    """Counts what a record asks for, `jobs` launches at once. Raises MeasurementError without a usable Valgrind."""

    def __init__(self, header: Weighing | Run, source: Mapping[str, str], jobs: int) -> None:
        self._settings = header.settings.counting or CountSettings()
        valgrind = Valgrind.found()
        self._begun = Counting(tool=_tool(header, self._settings, valgrind))
        self.header = header.model_copy(update={"counting": self._begun})
        """The record before anything is counted."""
        self._source = source
        self._prepare = hooks("--prepare", header.settings.prepare, header.settings, dict(source))
        # What has to run before each launch must not meet another launch's work.
        self._crew = Crew(valgrind, self._settings, 1 if self._prepare else jobs)
        self._counts: list[Count] = []
        self._functions: list[Functions] = []
        self._differing: dict[int, list[str]] = {}
        self._first: dict[Place, list[FunctionCost]] = {}
        self._others_ns: dict[int, int] = {}

    def cancel(self) -> None:
        """Stop; for a signal handler."""
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
        except InterruptedByUser:
            reason = "interrupted"
        except SteelyardError as failure:
            reason, error = "failed", failure
        findings = [Finding(code="failed", message=str(error))] if error else []
        return self.header.model_copy(
            update={
                "counting": self._begun.model_copy(update={"counts": self._counts, "functions": self._functions}),
                "stop": [reason] * len(self.header.benchmarks),
                "seconds": time.monotonic() - begun,
                "findings": [*self.header.findings, *findings, *self._findings()],
            }
        ), error

    def _count_all(self, launcher: Launcher) -> None:
        places = _places(self.header)
        self._run_as_they_are(launcher, places)
        members = max(1, len({benchmark for benchmark, _ in places}))
        wanted = counts_needed(self.header.settings.alpha / members)
        with self._crew:
            self._count(places * FIRST_COUNTS)
            again = [place for place in places if not self._repeats(place[0])]
            self._count(again * (wanted - FIRST_COUNTS))

    def _findings(self) -> list[Finding]:
        """What the record should say of the counts; by benchmark, as far as it is about one."""
        found = [not_pinned_finding(what) for what in self._begun.tool.not_pinned]
        for number, benchmark in enumerate(self.header.benchmarks):
            counts = [count for count in self._counts if count.benchmark == number]
            if any(count.forked for count in counts):
                found.append(forked_finding(benchmark.name, max(count.forked for count in counts)))
            if names := self._differing.get(number):
                programs = [subject.program for subject in self.header.subjects]
                found.append(differing_finding(benchmark.name, names, programs, self._others_ns.get(number, 0)))
        return found

    def _run_as_they_are(self, launcher: Launcher, places: Sequence[Place]) -> None:
        """Each target once without Valgrind: a command that fails does so at once, and files it caches are there."""
        for place in places:
            for surrounding in self._prepared(place[1]):
                launcher.launch(surrounding)
            for spec in self._specs(place):
                measured = launcher.launch(replace(spec, timeout_ns=self._limit_ns(spec)))
                self._check(measured, place)
                self._others_ns[place[0]] = max(self._others_ns.get(place[0], 0), measured.others_ns or 0)

    def _limit_ns(self, spec: LaunchSpec) -> int | None:
        seconds = self.header.settings.max_time_s
        return spec.timeout_ns or (None if seconds is None else round(seconds * 1e9))

    def _count(self, places: Sequence[Place]) -> None:
        tasks = [self._task(place) for place in places]
        done = 0
        for number, counted in self._crew.count_all(tasks):
            self._keep(places[number], counted)
            done += 1
            name = self.header.benchmarks[places[number][0]].name
            self._watch(Progress(name, len(self._counts), len(self._counts) + len(places) - done))
        if done < len(tasks):
            raise InterruptedByUser

    def _task(self, place: Place) -> Callable[[Counter], Counted]:
        def task(counter: Counter) -> Counted:
            for surrounding in self._prepared(place[1]):
                counter.launcher.launch(surrounding)
            parts = []
            for spec in self._specs(place):
                part = counter.count(spec)
                if part.measured.cancelled:
                    return part
                self._check(part.measured, place)
                parts.append(part)
            return parts[0] if len(parts) == 1 else slope(*parts)

        return task

    def _prepared(self, side: int) -> list[LaunchSpec]:
        return [self._prepare[min(side, len(self._prepare) - 1)]] if self._prepare else []

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
        return [replace(spec, env=env, stdout=None) for spec in specs]

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
        if place not in self._first:
            self._first[place] = counted.functions
            functions = columns(counted.functions, place)
            self._functions.append(functions)
        elif place[0] not in self._differing and self._differs(count):
            self._differing[place[0]] = differing_functions(self._first[place], counted.functions)
        self._counts.append(count)
        self._sink.count(count, functions)

    def _differs(self, count: Count) -> bool:
        return any(
            (one.benchmark, one.side) == (count.benchmark, count.side) and one.events != count.events
            for one in self._counts
        )

    def _repeats(self, benchmark: int) -> bool:
        sides = [
            [float(count.events[event]) for count in self._counts if (count.benchmark, count.side) == (benchmark, side)]
            for side in (0, 1)
            for event in self._counts[0].events
        ]
        return all(stability(side, side) == "exact" for side in sides)


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
        seconds=once.seconds + twice.seconds,
    )


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


def differing_functions(one: Sequence[FunctionCost], other: Sequence[FunctionCost], most: int = 3) -> list[str]:
    """The functions whose instructions differ most between two counts."""
    counts: dict[str, int] = {}
    for sign, functions in ((1, one), (-1, other)):
        for function in functions:
            counts[function.name] = counts.get(function.name, 0) + sign * function.events[INSTRUCTIONS]
    ranked = sorted((name for name, count in counts.items() if count), key=lambda name: -abs(counts[name]))
    return ranked[:most]


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
