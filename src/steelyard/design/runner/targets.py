"""What the benchmarks of a record launch."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from types import MappingProxyType

from steelyard.design.command_findings import describe_unshelled
from steelyard.design.runner.draws import draw_pair
from steelyard.design.runner.tandem import takes_samples_in_turn
from steelyard.design.runner.target import COMMAND_REMEDY, HARNESS_REMEDY, Hooks, Shared, Target, shared_target
from steelyard.model.launch_spec import Draw, LaunchSpec
from steelyard.model.metrics import timed
from steelyard.model.placeholders import LAYOUT, LAYOUT_PLACE, LOOPS
from steelyard.model.records import Run, Weighing
from steelyard.model.settings import Settings
from steelyard.model.sides import SIDES
from steelyard.model.subject import Subject
from steelyard.subjects.command import (
    command_subject,
    is_hook_by_shell,
    launch_maker,
    launch_spec,
    subject_in_layout,
    with_parameters,
)
from steelyard.subjects.harness import Work, harness_named
from steelyard.subjects.programs import weighed_file
from steelyard.subjects.revisions.shared import copied, loaded_beside
from steelyard.subjects.shell_words import shell_words

SideLayout = tuple[int, int, int]
"""A benchmark, one of its sides, and a layout of that side."""


@dataclass(frozen=True)
class Targets:
    """Every launch of a record."""

    of: Callable[[int, int, Draw], Target]
    """of(benchmark, side, draw)"""
    hooks: Hooks = field(default_factory=Hooks)
    empty_shell: LaunchSpec | None = None
    """An empty shell, measured in each pair and subtracted from its launches, where a shell runs them."""
    in_turn: Callable[[int, int, Draw, int], Target] | None = None
    """in_turn(benchmark, side, draw, order): beside a partner whose samples follow its own (order 0) or go before (1).

    None where samples are not taken in turn.
    """
    shared: Callable[[Sequence[int], int, Draw, Sequence[int]], Shared] | None = None
    """shared(benchmarks, side, draw, turns): one launch for all of these; it goes first in those whose turn is 0.

    None where each benchmark has a start of its own.
    """


def targets_of(
    record: Weighing | Run,
    shared: Mapping[str, str],
    hooks: Hooks | None = None,
    copies: Mapping[SideLayout, str] = MappingProxyType({}),
) -> Targets:
    """Return every launch of a record; `shared` is the environment that all of them see.

    The commands around launches are `hooks`, or those of the record. `copies` names the files that are launched in the
    place of a program, by benchmark, side and layout. Raises UsageError for a hook that is missing, or a program that a
    parameter names.
    """
    settings, limited = record.settings, with_time_limit(record)
    launches = _Launches(record, _subjects(record, copies), limited, shared)
    shell = command_subject(":", "shell", "shell", shell=True) if _times_shell(record) else None
    return Targets(
        launches.of,
        hooks_of(settings, shared, record.subjects) if hooks is None else hooks,
        None if shell is None else launch_spec(shell, limited, shared, draw_pair(settings.seed, 0, 0)),
        launches.in_turn if takes_samples_in_turn(settings) else None,
        launches.shared if settings.starts == "shared" else None,
    )


def _subjects(record: Weighing | Run, copies: Mapping[SideLayout, str]) -> dict[SideLayout, Subject]:
    """Return the subject of each benchmark, side and layout, with its program replaced by that of `copies`, if any."""
    places = product(range(len(record.benchmarks)), range(len(record.subjects[:2])), layouts_of(record.settings))
    subjects = {place: subject_of(record, place[0], place[1], layout=place[2]) for place in places}
    for place, copy in copies.items():
        subjects[place] = subjects[place].model_copy(update={"program": copy})
    return subjects


class _Launches:
    """The launches of a record's subjects, by their places; `limited` are the settings with the limit on a launch."""

    def __init__(
        self,
        record: Weighing | Run,
        subjects: Mapping[SideLayout, Subject],
        limited: Settings,
        shared: Mapping[str, str],
    ) -> None:
        settings = record.settings
        # One for each side: both may run at the same time, and some harnesses write to a folder of their own.
        self._harnesses = [None if settings.harness is None else harness_named(settings.harness) for _ in range(2)]
        self._record, self._settings, self._subjects = record, settings, subjects
        self._makers = {place: launch_maker(subject, limited, shared) for place, subject in subjects.items()}
        details = details_of(record)
        self._names = {place: shown_name(one.name, details[place[0]], place[2]) for place, one in subjects.items()}
        self._files = {place: weighed_file(subject) for place, subject in subjects.items()}
        self._remedies = {place: _remedy(subject, settings) for place, subject in subjects.items()}
        self._needs_cpu, self._first_layout = decides_by_cpu(settings), layouts_of(settings)[0]

    def of(self, benchmark: int, side: int, draw: Draw) -> Target:
        """Return one launch."""
        return self._target(benchmark, side, draw, "")

    def in_turn(self, benchmark: int, side: int, draw: Draw, order: int) -> Target:
        """Return one launch that takes its samples in turn with its partner."""
        return self._target(benchmark, side, draw, str(order))

    def shared(self, benchmarks: Sequence[int], side: int, draw: Draw, turns: Sequence[int]) -> Shared:
        """Return one launch of several benchmarks, whose side is one subject, to run beside that of the other side."""
        each = [self.of(benchmark, side, draw) for benchmark in benchmarks]
        place = benchmarks[0], side, draw.layout or self._first_layout
        launch, name = self._makers[place](draw), self._subjects[place].name
        # One that hangs is not to keep the others waiting for as many budgets as there are benchmarks.
        is_of_budget = self._settings.timeout_s is None
        return shared_target(each, launch, name, turns, has_one_limit=is_of_budget)

    def _target(self, benchmark: int, side: int, draw: Draw, order: str) -> Target:
        # What is tried before the first pair, or watched beside the pairs, is of the first layout.
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
            self._record.benchmarks[benchmark].subject_of(side),
            self._files[place],
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
    """Return what to do about a launch that failed; where a shell may have been forgotten, --shell is named first."""
    if settings.harness is not None:
        return HARNESS_REMEDY
    words = [] if subject.shell else shell_words(subject.command)
    if remedy := missing_file_remedy(subject, settings):
        return remedy
    if not words:
        return COMMAND_REMEDY
    return f"{describe_unshelled(words)}: give --shell, fix the command, or accept failures with --ignore-failure"


def missing_file_remedy(subject: Subject, settings: Settings) -> str | None:
    """Return what to do where a command names a file that its revision lacks; None if it names none."""
    missing = _missing_in_checkout(subject, settings)
    if missing is None:
        return None
    remedy = f"{missing} is in your folder and not in that revision, where it runs: "
    here, there = Path(settings.directory), Path(subject.directory or "")
    if loaded_beside(here / missing, there / missing):
        return remedy + copied(here / missing, missing)
    remedy += (
        "give its absolute path" if settings.harness is None else "name a folder that both have, or its absolute path"
    )
    if missing.endswith(".py"):
        remedy += ", and --env PYTHONPATH=src where the code is in src, so that each revision imports its own"
    return remedy


def _missing_in_checkout(subject: Subject, settings: Settings) -> str | None:
    """Return a word of the command that names a file in the user's folder, but none in the checkout where it runs."""
    if subject.revision is None or subject.directory is None:
        return None
    folders = [Path(settings.directory), Path(subject.directory)]
    words = (word.partition("::")[0] for word in subject.argv[1:])  # of pytest, the part to run follows the file's name
    return next((word for word in words if [_exists_in(one, word) for one in folders] == [True, False]), None)


def _exists_in(folder: Path, name: str) -> bool:
    return os.path.exists(folder / name)  # noqa: PTH110 - Path.exists() raises where a word is too long for a name


def hooks_of(settings: Settings, shared: Mapping[str, str], subjects: Sequence[Subject]) -> Hooks:
    """Return the commands around launches; raises UsageError for one that is missing.

    A shell runs those that need one: their time is not measured, so it costs nothing. The programs of the others are
    looked up before anything is measured.

    Where `subjects` run in folders of their own, so do the commands: one given for each subject in the folder of that
    subject and layout, one given for all in every subject's folder.
    """
    layouts = settings.layouts if any(LAYOUT_PLACE in (one.directory or "") for one in subjects) else 0
    folders = [
        (number, subject_in_layout(subject, layout).directory)
        for number, subject in enumerate(subjects)
        if subject.directory is not None
        for layout in (layouts_of(settings) if layouts else range(1))
    ]
    # They run as from the user's prompt: once, without the launches' time limit, pinning and input.
    of_launches = ("timeout_s", "cpu", "stdin", "output", "addresses")
    plain = settings.model_copy(update={**dict.fromkeys(of_launches), "repeat": 1})

    def specs(option: str, commands: list[str]) -> list[LaunchSpec]:
        placed: list[tuple[str, str | None]] = [(command, None) for command in commands]
        if commands and folders:
            placed = [(commands[min(number, len(commands) - 1)], folder) for number, folder in folders]
        around = [
            command_subject(command, option, option, shell=is_hook_by_shell(command), directory=folder)
            for command, folder in placed
        ]
        return [launch_spec(subject, plain, shared, draw_pair(settings.seed, 0, 0)) for subject in around]

    hooks = {name: specs(f"--{name}", commands) for name, commands in settings.hooks().items()}
    return Hooks(**hooks, layouts=layouts)


def with_time_limit(record: Weighing | Run) -> Settings:
    """Return the settings of timed launches, with a time limit for each launch.

    A launch that takes the whole budget leaves nothing for a verdict: one without a limit of its own has the budget as
    its limit, except at first (`longest_at_first_s`). A run has no verdict and describes a launch however long it
    takes, so it has no limit; but many processes in one launch are the user's choice, and have twice the budget.
    """
    settings = record.settings
    limit_s = longest_launch_s(settings)
    if settings.timeout_s is not None or limit_s is None:
        return settings
    if isinstance(record, Run):
        limit_s = 2 * limit_s if settings.repeat > 1 else None
    return settings.model_copy(update={"timeout_s": limit_s})


def longest_at_first_s(record: Weighing | Run) -> float | None:
    """Return how long a launch of a weighing may take until there is a pair, which may be more than the budget.

    None where such launches may take no longer than later ones.
    """
    settings = record.settings
    limit_s = longest_launch_s(settings)
    if isinstance(record, Run) or limit_s is None or settings.max_time_s is None or settings.timeout_s is not None:
        return None
    return max(limit_s, 2 * settings.max_time_s)


def first_limit_s(record: Weighing | Run) -> float | None:
    """Return after how many seconds the very first launch is given up; None if it may take as long as it likes."""
    return longest_at_first_s(record) or with_time_limit(record).timeout_s


def longest_launch_s(settings: Settings) -> float | None:
    """Return the budget in seconds, or a quarter of a longer one that nobody asked for, if that is more.

    A quarter leaves room for a warm-up and a pair; a launch that hangs has to end sooner than the whole.
    """
    if settings.max_time_s is None or settings.longest_time_s is None:
        return settings.max_time_s
    return max(settings.max_time_s, settings.longest_time_s / 4)


def work_of(record: Weighing | Run, number: int, seed: int = 0, side: int = 0) -> Work:
    """Return what a launch of one side of a harness's benchmark is to run."""
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
    """Whether every sample has to tell its processor time."""
    return timed(settings.metrics)[:1] == ["cpu"]


def layouts_of(settings: Settings) -> Sequence[int]:
    """Return the numbers of each side's layouts; only 0 where there is a single one."""
    return range(1, settings.layouts + 1) if settings.layouts else range(1)


def subjects_in_first_layout(record: Weighing | Run) -> list[Subject]:
    """Return the first build variant of each subject, itself if it has only one; raises UsageError if one is missing.

    Of the programs of a harness, the first is the only baseline.
    """
    settings, params = record.settings, {LAYOUT: "1"} if record.settings.layouts else {}
    return [
        with_parameters(_in_layout(one, settings, 1), params, _role(record, is_candidate=place > 0))
        for place, one in enumerate(record.subjects)
    ]


def _role(record: Weighing | Run, *, is_candidate: bool) -> str:
    """Return what an error calls a subject's command."""
    return "command" if isinstance(record, Run) else SIDES[is_candidate]


def _in_layout(subject: Subject, settings: Settings, layout: int) -> Subject:
    return subject_in_layout(subject, layout) if settings.layouts else subject


def subject_of(record: Weighing | Run, number: int, side: int, times: int = 1, layout: int = 1) -> Subject:
    """Return what one side of a benchmark launches in a layout; {loops} is `times` the loops asked for.

    Raises UsageError for a program that is missing.
    """
    benchmark = record.benchmarks[number]
    place = benchmark.subject_of(side)
    role = _role(record, is_candidate=place != benchmark.baseline)
    params = parameters_of(record, number, times, layout)
    return with_parameters(_in_layout(record.subjects[place], record.settings, layout), params, role)


def parameters_of(record: Weighing | Run, number: int, times: int = 1, layout: int = 1) -> dict[str, str]:
    """Return what each {name} stands for in a benchmark's commands, and in those before and after its launches."""
    counting = record.settings.counting
    loops = {LOOPS: str(times * counting.loops)} if counting and counting.loops else {}
    build = {LAYOUT: str(layout)} if record.settings.layouts else {}
    return {**record.benchmarks[number].in_command(), **loops, **build}


def details_of(record: Weighing | Run) -> list[str]:
    """Return for each benchmark what errors call it beside a subject's name: its parameters, if it has any."""
    if len(record.baselines) > 1:  # each has a command of its own
        return [one.name for one in record.benchmarks]
    return [one.entry or ", ".join(f"{key}={value}" for key, value in one.params.items()) for one in record.benchmarks]


def shown_name(name: str, details: str, layout: int = 0) -> str:
    """Return a subject's name for errors, with the details of a benchmark, and the layout if there are several."""
    all_details = ", ".join(filter(None, (details, f"layout {layout}" if layout else "")))
    return f"{name} ({all_details})" if all_details else name


def _times_shell(record: Weighing | Run) -> bool:
    """Whether the start of a shell is part of a time; counts include its instructions, as those of any process."""
    return any(subject.shell for subject in record.subjects) and bool(timed(record.settings.metrics))
