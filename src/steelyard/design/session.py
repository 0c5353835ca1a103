"""A whole weighing or run, from subjects to a kept record: launcher, journal, experiment, verdicts, file."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import steelyard
from steelyard.design.alone import Measuring
from steelyard.design.draws import draw_pair
from steelyard.design.findings import shell_finding
from steelyard.design.interrupt import Interrupt
from steelyard.design.judgement import summaries, verdicts
from steelyard.design.recorder import Recorder, Targets
from steelyard.design.weighing import Experiment
from steelyard.history.shelf import Shelf
from steelyard.machine.facts import read_facts
from steelyard.measure.launch import Launcher
from steelyard.model.errors import InterruptedBeforeStart, MeasurementError, SteelyardError
from steelyard.model.files import load, save, with_derived
from steelyard.model.journal import Journal
from steelyard.model.launches import Launches, LaunchSpec
from steelyard.model.progress import Progress
from steelyard.model.records import Benchmark, Derived, Finding, Run, Settings, Subject, Weighing
from steelyard.subjects.command import command_subject, launch_spec, shared_environment

_SHELL_STARTS = 7


@dataclass(frozen=True)
class Outcome:
    """What came of it: the record with what was derived from it, and why it failed if it did."""

    record: Weighing | Run
    error: SteelyardError | None = None


def measure(
    subjects: tuple[Subject, Subject] | tuple[Subject],
    settings: Settings,
    watch: Callable[[Progress], None],
    source: Mapping[str, str] = os.environ,
) -> Outcome:
    """Weigh two subjects, or measure one alone, and keep the record on the user's shelf.

    `source` is the environment that names are passed on from. Raises SteelyardError if it cannot even start.
    """
    shared = shared_environment(settings, source)
    shelf = Shelf.of_user(source)
    with Launcher() as launcher, Interrupt(launcher.cancel) as interrupt:
        header = _header(subjects, settings, launcher, shared)
        kept = shelf.new_name(header.kind)
        targets = _targets(header, shared)
        with Journal(kept.with_name(f"{kept.name}.journal"), header) as journal:
            recorder = Recorder(targets, launcher, journal, interrupt.is_requested, settings.ignore_failure)
            experiment: Experiment | Measuring
            if isinstance(header, Weighing):
                experiment = Experiment(header, recorder, time.monotonic, watch)
            else:
                experiment = Measuring(header, recorder, time.monotonic, watch)
            record = experiment.run()
            journal.end(record.model_dump(mode="json", include={"stop", "seconds", "findings"}))
        outcome = _keep(record, experiment.error, journal.path, kept)
    shelf.prune()
    return outcome


def recall(path: Path) -> Outcome:
    """A kept record, with its verdicts derived anew."""
    record = load(path)
    if "failed" in record.stop:
        failed = next((finding.message for finding in record.findings if finding.code == "failed"), "a launch failed")
        return Outcome(record, MeasurementError(failed))
    return Outcome(derive(record))


def derive(record: Weighing | Run) -> Weighing | Run:
    """The record with its verdicts or summaries derived anew; raises MeasurementError where its metric is undefined."""
    if isinstance(record, Weighing):
        return with_derived(record, Derived(verdicts=verdicts(record)))
    return with_derived(record, Derived(summaries=summaries(record)))


def _keep(record: Weighing | Run, error: SteelyardError | None, journal: Path, kept: Path) -> Outcome:
    if not len(record.launches):
        journal.unlink(missing_ok=True)
        return Outcome(record, error or InterruptedBeforeStart("interrupted before anything was measured"))
    try:
        derived = record if error else derive(record)
    except SteelyardError as undefined:
        derived, error = record, undefined
    path = kept.with_name(f"{kept.name}.json.gz")
    save(derived, path)
    journal.unlink(missing_ok=True)
    if error is not None:
        error = type(error)(f"{error} The launches measured before that are kept in {path}.")
    return Outcome(derived, error)


def _header(
    subjects: tuple[Subject, Subject] | tuple[Subject],
    settings: Settings,
    launcher: Launcher,
    shared: Mapping[str, str],
) -> Weighing | Run:
    fields: dict[str, Any] = {
        "tool": steelyard.__version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": read_facts(offers=launcher.offers),
        "settings": settings,
        "subjects": subjects,
        "benchmarks": [Benchmark(name=" | ".join(subject.name for subject in subjects))],
        "stop": ["interrupted"],  # what a journal says that nobody ended
        "seconds": 0.0,
        "findings": _shell_findings(subjects, settings, launcher, shared),
        "launches": Launches(),
    }
    return Weighing(**fields) if len(subjects) == 2 else Run(**fields)


def _targets(header: Weighing | Run, shared: Mapping[str, str]) -> Targets:
    settings = header.settings

    def surrounding(option: str, commands: list[str]) -> list[LaunchSpec]:
        # A hook runs as it would from the user's prompt: no time limit of the launches, no pinning, no input.
        plain = settings.model_copy(update={"timeout_s": None, "cpu": None, "stdin": None})
        found = [command_subject(command, option, option, shell=False) for command in commands]
        return [launch_spec(subject, plain, shared, draw_pair(settings.seed, 0, 0)) for subject in found]

    return Targets(
        names=tuple(subject.name for subject in header.subjects),
        spec=lambda benchmark, side, draw: launch_spec(header.subjects[side], settings, shared, draw),  # noqa: ARG005
        prepare=surrounding("--prepare", settings.prepare),
        cleanup=surrounding("--cleanup", settings.cleanup),
    )


def _shell_findings(
    subjects: tuple[Subject, ...], settings: Settings, launcher: Launcher, shared: Mapping[str, str]
) -> list[Finding]:
    if not any(subject.shell for subject in subjects):
        return []
    empty = launch_spec(
        command_subject(":", "shell", "shell", shell=True), settings, shared, draw_pair(settings.seed, 0, 0)
    )
    return [shell_finding([launcher.launch(empty).wall_ns / 1e9 for _ in range(_SHELL_STARTS)])]
