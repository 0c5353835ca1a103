"""What a record's benchmarks launch, and what is looked at before the first pair."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from steelyard.design.findings import shell_finding
from steelyard.design.runner.draws import draw_pair
from steelyard.design.timing.recorder import Recorder, TargetLauncher, Targets
from steelyard.measure.heap import scattered
from steelyard.model.errors import LaunchError, MeasurementError
from steelyard.model.launches import Draw, LaunchSpec, Measured, Sample, judged_samples
from steelyard.model.metrics import timed
from steelyard.model.records import Run, Settings, Subject, Weighing
from steelyard.subjects.command import command_subject, launch_maker, launch_spec, with_parameters
from steelyard.subjects.harness import Harness, Listed, Work, harness_named
from steelyard.subjects.programs import Programs

LOOPS = "loops"
HARNESS_REMEDY = "mend it, or choose others with --benchmark"
_SHELL_STARTS = 7


def targets_of(record: Weighing | Run, shared: Mapping[str, str]) -> Targets:
    """Every launch of a record; `shared` is the environment that all of them find.

    Raises UsageError for a hook, or for a program that a parameter names, that is missing.
    """
    settings = _with_time_limit(record)
    subjects = {
        (number, side): subject_of(record, number, side)
        for number in range(len(record.benchmarks))
        for side in range(len(record.subjects[:2]))
    }
    makers = {place: launch_maker(subject, settings, shared) for place, subject in subjects.items()}
    programs = Programs()
    harness = None if settings.harness is None else harness_named(settings.harness)

    def spec(benchmark: int, side: int, draw: Draw) -> LaunchSpec:
        launch = makers[benchmark, side](draw)
        if harness is not None:
            launch = harness.running(launch, work_of(record, benchmark, draw.hash_seed))
        return scattered(launch, draw.hash_seed) if settings.heap_shuffle else launch

    def samples(benchmark: int, side: int, measured: Measured) -> tuple[Sample, ...]:
        if harness is None:
            return ()
        name = called(record, benchmark, subjects[benchmark, side].name)
        return samples_of(harness, measured, work_of(record, benchmark), name, needs_cpu=decides_by_cpu(settings))

    def check(benchmark: int, side: int) -> None:
        programs.check(subjects[benchmark, side].program, subjects[benchmark, side].name)

    return Targets(
        name=lambda benchmark, side: called(record, benchmark, subjects[benchmark, side].name),
        spec=spec,
        prepare=hooks("--prepare", settings.prepare, settings, shared),
        cleanup=hooks("--cleanup", settings.cleanup, settings, shared),
        empty_shell=_empty_shell(settings, shared) if _times_a_shell(record) else None,
        check=check,
        samples=samples,
        complaint=harness.complaint if harness is not None else lambda measured: None,  # noqa: ARG005
        **({} if harness is None else {"remedy": HARNESS_REMEDY}),
    )


def work_of(record: Weighing | Run, number: int, seed: int = 0) -> Work:
    """What a launch of one benchmark of a harness is to run."""
    benchmark = record.benchmarks[number]
    return Work(benchmark.entry or benchmark.name, benchmark.loops or 1, benchmark.samples or 1, seed)


def samples_of(
    harness: Harness, measured: Measured, work: Work, name: str, *, needs_cpu: bool = False
) -> tuple[Sample, ...]:
    """What a launch that did the work answered; raises LaunchError, with the `name`, for no answer or one too short."""
    try:
        samples = harness.samples(measured, work)
        if needs_cpu and any(one.cpu_ns is None for one in judged_samples(samples)):
            raise LaunchError("does not tell its time on a processor (cpu_ns): choose --metric wall")
    except LaunchError as error:
        raise LaunchError(f"{name} {error}") from error
    return samples


def decides_by_cpu(settings: Settings) -> bool:
    """Whether every sample has to tell its time on a processor."""
    return timed(settings.metrics)[:1] == ["cpu"]


def listed_by(harness: Harness, measured: Measured, name: str, remedy: str) -> list[Listed]:
    """What a launch listed; raises LaunchError, with the `name`, if it failed or that is no list."""
    check_harness_ended(harness, measured, f"the list of {name}", remedy)
    try:
        return harness.listed(measured)
    except LaunchError as error:
        raise LaunchError(f"{name} {error}") from error


def check_harness_ended(harness: Harness, measured: Measured, name: str, remedy: str = HARNESS_REMEDY) -> None:
    """As Recorder.check_ended, with what the harness itself says of its failure."""
    complaint = harness.complaint(measured) if measured.has_failed() else None
    Recorder.check_ended(measured, name, ignore_failure=False, complaint=complaint, remedy=remedy)


def with_preliminaries(record: Weighing | Run, targets: Targets, launcher: TargetLauncher) -> Weighing | Run:
    """The record with what is found before its first pair; nothing for one that is resumed.

    Raises MeasurementError if both sides were to print the same and do not.
    """
    if len(record.launches):
        return record
    if record.settings.reference_output:
        _compare_outputs(record, targets, launcher)
    if targets.empty_shell is None:
        return record
    starts = [launcher.launch(targets.empty_shell).wall_ns / 1e9 for _ in range(_SHELL_STARTS)]
    return record.model_copy(update={"findings": [*record.findings, shell_finding(starts)]})


def _with_time_limit(record: Weighing | Run) -> Settings:
    """A launch that takes the whole budget alone leaves none for a verdict: without a limit of its own it has that."""
    settings = record.settings
    if settings.timeout_s is not None or isinstance(record, Run):
        return settings
    return settings.model_copy(update={"timeout_s": settings.max_time_s})


def subject_of(record: Weighing | Run, number: int, side: int, times: int = 1) -> Subject:
    """What one side of a benchmark launches; {loops} in its words is so many `times` the loops asked for."""
    benchmark = record.benchmarks[number]
    place = benchmark.candidate if side == 1 else 0
    role = "baseline" if place == 0 else "candidate"
    counting = record.settings.counting
    loops = {LOOPS: str(times * counting.loops)} if counting and counting.loops else {}
    return with_parameters(record.subjects[place], {**benchmark.params, **loops}, role)


def called(record: Weighing | Run, number: int, name: str) -> str:
    """A subject's name in an error: with the benchmark's parameters, if it has some."""
    benchmark = record.benchmarks[number]
    values = benchmark.entry or ", ".join(f"{key}={value}" for key, value in benchmark.params.items())
    return f"{name} ({values})" if values else name


def hooks(option: str, commands: list[str], settings: Settings, shared: Mapping[str, str]) -> list[LaunchSpec]:
    """The launches of `--prepare` or `--cleanup`; raises UsageError for a command that is missing."""
    # A hook runs as it would from the user's prompt: no time limit of the launches, no pinning, no input, once.
    plain = settings.model_copy(update={"timeout_s": None, "cpu": None, "stdin": None, "output": None, "repeat": 1})
    subjects = [command_subject(command, option, option, shell=False) for command in commands]
    return [launch_spec(subject, plain, shared, draw_pair(settings.seed, 0, 0)) for subject in subjects]


def _times_a_shell(record: Weighing | Run) -> bool:
    """Whether a shell's start is part of a time; counts have its instructions, as those of any process."""
    return any(subject.shell for subject in record.subjects) and bool(timed(record.settings.metrics))


def _empty_shell(settings: Settings, shared: Mapping[str, str]) -> LaunchSpec:
    return launch_spec(
        command_subject(":", "shell", "shell", shell=True), settings, shared, draw_pair(settings.seed, 0, 0)
    )


def _compare_outputs(record: Weighing | Run, targets: Targets, launcher: TargetLauncher) -> None:
    """Run both sides of each benchmark once and compare what they print, byte by byte."""
    with tempfile.TemporaryDirectory(prefix="steelyard-") as folder:
        places = [Path(folder) / side for side in ("baseline", "candidate")]
        for number, benchmark in enumerate(record.benchmarks):
            draw = draw_pair(record.settings.seed, number, 0)
            for side, place in enumerate(places):
                spec = replace(targets.spec(number, side, draw), stdout=str(place).encode(), repeat=1)
                Recorder.check_ended(launcher.launch(spec), targets.name(number, side), record.settings.ignore_failure)
            line = _first_difference(*places)
            if line is not None:
                raise MeasurementError(
                    f"{benchmark.name}: the two sides print different things, first in line {line}: a faster wrong "
                    "answer is not faster. Mend the candidate, or leave --reference-output out."
                )


def _first_difference(one: Path, other: Path) -> int | None:
    """The number of the first line in which two files differ, from 1; None if they are equal."""
    with one.open("rb") as left, other.open("rb") as right:
        line = 1
        while True:
            mine, theirs = left.read(1 << 16), right.read(1 << 16)
            if mine != theirs:
                shorter = min(len(mine), len(theirs))
                common = next((n for n, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b), shorter)
                return line + mine[:common].count(b"\n")
            if not mine:
                return None
            line += mine.count(b"\n")
