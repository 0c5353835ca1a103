"""What is measured in a session, stage by stage: the heap, counts, times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from steelyard.design.counting.plan import missing_counts
from steelyard.design.named_files import NamedFiles
from steelyard.design.runner.clean_up import CleanUp
from steelyard.design.runner.interrupt import Interrupt
from steelyard.design.runner.runner import LaunchServer, Runner
from steelyard.design.runner.running_clock import RunningClock
from steelyard.design.runner.series import journaled_series
from steelyard.design.runner.target import Hooks
from steelyard.design.runner.targets import Targets
from steelyard.design.timing.kept_rows import KeptRows
from steelyard.design.timing.recorder import Recorder
from steelyard.design.timing.watched import Watched
from steelyard.design.world import World
from steelyard.model.errors import SteelyardError, UnwrittenError
from steelyard.model.journal import Journal
from steelyard.model.metrics import counted, timed
from steelyard.model.progress import Watch
from steelyard.model.records import Run, StopReason, Weighing
from steelyard.model.rows import LaunchRow
from steelyard.model.settings import Settings

if TYPE_CHECKING:
    from steelyard.machine.isolation.isolation import Isolated
    from steelyard.measure.count.valgrind import Valgrind

Stage = Callable[[Weighing | Run], tuple[Weighing | Run, SteelyardError | None]]
"""Adds to a record what it measures; returns it with the error if that failed."""


@dataclass(frozen=True)
class Session:
    """One weighing or run while it is measured."""

    world: World
    watch: Watch
    clock: RunningClock
    """The clock of the budgets: it stands still while this process does."""
    launcher: LaunchServer
    starter: LaunchServer | None
    """The server that --setup runs on, if there is one, and that keeps what it leaves running until all is measured."""
    interrupt: Interrupt
    cleaning: CleanUp
    isolated: Isolated | None
    """The control group of the launches, if they have one."""
    jobs: int | None
    until_one_changed: bool
    """Whether the first benchmark that is found changed ends the pairs of all."""

    def runner(self, hooks: Hooks | None = None, on: LaunchServer | None = None) -> Runner:
        """Return a runner on the session's server, or on another one, that is cleaned up after."""
        runner = Runner(on or self.launcher, self.interrupt.is_requested, hooks or Hooks(), watch=self.watch)
        return self.cleaning.watch(runner)

    @cached_property
    def valgrind(self) -> Valgrind:
        """The counter; asked for its version once."""
        return self.world.valgrind(self.world.search_path)


def stages(
    header: Weighing | Run,
    targets: Targets,
    journal: Journal,
    rows: list[LaunchRow],
    session: Session,
    spent_s: float,
) -> Iterator[Stage]:
    """Yield the stages of a measurement in order: the heap, counts, times; none if there is no benchmark."""
    if not header.benchmarks:
        return
    runner = session.runner(targets.hooks)
    if header.settings.heap is not None:
        from steelyard.design.heap import HeapStage

        yield HeapStage(targets, runner, journal.heap, session.watch).run
    if needs_counting(header):
        yield partial(_count, journal=journal, session=session)
    if timed(header.settings.metrics):
        series = journaled_series(header.settings, targets, session.launcher, journal)
        stretches = [*header.watch.stretches] if header.watch else []
        watched = Watched(journal.stretch, stretches, stood_s=lambda: session.clock.stood_s)
        files = NamedFiles.of(header, journal.name_files)
        recorder = Recorder(targets, runner, journal, KeptRows(rows), series, watched, files=files)
        yield partial(_time, recorder=recorder, session=session, spent_s=spent_s, stopped=header.stop)


def needs_counting(record: Weighing | Run) -> bool:
    """Whether something is to be counted, and is not yet."""
    metrics = record.settings.metrics
    return bool(counted(metrics)) and (not timed(metrics) or bool(missing_counts(record)))


def _count(record: Weighing | Run, journal: Journal, session: Session) -> tuple[Weighing | Run, SteelyardError | None]:
    from steelyard.design.counting.stage import CountingStage, CountingTools

    world = session.world
    tools = CountingTools(
        session.valgrind,
        world.environment,
        session.jobs or len(world.processors()),
        world.launcher,
        world.clock,
    )
    stage = CountingStage(record, tools, journal, session.watch)
    session.cleaning.cancels.append(stage.cancel)
    session.cleaning.has_begun_checks.append(stage.has_begun)
    if session.interrupt.is_requested():  # before there was anything to cancel
        stage.cancel()
    return stage.run()


def _time(
    record: Weighing | Run, recorder: Recorder, session: Session, spent_s: float, stopped: Sequence[StopReason]
) -> tuple[Weighing | Run, SteelyardError | None]:
    from steelyard.design.timing.alone import RunMeasurement
    from steelyard.design.timing.experiment import Experiment

    clock, watch = session.clock, session.watch
    settle = partial(session.world.settle, session.interrupt.is_requested)
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
        else RunMeasurement(record, recorder, clock, watch, spent_s)
    )
    with _watching(recorder.watched, record.settings, session):
        record = experiment.run()
    seen = {"watch": recorder.watched.watch(), "files": recorder.files.contents()}
    return record.model_copy(update=seen), experiment.error


@contextmanager
def _watching(watched: Watched, settings: Settings, session: Session) -> Iterator[None]:
    """Watch who else runs, if that is wanted; what was seen last is kept, too."""
    if not settings.watch:
        yield
        return
    # What --setup has left running is a part of what is measured.
    servers = {one.server_pid for one in (session.launcher, session.starter) if one is not None}
    with session.world.watch_over(servers, settings.cpu) as watched.watching:
        yield
    with suppress(UnwrittenError):  # the end of the journal cannot be written either, which is reported
        watched.keep()
