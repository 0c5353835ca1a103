"""A whole check: of a program's benchmarks, or of a command."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from steelyard import __version__
from steelyard.design.check.checker import Checker
from steelyard.design.heap import refuse_unwatchable
from steelyard.design.runner.draws import draw_pair
from steelyard.design.runner.runner import Runner
from steelyard.design.runner.target import HARNESS_REMEDY, listing_target, read_list
from steelyard.design.suite.selection import chosen_benchmarks
from steelyard.model.errors import MeasurementError
from steelyard.model.launches import LaunchSpec
from steelyard.model.progress import Progress
from steelyard.model.records import Settings, Subject
from steelyard.model.soundness import Soundness
from steelyard.subjects.command import command_subject, launch_maker, shared_environment
from steelyard.subjects.harness import AUTO, Harness, Listed, harness_named, recognised_harness


def check_target(
    subject: Subject,
    settings: Settings,
    runner: Runner,
    source: Mapping[str, str],
    watch: Callable[[Progress], None],
    *,
    only: Sequence[str],
    seconds: float,
    heap: bool = False,
    clock: Callable[[], float] = time.monotonic,
) -> Soundness:
    """Check one target; `seconds` for the launches of each benchmark, and two more each if its heap is watched too.

    Raises LaunchError if it cannot be tried at all, UsageError if no benchmark is chosen, or if the heap of such a
    program cannot be watched, Interrupted.
    """
    started = clock()
    shared = shared_environment(settings, source)
    make = launch_maker(subject, settings, shared)
    program = Path(subject.program)
    if heap:
        refuse_unwatchable(program, subject.name, "--heap", "watch")
    checker = Checker(make, runner, seconds, watch, settings.seed, clock, program if heap else None)
    name = settings.harness
    if name is None:
        benchmarks = [subject.command]
        empty = launch_maker(command_subject("true", "true", "empty", shell=False), settings, shared)
        looked = checker.command(subject.command, empty)
    else:
        name = recognised_harness([make(draw_pair(settings.seed, 0, 0))]) if name == AUTO else name
        harness = harness_named(name)
        listed = _listed(harness, subject, make(draw_pair(settings.seed, 0, 0)), runner)
        benchmarks = [one.name for one in chosen_benchmarks(listed, only, "its")]
        looked = checker.benchmarks(harness, [one.name for one in listed], benchmarks)
    return Soundness(
        tool=__version__,
        command=subject.command,
        harness=name,
        benchmarks=benchmarks,
        launches=runner.launches,
        seconds=clock() - started,
        looked=looked,
        allocating=checker.allocating,
    )


def _listed(harness: Harness, subject: Subject, spec: LaunchSpec, runner: Runner) -> list[Listed]:
    target = listing_target(harness, spec, subject.name, HARNESS_REMEDY)
    listed = read_list(harness, runner.trial(target).measured, subject.name)
    if not listed:
        raise MeasurementError(f"{subject.name} lists no benchmark: is it the right program?")
    return listed
