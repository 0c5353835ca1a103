"""A whole weighing or run, from a request to a kept record: prepare, stages, judge, keep."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import steelyard
from steelyard.design.control import with_control
from steelyard.design.counting.stage import CountingStage, CountingTools, is_complete, with_tool
from steelyard.design.events import check_counters
from steelyard.design.findings import (
    ISOLATED,
    NOT_ISOLATED,
    chosen_processor_finding,
    isolation_findings,
    shell_words_findings,
    shim_findings,
    survivors,
)
from steelyard.design.going_on import More
from steelyard.design.heap import HeapStage, check_heap
from steelyard.design.identical import is_identical, known, of_one_program
from steelyard.design.keeping import kept_in_place, unmeasured
from steelyard.design.layouts import equal_layouts, with_digest
from steelyard.design.outcome import NOTHING_MEASURED, Outcome, judged
from steelyard.design.preliminaries import with_preliminaries
from steelyard.design.request import Request
from steelyard.design.resumption import check_programs, in_its_folder, resumable
from steelyard.design.runner.clean_up import CleanUp
from steelyard.design.runner.collector import no_collector
from steelyard.design.runner.failure import Interrupted
from steelyard.design.runner.interrupt import Interrupt
from steelyard.design.runner.runner import LaunchServer, Runner
from steelyard.design.runner.series import series_of, together_of
from steelyard.design.runner.target import Hooks
from steelyard.design.runner.targets import Targets, hooks_of, targets_of
from steelyard.design.suite.pilot_time import PilotTime
from steelyard.design.suite.planner import Planner, relist
from steelyard.design.suite.selection import Selection
from steelyard.design.timing.kept_rows import KeptRows
from steelyard.design.timing.recorder import Recorder
from steelyard.design.timing.watched import Watched
from steelyard.design.world import World
from steelyard.machine.isolation.isolation import Isolated
from steelyard.measure.count.valgrind import Valgrind
from steelyard.model.errors import InterruptedBeforeStart, MeasurementError, SteelyardError, UnwrittenError, UsageError
from steelyard.model.journal import Journal, is_journal
from steelyard.model.launches import Launches, LaunchRow
from steelyard.model.machine import MachineFacts
from steelyard.model.metrics import counted, timed
from steelyard.model.progress import Progress
from steelyard.model.records import Finding, Run, Settings, StopReason, Subject, Weighing
from steelyard.subjects.command import shared_environment

Watch = Callable[[Progress], None]
Stage = Callable[[Weighing | Run], tuple[Weighing | Run, SteelyardError | None]]
"""Adds to a record what it measures, and why that failed if it did."""


@dataclass(frozen=True)
class _Session:
    """One weighing or run while it is measured."""

    world: World
    watch: Watch
    launcher: LaunchServer
    interrupt: Interrupt
    cleaning: CleanUp
    isolated: Isolated | None = None
    """The control group of what is launched, if it has one."""
    jobs: int | None = None
    cancels: list[Callable[[], None]] = field(default_factory=list)
    """What a signal calls, to end the launches in flight."""
    until_one_changed: bool = False
    """Whether the first benchmark that is found changed ends the pairs of all."""

    def runner(self, hooks: Hooks | None = None) -> Runner:
        """What launches on the session's server, and is cleaned up behind."""
        return self.cleaning.watch(Runner(self.launcher, self.interrupt.is_requested, hooks or Hooks()))

    @cached_property
    def valgrind(self) -> Valgrind:
        """What counts; asked for its version once."""
        return self.world.valgrind(self.world.environment.get("PATH"))


def measure(request: Request, watch: Watch, world: World) -> Outcome:
    """Weigh candidates against a baseline, or measure one subject alone, and keep the record in the user's store.

    Raises SteelyardError if it cannot even start.
    """
    with _session(world, watch, request.settings, request.jobs) as session:
        if is_identical(request):
            return unmeasured(of_one_program(_header(request, session)), world)
        _set_up(request.settings, request.subjects, session)
        header = _header(request, session)
        session = replace(session, until_one_changed=request.until_one_changed)
        return _measured(header, session, selection=request.selection)


def resume(
    path: Path,
    watch: Watch,
    world: World,
    *,
    announce: Callable[[Weighing], None],
    trusted: bool = False,
    more: More | None = None,
) -> Outcome:
    """Carry on a weighing that was interrupted or killed, with the same plan, and keep the whole of it.

    With `more` of a budget, one that has ended undecided goes on, in a record of its own. What it runs is announced
    before. Raises UsageError for a record that is no weighing, had come to another end, is of another machine or
    program, or that others may have written and that is not `trusted`.
    """
    record = resumable(path, trusted=trusted, more=more)
    with Journal.carried_on(path) if more is None and is_journal(path) else nullcontext() as journal:
        if journal is not None:
            record = resumable(path, trusted=trusted)  # again, now that nobody else writes it
        with in_its_folder(record, path), _session(world, watch, record.settings) as session:
            if _facts(session).key != record.machine.key:
                raise UsageError(f"{path} was measured on another machine: pairs of two machines cannot be mixed")
            shared_environment(record.settings, world.environment)  # it asks for values that no record holds
            announce(record)
            if record.settings.setup:
                _set_up(record.settings, record.subjects, session)
                check_programs(record, path)
            return _measured(record, session, begun=journal)


@contextmanager
def _session(world: World, watch: Watch, settings: Settings, jobs: int | None = None) -> Iterator[_Session]:
    cancels: list[Callable[[], None]] = []
    world.sweep()
    with (
        world.isolated(settings.cpu) if settings.isolate else nullcontext() as isolated,
        world.launcher() as launcher,
        Interrupt(partial(_call_all, cancels), world.clock) as interrupt,
        no_collector(),
    ):
        if isolated is not None:
            isolated.admit(launcher.server_pid)
        check_counters(settings, launcher.missing_counters)
        cancels.append(launcher.cancel)
        cleaning = CleanUp(launcher, world.launcher, cancels)
        try:
            yield _Session(world, watch, launcher, interrupt, cleaning, isolated, jobs, cancels)
        except SteelyardError:
            with suppress(SteelyardError, Interrupted):  # what went before says more
                cleaning.run()
            raise


def _measured(
    header: Weighing | Run, session: _Session, *, selection: Selection | None = None, begun: Journal | None = None
) -> Outcome:
    """Measure and keep; a journal that was `begun` holds the header's launches and is written on."""
    store = session.world.store()
    header, targets = _prepared(header, session, selection)
    rows, kept = header.launches.rows(), store.new_name(header.kind)
    with nullcontext(begun) if begun else _new_journal(kept, header, rows) as journal:
        if journal is not begun:
            store.admit(journal.path)
        record, error = header, None
        spent_s = header.preparing_s if _has_budget_for_all(header.settings, selection) else 0.0
        for stage in _stages(header, targets, journal, rows, session, spent_s):
            if session.interrupt.is_requested():
                record = _as_interrupted(record)
                break
            record, error = stage(record)
            if error is not None:
                record = _as_cut_short(record, header, error) if isinstance(error, UnwrittenError) else record
                break
        record, error = _cleaned_up(record, error, session)
        record = _with_isolation(record, session.isolated)
        with suppress(MeasurementError):  # the record says it too
            journal.end(record.model_dump(mode="json", include={"stop", "seconds", "findings", "isolation"}))
    return kept_in_place(judged(record, error), journal.path, kept, store)


# --- prepare


def _set_up(settings: Settings, subjects: Sequence[Subject], session: _Session) -> None:
    """Run what goes before everything; raises InterruptedBeforeStart, MeasurementError if it fails."""
    if settings.setup:
        hooks = hooks_of(settings, shared_environment(settings, session.world.environment), subjects)
        session.cleaning.is_for(hooks)
        try:
            session.runner(hooks).set_up()
        except Interrupted:
            raise InterruptedBeforeStart(NOTHING_MEASURED) from None


def _header(request: Request, session: _Session) -> Weighing | Run:
    """The record before anything is known of it but what was asked for."""
    subjects = _renewed(request)
    fields: dict[str, Any] = {
        "tool": steelyard.__version__,
        "created": session.world.created(),
        "machine": _facts(session),
        "settings": request.settings,
        "subjects": subjects,
        "benchmarks": list(request.benchmarks),
        "stop": ["interrupted"] * len(request.benchmarks),  # what a journal says that nobody ended
        "seconds": 0.0,
        "findings": [
            *known(request, subjects),
            *chosen_processor_finding(request.settings),
            *equal_layouts(subjects, request.settings),
            *shell_words_findings(subjects, request.settings),
            *shim_findings(subjects),
        ],
        "launches": Launches(),
    }
    return Weighing(**fields) if len(request.subjects) > 1 else Run(**fields)


def _renewed(request: Request) -> list[Subject]:
    """The subjects, whose programs may have been made anew by what set them up, or are known only by their layouts."""
    if not request.settings.setup and not request.settings.layouts:
        return list(request.subjects)
    return [with_digest(one, request.settings) for one in request.subjects]


def _facts(session: _Session) -> MachineFacts:
    return session.world.facts().model_copy(update={"offers": session.launcher.offers})


def _prepared(header: Weighing | Run, session: _Session, selection: Selection | None) -> tuple[Weighing | Run, Targets]:
    """The record with its benchmarks and with what is found before its first launch; and what it launches.

    A harness is asked for those of the `selection`; with None they are known.
    """
    world, settings, begun = session.world, header.settings, session.world.clock()
    shared = shared_environment(settings, world.environment)
    check_heap(header)
    hooks = hooks_of(settings, shared, header.subjects)
    session.cleaning.is_for(hooks)
    try:
        if settings.harness is not None:
            asking = session.runner(hooks)
            if selection is None:
                relist(header, shared, asking)
            else:
                end = begun + (settings.max_time_s or 0.0) if _has_budget_for_all(settings, selection) else None
                time = PilotTime(world.clock, end)
                header = Planner(header, shared, asking, session.watch, time).planned(selection)
                header = header.model_copy(update={"preparing_s": world.clock() - begun})
        header, targets = with_control(header, targets_of(header, shared, hooks), shared, session.runner(hooks))
        header = with_preliminaries(header, targets, session.runner())
    except Interrupted:
        raise InterruptedBeforeStart(NOTHING_MEASURED) from None
    if _is_to_count(header):
        header = with_tool(header, session.valgrind)
    return header, targets


def _has_budget_for_all(settings: Settings, selection: Selection | None) -> bool:
    """Whether what the user gave is also the time to ask a harness for its benchmarks and to try them."""
    return selection is not None and selection.seconds_each is None and settings.max_time_s is not None


def _is_to_count(record: Weighing | Run) -> bool:
    metrics = record.settings.metrics
    return bool(counted(metrics)) and not (timed(metrics) and is_complete(record))


def _new_journal(kept: Path, header: Weighing | Run, rows: Sequence[LaunchRow]) -> Journal:
    journal = Journal(kept.with_name(f"{kept.name}.journal"), header)
    for row in rows:
        journal.append(row)
    return journal


# --- stages


def _stages(
    header: Weighing | Run,
    targets: Targets,
    journal: Journal,
    rows: list[LaunchRow],
    session: _Session,
    spent_s: float,
) -> Iterator[Stage]:
    """What is measured, in its order: the heap, counts, times."""
    runner = session.runner(targets.hooks)
    if header.settings.heap is not None:
        yield HeapStage(targets, runner, journal, session.watch).run
    if _is_to_count(header):
        yield partial(_count, journal=journal, session=session)
    if timed(header.settings.metrics):
        series = series_of(header.settings, targets, session.launcher, journal)
        watched = Watched(journal.stretch, [*header.watch.stretches] if header.watch else [])
        recorder = Recorder(targets, runner, journal, KeptRows(rows), series, together_of(session.launcher), watched)
        yield partial(_time, recorder=recorder, session=session, spent_s=spent_s, stopped=header.stop)


def _cleaned_up(
    record: Weighing | Run, error: SteelyardError | None, session: _Session
) -> tuple[Weighing | Run, SteelyardError | None]:
    """The record when the clean-up commands have run, with what they failed in: an error, if there was none before."""
    started, found = session.world.clock(), []
    try:
        runner = session.cleaning.run()
        if runner is not None:
            found = survivors(runner.left_behind, runner.not_killed)
    except Interrupted:
        record = _as_interrupted(record) if isinstance(record, Run) else record
    except SteelyardError as failure:
        found = [Finding(code="failed", message=str(failure))]
        if "interrupted" not in record.stop:
            error = error or failure
    seconds = record.seconds + session.world.clock() - started
    return record.model_copy(update={"seconds": seconds, "findings": [*record.findings, *found]}), error


def _with_isolation(record: Weighing | Run, isolated: Isolated | None) -> Weighing | Run:
    """The record, with what the control group of its launches was; of one that was carried on the latest."""
    if isolated is None:
        return record
    facts = isolated.facts()
    before = [finding for finding in record.findings if finding.code not in (ISOLATED, NOT_ISOLATED)]
    return record.model_copy(update={"isolation": facts, "findings": [*before, *isolation_findings(facts)]})


def _as_interrupted(record: Weighing | Run) -> Weighing | Run:
    """The record, of which more was to be measured."""
    return record.model_copy(
        update={"stop": ["failed" if reason == "failed" else "interrupted" for reason in record.stop]}
    )


def _as_cut_short(record: Weighing | Run, header: Weighing | Run, error: UnwrittenError) -> Weighing | Run:
    """The record, which nothing that was measured has failed: it can be carried on."""
    return record.model_copy(
        update={
            "stop": ["failed" if reason == "failed" else "interrupted" for reason in header.stop],
            "findings": [finding for finding in record.findings if finding.message != str(error)],
        }
    )


def _call_all(calls: Sequence[Callable[[], None]]) -> None:
    for call in calls:
        call()


def _count(record: Weighing | Run, journal: Journal, session: _Session) -> tuple[Weighing | Run, SteelyardError | None]:
    world = session.world
    tools = CountingTools(
        session.valgrind,
        world.environment,
        session.jobs or len(world.processors()),
        world.launcher,
        world.clock,
    )
    stage = CountingStage(record, tools, journal, session.watch)
    session.cancels.append(stage.cancel)
    session.cleaning.begun.append(stage.has_begun)
    if session.interrupt.is_requested():  # before there was anything to cancel
        stage.cancel()
    return stage.run()


def _time(
    record: Weighing | Run, recorder: Recorder, session: _Session, spent_s: float, stopped: Sequence[StopReason]
) -> tuple[Weighing | Run, SteelyardError | None]:
    from steelyard.design.timing.alone import Measuring
    from steelyard.design.timing.experiment import Experiment

    clock, watch = session.world.clock, session.watch
    settle = partial(session.world.settle, give_up=session.interrupt.is_requested)
    experiment = (
        Experiment(
            record,
            recorder,
            clock,
            watch,
            settle,
            spent_s,
            stopped,
            until_one_changed=session.until_one_changed,
        )
        if isinstance(record, Weighing)
        else Measuring(record, recorder, clock, watch, spent_s)
    )
    with _watching(recorder.watched, record.settings, session):
        record = experiment.run()
    return record.model_copy(update={"watch": recorder.watched.watch()}), experiment.error


@contextmanager
def _watching(watched: Watched, settings: Settings, session: _Session) -> Iterator[None]:
    """Have somebody look who else runs, if that is wanted; what is seen last is kept as well."""
    if not settings.watch:
        yield
        return
    with session.world.watch_over(session.launcher.server_pid, settings.cpu) as watched.by:
        yield
    with suppress(UnwrittenError):  # the end of the journal cannot be written either, which is said
        watched.keep()
