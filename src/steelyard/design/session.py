"""A whole weighing or run, from subjects to a kept record: launcher, journal, experiment, verdicts, file."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import steelyard
from steelyard.design.counting.stage import CountingStage, is_complete
from steelyard.design.findings import same_command_finding
from steelyard.design.heap import HeapStage, check_heap, with_heap
from steelyard.design.runner.collector import no_collector
from steelyard.design.runner.interrupt import Interrupt
from steelyard.design.runner.targets import targets_of, with_preliminaries
from steelyard.design.suite.planner import Planner, Selection
from steelyard.design.timing.alone import Measuring
from steelyard.design.timing.kept_rows import KeptRows
from steelyard.design.timing.recorder import InterruptedByUser, Recorder, Series, Targets
from steelyard.history.store import Store
from steelyard.machine.facts import read_facts
from steelyard.machine.pressure import wait_until_quiet
from steelyard.measure.launch import Launcher
from steelyard.model.errors import InterruptedBeforeStart, LaunchError, MeasurementError, SteelyardError, UsageError
from steelyard.model.files import load, save, with_derived
from steelyard.model.journal import Journal, is_journal
from steelyard.model.launches import Launches, LaunchRow, LaunchSpec, Measured, Place
from steelyard.model.metrics import counted, timed
from steelyard.model.progress import Progress
from steelyard.model.records import Benchmark, Derived, Finding, MachineFacts, Run, Settings, Subject, Weighing
from steelyard.subjects.command import shared_environment
from steelyard.subjects.programs import digest

if TYPE_CHECKING:
    from steelyard.design.timing.experiment import Experiment

_NOTHING_MEASURED = "interrupted before anything was measured"


@dataclass(frozen=True)
class Outcome:
    """What came of it: the record with what was derived from it, and why it failed if it did."""

    record: Weighing | Run
    error: SteelyardError | None = None


def measure(
    subjects: list[Subject],
    benchmarks: list[Benchmark],
    settings: Settings,
    watch: Callable[[Progress], None],
    source: Mapping[str, str] = os.environ,
    jobs: int | None = None,
    selection: Selection | None = None,
) -> Outcome:
    """Weigh candidates against a baseline, or measure one subject alone, and keep the record on the user's store.

    `source` is the environment that names are passed on from, `jobs` how many launches are counted at once (None: as
    many as there are processors). A harness is asked for its `benchmarks`, those of the `selection`.
    Raises SteelyardError if it cannot even start.
    """
    fields: dict[str, Any] = {
        "tool": steelyard.__version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": settings,
        "subjects": subjects,
        "benchmarks": benchmarks,
        "stop": ["interrupted"] * len(benchmarks),  # what a journal says that nobody ended
        "seconds": 0.0,
        "findings": _same_commands(subjects),
        "launches": Launches(),
    }
    make = Weighing if len(subjects) > 1 else Run
    return _carry_out(
        lambda facts: make(machine=facts, **fields), watch, source, jobs=jobs, selection=selection or Selection()
    )


def resume(path: Path, watch: Callable[[Progress], None], source: Mapping[str, str] = os.environ) -> Outcome:
    """Carry on a weighing that was interrupted or killed, with the same plan, and keep the whole of it.

    Raises UsageError for a record that is no weighing, had come to its end, or is of another machine or program.
    """
    record = _resumable(path)
    if not is_journal(path):
        return _carry_out(_header_on_this_machine(path, record), watch, source)
    with Journal.carried_on(path) as journal:
        record = _resumable(path)  # again, now that nobody else writes it
        return _carry_out(_header_on_this_machine(path, record), watch, source, journal)


def _resumable(path: Path) -> Weighing:
    record = load(path)
    if isinstance(record, Run):
        raise UsageError(f"{path} is a run of one subject: only a weighing can be resumed")
    if "interrupted" not in record.stop:
        raise UsageError(f"{path} was not interrupted, it had come to its end: look at it with steelyard show")
    for subject in record.subjects:
        if subject.digest is not None and digest(subject.program) != subject.digest:
            raise UsageError(f"{subject.program} is not the program that {path} began with: weigh anew")
    return record


def _header_on_this_machine(path: Path, record: Weighing) -> Callable[[MachineFacts], Weighing]:
    def header(facts: MachineFacts) -> Weighing:
        if facts.key != record.machine.key:
            raise UsageError(f"{path} was measured on another machine: pairs of two machines cannot be mixed")
        return record

    return header


def _carry_out(
    header_of: Callable[[MachineFacts], Weighing | Run],
    watch: Callable[[Progress], None],
    source: Mapping[str, str],
    begun: Journal | None = None,
    jobs: int | None = None,
    selection: Selection | None = None,
) -> Outcome:
    """Measure and keep; a journal that was `begun` holds the header's launches and is written on."""
    store = Store.of_user(source)
    cancels: list[Callable[[], None]] = []
    with Launcher() as launcher, Interrupt(lambda: _call_all(cancels)) as interrupt, no_collector():
        cancels.append(launcher.cancel)
        header = header_of(read_facts(offers=launcher.offers))
        shared = shared_environment(header.settings, source)
        check_heap(header)
        try:
            if selection is not None and header.settings.harness is not None:
                header = Planner(header, shared, launcher, watch, interrupt.is_requested).planned(selection)
            targets = targets_of(header, shared)
            header = with_preliminaries(header, targets, launcher)
        except InterruptedByUser:
            raise InterruptedBeforeStart(_NOTHING_MEASURED) from None
        stage = _counting(header, source, jobs)
        if stage is not None:
            header = stage.header
            cancels.append(stage.cancel)
        kept = store.new_name(header.kind)
        rows = header.launches.rows()
        with nullcontext(begun) if begun else _new_journal(kept, header, rows) as journal:
            record, error = header, None
            if header.settings.heap is not None:
                heap = HeapStage(header, targets, launcher, journal, watch, interrupt.is_requested)
                record, error = heap.run()
            if stage is not None and error is None:
                counted, error = stage.run(launcher, journal, watch)
                record = with_heap(counted, record)
            if error is None and timed(header.settings.metrics) and not interrupt.is_requested():
                recorder = Recorder(
                    targets,
                    launcher,
                    journal,
                    interrupt.is_requested,
                    header.settings.ignore_failure,
                    KeptRows(rows),
                    series=series_of(header.settings, targets, launcher, journal),
                )
                experiment = _experiment(record, recorder, watch, interrupt)
                record = experiment.run()
                error = experiment.error
            journal.end(record.model_dump(mode="json", include={"stop", "seconds", "findings"}))
        outcome = _keep(record, error, journal.path, kept)
    store.prune()
    return outcome


def _call_all(calls: list[Callable[[], None]]) -> None:
    for call in calls:
        call()


def _counting(header: Weighing | Run, source: Mapping[str, str], jobs: int | None) -> CountingStage | None:
    if not counted(header.settings.metrics) or (is_complete(header) and timed(header.settings.metrics)):
        return None
    return CountingStage(header, source, jobs or len(os.sched_getaffinity(0)))


def _new_journal(kept: Path, header: Weighing | Run, rows: list[LaunchRow]) -> Journal:
    journal = Journal(kept.with_name(f"{kept.name}.journal"), header)
    for row in rows:
        journal.append(row)
    return journal


def series_of(settings: Settings, targets: Targets, launcher: Launcher, journal: Journal) -> Series | None:
    """How to launch several in one request; None where the driver has something to do between two launches."""
    if targets.prepare or targets.empty_shell or settings.harness is not None or settings.repeat > 1:
        return None
    launcher.keep_rows_in(journal.fileno())

    def series(specs: Sequence[LaunchSpec], places: Sequence[Place]) -> list[Measured | SteelyardError]:
        begun = journal.size()
        try:
            return [*launcher.launch_series(specs, [journal.frame(place, 0) for place in places[:-1]])]
        except MeasurementError as error:  # the server has ended; what it had kept by then is not lost
            return [*map(Measured.of_row, journal.rows_after(begun)), error]

    return series


def _experiment(
    header: Weighing | Run, recorder: Recorder, watch: Callable[[Progress], None], interrupt: Interrupt
) -> Experiment | Measuring:
    from steelyard.design.timing.experiment import Experiment

    if isinstance(header, Weighing):
        settle = partial(wait_until_quiet, give_up=interrupt.is_requested)
        return Experiment(header, recorder, time.monotonic, watch, settle)
    return Measuring(header, recorder, time.monotonic, watch)


def recall(path: Path) -> Outcome:
    """A kept record, with its verdicts derived anew."""
    record = load(path)
    error = _failure(record)
    return Outcome(derive(record) if error is None or _is_partial(record) else record, error)


def _failure(record: Weighing | Run) -> MeasurementError | None:
    """Why benchmarks of a record failed, as far as it says."""
    failed = [finding.message for finding in record.findings if finding.code == "failed"]
    if "failed" not in record.stop or ("interrupted" in record.stop and _is_partial(record)):
        return None  # that it was interrupted says more; what failed until then is among what it found
    if record.settings.harness is None or len(record.stop) == 1:
        return MeasurementError(failed[0] if failed else "a launch failed")
    count, number = record.stop.count("failed"), len(record.stop)
    of_all = f"{'all' if count == number else f'{count} of'} {number} benchmarks failed"
    return MeasurementError(f"{of_all}, the first: {failed[0]}" if failed else of_all)


def _is_partial(record: Weighing | Run) -> bool:
    """Whether some benchmarks of a harness failed, and the others have their verdicts all the same."""
    members = [
        reason for benchmark, reason in zip(record.benchmarks, record.stop, strict=True) if not benchmark.control
    ]
    return record.settings.harness is not None and any(reason != "failed" for reason in members)


def derive(record: Weighing | Run) -> Weighing | Run:
    """The record with its verdicts or summaries derived anew; raises MeasurementError where its metric is undefined."""
    from steelyard.design.judging.judgement import summaries, verdicts

    if isinstance(record, Weighing):
        return with_derived(record, Derived(verdicts=verdicts(record)))
    return with_derived(record, Derived(summaries=summaries(record)))


def _keep(record: Weighing | Run, error: SteelyardError | None, journal: Path, kept: Path) -> Outcome:
    if error is None or (record.settings.harness is not None and isinstance(error, LaunchError)):
        error = _failure(record)
    if record.is_empty():
        journal.unlink(missing_ok=True)
        return Outcome(record, error or InterruptedBeforeStart(_NOTHING_MEASURED))
    try:
        derived = record if error and not _is_partial(record) else derive(record)
    except SteelyardError as undefined:
        derived, error = record, undefined
    path = kept.with_name(f"{kept.name}.json.gz")
    save(derived, path)
    journal.unlink(missing_ok=True)
    if error is not None:
        # Not wrong usage, whatever it was: it had begun well.
        error = MeasurementError(f"{str(error).rstrip('.')}. The launches measured before that are kept in {path}.")
    return Outcome(derived, error)


def _same_commands(subjects: list[Subject]) -> list[Finding]:
    baseline, *candidates = subjects
    return [
        same_command_finding(candidate.name)
        for candidate in candidates
        if (candidate.argv, candidate.digest) == (baseline.argv, baseline.digest)
    ]
