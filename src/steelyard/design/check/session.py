"""A whole check: of a program's benchmarks, or of a command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from steelyard import __version__
from steelyard.design.check.checker import Checker
from steelyard.design.heap import refuse_unwatchable
from steelyard.design.runner.draws import draw_pair
from steelyard.design.runner.failure import Interrupted
from steelyard.design.runner.target import HARNESS_REMEDY, no_benchmark_error
from steelyard.design.runner.targets import hooks_of, missing_file_remedy
from steelyard.design.session import open_session, set_up
from steelyard.design.suite.selection import Selection
from steelyard.design.world import World
from steelyard.model.errors import InterruptedBeforeStart
from steelyard.model.findings import Finding
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.progress import Watch
from steelyard.model.settings import Settings
from steelyard.model.soundness import Looked, Soundness
from steelyard.model.subject import Subject
from steelyard.subjects.command import command_subject, launch_maker, shared_environment
from steelyard.subjects.harness import AUTO, Harness, Listed, harness_named, recognised_harness

NOTHING_TRIED = "interrupted before the first rule was tried"


@dataclass(frozen=True, kw_only=True)
class CheckRequest:
    """One check: of a command, or of the benchmarks inside a program."""

    subject: Subject
    settings: Settings
    selection: Selection = field(default_factory=Selection)
    findings: Sequence[Finding] = ()
    """What the user should know about the revision that it is in."""


def check_target(request: CheckRequest, world: World, watch: Watch, *, seconds: float, heap: bool = False) -> Soundness:
    """Check one target; `seconds` is the time for the launches of each benchmark.

    If its heap is watched, each has two more launches. If the user stops the check, what was launched until then is
    judged. Raises InterruptedBeforeStart if no rule was tried by then, MeasurementError if the target cannot be tried
    at all, or a command around its launches fails, UsageError if no benchmark is chosen, or if the heap of such a
    program cannot be watched.
    """
    subject, settings, started = request.subject, request.settings, world.clock()
    program = Path(subject.program)
    if heap:
        refuse_unwatchable(program, subject.name, "--heap", "watch")
    shared = shared_environment(settings, world.environment)
    make = launch_maker(subject, settings, shared)
    with open_session(world, watch, settings) as session:
        set_up(settings, [subject], session)
        hooks = hooks_of(settings, shared, [subject])
        session.cleaning.set_hooks(hooks)
        runner = session.runner(hooks)
        checker = Checker(
            make,
            runner,
            seconds,
            watch,
            settings.seed,
            session.clock,
            program if heap else None,
            remedy=missing_file_remedy(subject, settings),
            ignore_failure=settings.ignore_failure,
        )
        if settings.harness is None:
            empty = launch_maker(command_subject("true", "true", "empty", shell=False), settings, shared)
            name, benchmarks, looked = None, [subject.name], checker.command(subject.name, empty)
        else:
            name, benchmarks, looked = _check_harness(settings.harness, checker, subject, request.selection)
        try:
            session.cleaning.run()
        except Interrupted:
            checker.interrupted = True
    if checker.interrupted and all(one.outcome == "untried" for one in looked):
        raise InterruptedBeforeStart(NOTHING_TRIED)
    return Soundness(
        tool=__version__,
        command=subject.command,
        harness=name,
        benchmarks=benchmarks,
        launches=runner.launches,
        seconds=world.clock() - started,
        interrupted=checker.interrupted,
        looked=looked,
        allocating=checker.allocating,
        findings=[*request.findings],
    )


def _check_harness(
    named: str, checker: Checker, subject: Subject, selection: Selection
) -> tuple[str, list[str], list[Looked]]:
    """Return the harness of a program, its chosen benchmarks, and what is found of them."""
    spec = checker.make(draw_pair(checker.seed, 0, 0))
    name = recognised_harness([spec]) if named == AUTO else named
    harness = harness_named(name)
    listed = _list_benchmarks(harness, subject, spec, checker)
    names = [one.name for one in selection.choose(listed, "its")]
    return name, names, checker.benchmarks(harness, [one.name for one in listed], names)


def _list_benchmarks(harness: Harness, subject: Subject, spec: LaunchSpec, checker: Checker) -> list[Listed]:
    remedy = checker.remedy or HARNESS_REMEDY
    try:
        listed = checker.runner.list_benchmarks(harness, spec, subject.name, remedy)
    except Interrupted:
        raise InterruptedBeforeStart(NOTHING_TRIED) from None
    if not listed:
        raise no_benchmark_error(subject)
    return listed
