"""A whole check: of a program's benchmarks, or of a command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from steelyard import __version__
from steelyard.design.check.checker import Checker
from steelyard.design.heap import refuse_unwatchable
from steelyard.design.runner.draws import draw_pair
from steelyard.design.runner.failure import Interrupted
from steelyard.design.runner.interrupt import Interrupt
from steelyard.design.runner.runner import Runner
from steelyard.design.runner.running_clock import RunningClock
from steelyard.design.runner.target import HARNESS_REMEDY, listing_target, no_benchmark_error, read_list
from steelyard.design.suite.selection import choose_benchmarks
from steelyard.design.world import World
from steelyard.model.errors import InterruptedBeforeStart
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.progress import Watch
from steelyard.model.settings import Settings
from steelyard.model.soundness import Looked, Soundness
from steelyard.model.subject import Subject
from steelyard.subjects.command import command_subject, launch_maker, shared_environment
from steelyard.subjects.harness import AUTO, Harness, Listed, harness_named, recognised_harness

NOTHING_TRIED = "interrupted before the first rule was tried"


def check_target(
    subject: Subject,
    settings: Settings,
    world: World,
    watch: Watch,
    *,
    only: Sequence[str],
    seconds: float,
    heap: bool = False,
) -> Soundness:
    """Check one target; `seconds` is the time for the launches of each benchmark.

    If its heap is watched, each has two more launches. If the user stops the check, what was launched until then is
    judged. Raises InterruptedBeforeStart if no rule was tried by then, LaunchError if the target cannot be tried at
    all, UsageError if no benchmark is chosen, or if the heap of such a program cannot be watched.
    """
    started = world.clock()
    program = Path(subject.program)
    if heap:
        refuse_unwatchable(program, subject.name, "--heap", "watch")
    shared = shared_environment(settings, world.environment)
    make = launch_maker(subject, settings, shared)
    with (
        world.launcher() as launcher,
        Interrupt([launcher.cancel], world.clock) as interrupt,
        RunningClock(world.clock) as clock,
    ):
        launcher.waiting = lambda _: clock.while_waiting(watch)
        runner = Runner(launcher, interrupt.is_requested)
        checker = Checker(make, runner, seconds, watch, settings.seed, clock, program if heap else None)
        if settings.harness is None:
            empty = launch_maker(command_subject("true", "true", "empty", shell=False), settings, shared)
            name, benchmarks, looked = None, [subject.command], checker.command(subject.command, empty)
        else:
            name, benchmarks, looked = _check_harness(settings.harness, checker, subject, only)
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
    )


def _check_harness(
    named: str, checker: Checker, subject: Subject, only: Sequence[str]
) -> tuple[str, list[str], list[Looked]]:
    """Return the harness of a program, its chosen benchmarks, and what is found of them."""
    spec = checker.make(draw_pair(checker.seed, 0, 0))
    name = recognised_harness([spec]) if named == AUTO else named
    harness = harness_named(name)
    listed = _list_benchmarks(harness, subject, spec, checker.runner)
    chosen = [one.name for one in choose_benchmarks(listed, only, "its")]
    return name, chosen, checker.benchmarks(harness, [one.name for one in listed], chosen)


def _list_benchmarks(harness: Harness, subject: Subject, spec: LaunchSpec, runner: Runner) -> list[Listed]:
    target = listing_target(harness, spec, subject.name, HARNESS_REMEDY)
    try:
        listed = read_list(harness, runner.trial(target).measured, subject.name)
    except Interrupted:
        raise InterruptedBeforeStart(NOTHING_TRIED) from None
    if not listed:
        raise no_benchmark_error(subject)
    return listed
