"""What a record's benchmarks launch."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from types import MappingProxyType

from steelyard.design.runner.draws import draw_pair
from steelyard.design.runner.tandem import keeps_step
from steelyard.design.runner.target import COMMAND_REMEDY, HARNESS_REMEDY, Hooks, Shared, Target, shared_target
from steelyard.design.written import unshelled
from steelyard.model.launches import Draw, LaunchSpec
from steelyard.model.metrics import timed
from steelyard.model.records import Run, Weighing
from steelyard.model.settings import Settings
from steelyard.model.subject import Subject
from steelyard.subjects.command import (
    LAYOUT,
    LAYOUT_PLACE,
    command_subject,
    launch_maker,
    launch_spec,
    names_its_program,
    of_layout,
    with_parameters,
)
from steelyard.subjects.harness import Work, harness_named
from steelyard.subjects.shell_words import needs_shell, shell_words

LOOPS = "loops"
SideLayout = tuple[int, int, int]
"""A benchmark, a side of it, and a layout of this."""


@dataclass(frozen=True)
class Targets:
    """Every launch of a record."""

    of: Callable[[int, int, Draw], Target]
    """of(benchmark, side, draw)"""
    hooks: Hooks = field(default_factory=Hooks)
    empty_shell: LaunchSpec | None = None
    """What is measured in each pair and subtracted from its launches, where they are run by a shell."""
    in_turn: Callable[[int, int, Draw, int], Target] | None = None
    """in_turn(benchmark, side, draw, order): beside a partner whose samples follow its own (order 0) or go before (1).

    None where samples are not taken in turn.
    """
    shared: Callable[[Sequence[int], int, Draw, Sequence[int]], Shared] | None = None
    """shared(benchmarks, side, draw, turns): one launch for all of these, which goes first in those whose turn is 0.

    None where each has a start of its own.
    """


def targets_of(
    record: Weighing | Run,
    shared: Mapping[str, str],
    hooks: Hooks | None = None,
    copies: Mapping[SideLayout, str] = MappingProxyType({}),
) -> Targets:
    """Every launch of a record; `shared` is the environment that all of them find.

    The commands around launches are the record's, unless they were made before. Of a benchmark's side and layout among
    the `copies`, that file is launched in the place of its program. Raises UsageError for a hook, or for a program that
    a parameter names, that is missing.
    """
    settings, limited = record.settings, with_time_limit(record)
    launches = _Launches(record, _subjects(record, copies), limited, shared)
    shell = command_subject(":", "shell", "shell", shell=True) if _times_a_shell(record) else None
    return Targets(
        launches.of,
        hooks_of(settings, shared, record.subjects) if hooks is None else hooks,
        None if shell is None else launch_spec(shell, limited, shared, draw_pair(settings.seed, 0, 0)),
        launches.in_turn if keeps_step(settings) else None,
        launches.shared if settings.starts == "shared" else None,
    )


def _subjects(record: Weighing | Run, copies: Mapping[SideLayout, str]) -> dict[SideLayout, Subject]:
    """What each place launches; of the `copies`, that file in the place of its program."""
    places = product(range(len(record.benchmarks)), range(len(record.subjects[:2])), layouts_of(record.settings))
    subjects = {place: subject_of(record, place[0], place[1], layout=place[2]) for place in places}
    for place, copy in copies.items():
        subjects[place] = subjects[place].model_copy(update={"program": copy})
    return subjects


class _Launches:
    """The launches of a record's subjects, by their places; `limited` are the settings that hold for them."""

    def __init__(
        self,
        record: Weighing | Run,
        subjects: Mapping[SideLayout, Subject],
        limited: Settings,
        shared: Mapping[str, str],
    ) -> None:
        settings = record.settings
        # One for each side: both may run at the same time, and some write to a folder of their harness.
        self._harnesses = [None if settings.harness is None else harness_named(settings.harness) for _ in range(2)]
        self._record, self._settings, self._subjects = record, settings, subjects
        self._makers = {place: launch_maker(subject, limited, shared) for place, subject in subjects.items()}
        self._names = {place: called(record, place[0], one.name, place[2]) for place, one in subjects.items()}
        self._remedies = {place: _remedy(subject, settings) for place, subject in subjects.items()}
        self._needs_cpu, self._first_layout = decides_by_cpu(settings), layouts_of(settings)[0]

    def of(self, benchmark: int, side: int, draw: Draw) -> Target:
        """One launch."""
        return self._target(benchmark, side, draw, "")

    def in_turn(self, benchmark: int, side: int, draw: Draw, order: int) -> Target:
        """One beside its partner."""
        return self._target(benchmark, side, draw, str(order))

    def shared(self, benchmarks: Sequence[int], side: int, draw: Draw, turns: Sequence[int]) -> Shared:
        """One launch of several benchmarks, whose side is one subject, beside that of the other side."""
        each = [self.of(benchmark, side, draw) for benchmark in benchmarks]
        place = benchmarks[0], side, draw.layout or self._first_layout
        return shared_target(each, self._makers[place](draw), self._subjects[place].name, turns)

    def _target(self, benchmark: int, side: int, draw: Draw, order: str) -> Target:
        # What is tried before the first pair, or watched beside it, is of the first layout.
        place = benchmark, side, draw.layout or self._first_layout
        spec, work, start = self._makers[place](draw), None, None
        harness = self._harnesses[side]
        if harness is not None:
            work = work_of(self._record, benchmark, draw.hash_seed, side)
            # The sides alternate, so that each sample follows one of the other side and finds the same caches.
            work = replace(work, orders=order * work.samples)
            start = harness.starting(spec, work) if work.by_process else None
            spec = harness.running(spec, work)
        if self._settings.heap_shuffle:
            from steelyard.measure.heap import scattered

            spec = scattered(spec, draw.hash_seed)
            start = start and start.changed(lambda spec: scattered(spec, draw.hash_seed))
        return Target(
            self._names[place],
            spec,
            place_of(self._record, benchmark, side),
            self._subjects[place].program,
            harness,
            work,
            self._needs_cpu,
            self._settings.ignore_failure,
            self._remedies[place],
            layout=place[2],
            params=parameters_of(self._record, benchmark, layout=place[2]),
            start=start,
            needs_still=work is not None and work.still,
        )


def _remedy(subject: Subject, settings: Settings) -> str:
    """What to do about a launch that failed; that a shell was forgotten comes first."""
    if settings.harness is not None:
        return HARNESS_REMEDY
    words = [] if subject.shell else shell_words(subject.command)
    if remedy := remedy_of_missing(subject, settings):
        return remedy
    if not words:
        return COMMAND_REMEDY
    return f"{unshelled(words)}: give --shell, mend the command, or accept failures with --ignore-failure"


def remedy_of_missing(subject: Subject, settings: Settings) -> str | None:
    """What to do where a command names a file that its revision has not; None if there is none."""
    missing = _not_checked_out(subject, settings)
    if missing is None:
        return None
    said = f"{missing} is in your folder and not in that revision, where it runs: "
    said += (
        "give its absolute path" if settings.harness is None else "name a folder that both have, or its absolute path"
    )
    if missing.endswith(".py"):
        said += ", and --env PYTHONPATH=src where the code is in src, so that each revision imports its own"
    return said


def _not_checked_out(subject: Subject, settings: Settings) -> str | None:
    """A word of the command that names a file in the user's folder, and none in the checkout that it runs in."""
    if subject.revision is None or subject.directory is None:
        return None
    folders = [Path(settings.directory), Path(subject.directory)]
    words = (word.partition("::")[0] for word in subject.argv[1:])  # of pytest, what is run of the file comes behind
    return next((word for word in words if [_has(one, word) for one in folders] == [True, False]), None)


def _has(folder: Path, word: str) -> bool:
    return os.path.exists(folder / word)  # noqa: PTH110 - Path.exists() raises where a word is too long for a name


def hooks_of(settings: Settings, shared: Mapping[str, str], subjects: Sequence[Subject]) -> Hooks:
    """The commands around launches; raises UsageError for one that is missing.

    A shell runs those that need one: their time is not measured, so it costs nothing. Those that need none are looked
    up before anything is measured.

    Where `subjects` run in folders of their own, so do they: each in that of its subject and layout, and one for all in
    every subject's.
    """
    layouts = settings.layouts if any(LAYOUT_PLACE in (one.directory or "") for one in subjects) else 0
    folders = [
        (number, of_layout(subject, layout).directory)
        for number, subject in enumerate(subjects)
        if subject.directory is not None
        for layout in (layouts_of(settings) if layouts else range(1))
    ]
    # They run as they would from the user's prompt: no time limit of the launches, no pinning, no input, once.
    of_launches = ("timeout_s", "cpu", "stdin", "output", "addresses")
    plain = settings.model_copy(update={**dict.fromkeys(of_launches), "repeat": 1})

    def by_shell(command: str) -> bool:
        # It also finds the program that a parameter names, which is another one for each benchmark.
        return needs_shell(command) or names_its_program(command)

    def specs(option: str, commands: list[str]) -> list[LaunchSpec]:
        placed: list[tuple[str, str | None]] = [(command, None) for command in commands]
        if commands and folders:
            placed = [(commands[min(number, len(commands) - 1)], folder) for number, folder in folders]
        around = [
            command_subject(command, option, option, shell=by_shell(command), directory=folder)
            for command, folder in placed
        ]
        return [launch_spec(subject, plain, shared, draw_pair(settings.seed, 0, 0)) for subject in around]

    hooks = {name: specs(f"--{name}", commands) for name, commands in settings.hooks().items()}
    return Hooks(**hooks, layouts=layouts)


def with_time_limit(record: Weighing | Run) -> Settings:
    """The settings of launches that are timed, with a limit for each.

    One that takes the whole budget alone leaves none for a verdict: without a limit of its own it has that, and but for
    the first (`longest_at_first_s`) no more. A run has no verdict, and describes a launch however long it takes; but
    many processes that make up one are the user's choice, and have the budget and as much again.
    """
    settings = record.settings
    limit_s = longest_launch_s(settings)
    if settings.timeout_s is not None or limit_s is None:
        return settings
    if isinstance(record, Run):
        limit_s = 2 * limit_s if settings.repeat > 1 else None
    return settings.model_copy(update={"timeout_s": limit_s})


def longest_at_first_s(record: Weighing | Run) -> float | None:
    """How long launches of a weighing may take until there is a pair, which may take more than the budget.

    None where they may take no longer than those after them.
    """
    settings = record.settings
    limit_s = longest_launch_s(settings)
    if isinstance(record, Run) or limit_s is None or settings.max_time_s is None or settings.timeout_s is not None:
        return None
    return max(limit_s, 2 * settings.max_time_s)


def first_given_up_s(record: Weighing | Run) -> float | None:
    """After how long the very first launch is given up; None where it may take as long as it likes."""
    return longest_at_first_s(record) or with_time_limit(record).timeout_s


def longest_launch_s(settings: Settings) -> float | None:
    """The budget; of a longer one that nobody asked for what allows a warm-up and a pair: a hang has to end sooner."""
    if settings.max_time_s is None or settings.longest_time_s is None:
        return settings.max_time_s
    return max(settings.max_time_s, settings.longest_time_s / 4)


def work_of(record: Weighing | Run, number: int, seed: int = 0, side: int = 0) -> Work:
    """What a launch of one side of a benchmark of a harness is to run."""
    benchmark = record.benchmarks[number]
    return Work(
        benchmark.entry or benchmark.name,
        benchmark.loops_of(side) or 1,
        benchmark.samples or 1,
        seed,
        still=record.settings.clock == "still" and benchmark.clock != "plain",
        by_process=benchmark.clock == "process",
    )


def decides_by_cpu(settings: Settings) -> bool:
    """Whether every sample has to tell its time on a processor."""
    return timed(settings.metrics)[:1] == ["cpu"]


def layouts_of(settings: Settings) -> Sequence[int]:
    """The layouts of each side, by which its commands are told apart; 0 alone where there is but one."""
    return range(1, settings.layouts + 1) if settings.layouts else range(1)


def of_first_layout(subject: Subject, settings: Settings, role: str) -> Subject:
    """The first build variant of a subject, itself where it has but one; raises UsageError where that is missing."""
    return with_parameters(_of_build(subject, settings, 1), {LAYOUT: "1"} if settings.layouts else {}, role)


def _of_build(subject: Subject, settings: Settings, layout: int) -> Subject:
    return of_layout(subject, layout) if settings.layouts else subject


def place_of(record: Weighing | Run, number: int, side: int) -> int:
    """Which of the subjects one side of a benchmark is."""
    benchmark = record.benchmarks[number]
    return benchmark.candidate if side == 1 else benchmark.baseline


def subject_of(record: Weighing | Run, number: int, side: int, times: int = 1, layout: int = 1) -> Subject:
    """What one side of a benchmark launches of one layout; {loops} in its arguments is so many `times` those asked for.

    Raises UsageError for a program that is missing.
    """
    benchmark, place = record.benchmarks[number], place_of(record, number, side)
    sides = ("command", "command") if isinstance(record, Run) else ("baseline", "candidate")
    role = sides[place != benchmark.baseline]
    params = parameters_of(record, number, times, layout)
    return with_parameters(_of_build(record.subjects[place], record.settings, layout), params, role)


def parameters_of(record: Weighing | Run, number: int, times: int = 1, layout: int = 1) -> dict[str, str]:
    """What each {name} stands for in a benchmark's commands, and in those before and after its launches."""
    counting = record.settings.counting
    loops = {LOOPS: str(times * counting.loops)} if counting and counting.loops else {}
    build = {LAYOUT: str(layout)} if record.settings.layouts else {}
    return {**record.benchmarks[number].in_command(), **loops, **build}


def called(record: Weighing | Run, number: int, name: str, layout: int = 0) -> str:
    """A subject's name in an error: with the benchmark's parameters, if it has some, and which layout of several."""
    benchmark = record.benchmarks[number]
    values = benchmark.entry or ", ".join(f"{key}={value}" for key, value in benchmark.params.items())
    if any(one.baseline != benchmark.baseline for one in record.benchmarks):  # each has a command of its own
        values = benchmark.name
    several = f"layout {layout}" if record.settings.layouts and layout else ""
    said = ", ".join(filter(None, (values, several)))
    return f"{name} ({said})" if said else name


def _times_a_shell(record: Weighing | Run) -> bool:
    """Whether a shell's start is part of a time; counts have its instructions, as those of any process."""
    return any(subject.shell for subject in record.subjects) and bool(timed(record.settings.metrics))
