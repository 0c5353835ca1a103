"""The command line's work for programs: weigh, measure, count, check. Nothing is printed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Never, TypeVar, Unpack

from pydantic import ValidationError

from steelyard.api.arguments import read_argument, read_optional_argument
from steelyard.api.checks import DEFAULT_LIMIT_S, requested_check
from steelyard.api.keywords import Checking, CommandLine, Comparing, Counted, PathName, Running, options_of, seconds_of
from steelyard.api.names import default_names, names_of
from steelyard.api.options import Options
from steelyard.api.project import ProjectPlan, chosen_targets, project_plan
from steelyard.api.record import IncompleteError, ProjectRecord, Record
from steelyard.api.revisions import requested_run, weighing_of_revisions
from steelyard.api.settings import count_of_command, current_folder, weighing_of_commands
from steelyard.api.unused import unused_notes
from steelyard.api.wording import OTHER_NAMES, reword_errors, reword_sentence
from steelyard.design.check.session import check_target
from steelyard.design.outcome import Outcome
from steelyard.design.request import Request
from steelyard.design.session import measure
from steelyard.design.several import measure_all
from steelyard.design.world import World
from steelyard.model.errors import MeasurementError, NothingChosenError, SteelyardError, UsageError
from steelyard.model.files import describe_error
from steelyard.model.progress import Progress, Watch
from steelyard.model.project_file import Project, load_project
from steelyard.model.records import Run, Weighing
from steelyard.model.soundness import Soundness

_Kind = TypeVar("_Kind", Weighing, Run)

_INTERRUPTED = 130
_COMMANDS_HINT = "compare needs two commands or more, in a list: steelyard.compare(['./old', './new'])"


@reword_errors({**OTHER_NAMES, "--name": "names"})
def compare(
    commands: CommandLine | Sequence[CommandLine],
    *others: Never,
    names: str | Sequence[str] | None = None,
    progress: Watch | None = None,
    world: World | None = None,
    **keywords: Unpack[Comparing],
) -> Record[Weighing]:
    """Weigh commands against the first of them, in adjacent pairs in random order, until the verdict stands.

    `commands` are two or more command lines, each a text or the Path of a program; or one, with `base` (and
    `candidate`, `build`), which is weighed in two revisions of the git repository that this process is in. `names` are
    their names in the record. All other keywords are in `Comparing`, named as in a project's file (`steelyard docs
    api`). `progress` is called between launches, and while revisions are built. The record is kept in the user's store,
    too.

    Raises UsageError for what cannot be weighed, MeasurementError if a launch or a build fails, and IncompleteError,
    which has the `record`, after Ctrl-C or if some benchmarks of a suite fail (SteelyardError after a Ctrl-C before
    anything was measured). `world` is everything taken from
    outside: the launcher, the clock, the store.
    """
    if others:
        raise TypeError(_COMMANDS_HINT)
    world, watch, options = world or World(), _progress_watch(progress), options_of(keywords, Comparing)
    command_lines, given_names = read_argument("commands", commands), read_optional_argument("names", names)
    with ExitStack() as stack:
        with _usage_errors():
            request = stack.enter_context(_comparison_request(command_lines, given_names, options, watch, world))
        return _complete_record(Weighing, measure(request, watch, world))


@reword_errors()
def compare_project(
    folder: PathName = ".",
    *,
    targets: str | Sequence[str] | None = None,
    progress: Watch | None = None,
    world: World | None = None,
    **keywords: Unpack[Comparing],
) -> ProjectRecord:
    """Weigh what the project's file of a folder says, like `steelyard compare` without commands.

    Only `targets` that fit one of these patterns are weighed. Keywords take precedence over the file (`steelyard docs
    config`). The file says which commands are run, so trust whoever wrote it. This process is meanwhile in the folder
    of the file. Raises what `compare` does; if targets fail, those after them are measured all the same, and
    IncompleteError has the `records` of all, and as `project` what would have been returned.
    """
    world, watch, options = world or World(), _progress_watch(progress), options_of(keywords, Comparing)
    patterns, project = read_argument("targets", targets or ()), _project_of(read_argument("folder", folder))
    with ExitStack() as stack:
        with _usage_errors():
            chosen, left_out = chosen_targets(project, patterns, options)
            plan = stack.enter_context(project_plan(project, chosen, options, watch, world))
        records, failures = _measured_records(plan, watch, world)
    weighings = [one.data for one in records.values()]
    unused = [] if failures else unused_notes(project, patterns, options, weighings)
    notes = [*left_out, *plan.left_out, *unused]
    found = ProjectRecord([*records.values()], [*records], list(map(reword_sentence, notes)))
    if failures:
        raise _project_error(found, failures)
    return found


@reword_errors()
def run(
    command: CommandLine,
    *,
    name: str | None = None,
    progress: Watch | None = None,
    world: World | None = None,
    **keywords: Unpack[Running],
) -> Record[Run]:
    """Measure one command alone: no verdict, but medians, spreads and all samples.

    With `base` or `build` it runs in a revision of its own. The numbers of two runs taken one after the other differ by
    more than most changes, so use `compare` to weigh both at once. Keywords are in `Running`; raises what `compare`
    does.
    """
    world, watch, options = world or World(), _progress_watch(progress), options_of(keywords, Running)
    command_line, given_name = read_argument("command", command), read_optional_argument("name", name)
    with ExitStack() as stack:
        with _usage_errors():
            request = stack.enter_context(requested_run(command_line, given_name, options, watch, world))
        return _complete_record(Run, measure(request, watch, world))


@reword_errors()
def count(
    command: CommandLine,
    *,
    name: str | None = None,
    progress: Watch | None = None,
    world: World | None = None,
    **keywords: Unpack[Counted],
) -> Record[Run]:
    """Count what a command executes under Valgrind: instructions, or the cost of its memory accesses.

    Counts do not depend on what else the machine does. To compare two versions, ask `compare` for such `metrics`.
    Keywords are in `Counted`; raises what `compare` does.
    """
    world, watch, options = world or World(), _progress_watch(progress), options_of(keywords, Counted)
    command_line, given_name = read_argument("command", command), read_optional_argument("name", name)
    with _usage_errors():
        request = count_of_command(command_line, given_name, options, world)
    return _complete_record(Run, measure(request, watch, world))


@reword_errors()
def check(
    command: CommandLine,
    *,
    heap: bool | None = False,
    max_time: float | str | None = DEFAULT_LIMIT_S,
    progress: Watch | None = None,
    world: World | None = None,
    **keywords: Unpack[Checking],
) -> Record[Soundness]:
    """Check whether a command, or the benchmarks inside a program with a `harness`, are sound, rule by rule.

    With `base` or `build` it is checked in a revision of its own. `max_time` is for each benchmark, or for the command;
    with `heap`, allocations are counted, too. The record's `data` has what was found: `troubles()`, and everything
    `looked` at. Raises UsageError for what cannot be checked, MeasurementError if it cannot be built or tried, and
    IncompleteError after Ctrl-C.
    """
    world, watch, options = world or World(), _progress_watch(progress), options_of(keywords, Checking)
    limit_s = seconds_of("--max-time", read_argument("max_time", DEFAULT_LIMIT_S if max_time is None else max_time))
    watches_heap, command_line = bool(read_optional_argument("heap", heap)), read_argument("command", command)
    with ExitStack() as stack:
        with _usage_errors():
            request = stack.enter_context(requested_check(command_line, options, limit_s, watch, world))
        soundness = check_target(request, world, watch, seconds=limit_s, heap=watches_heap)
    record = Record(soundness)
    if soundness.interrupted:
        raise IncompleteError("interrupted; what was tried is in its record", [record], _INTERRUPTED)
    return record


def _project_of(start: str) -> Project:
    """Return the project of a folder; raise UsageError if it is no folder, or in no project."""
    if not os.path.isdir(start):  # noqa: PTH112 - Path.is_dir() raises where the name is too long for one
        raise UsageError(f"folder {start!r} is no folder: give that of the project's file, or one below it")
    folder = Path(start) if os.path.isabs(start) else Path(current_folder()) / start  # noqa: PTH117 - a text still
    project = load_project(folder.resolve())
    if project is None:
        raise UsageError(f"{start} is in no project: there is no steelyard.toml, which steelyard init writes")
    return project


def _comparison_request(
    commands: list[str], names: Sequence[str] | None, options: Options, watch: Watch, world: World
) -> AbstractContextManager[Request]:
    """Return what `compare` measures, for as long as the context lasts."""
    if options.revisions.given:
        return weighing_of_revisions(commands, options, watch, world, names=names)
    if len(commands) < 2:
        raise UsageError(f"{_COMMANDS_HINT}; or one in two revisions: steelyard.compare('./program', base='main')")
    side_names = names_of(names, None, default_names(commands))
    return nullcontext(weighing_of_commands(commands, side_names, options, world))


@contextmanager
def _usage_errors() -> Iterator[None]:
    """Turn errors about values of a wrong type, which a command line cannot have, into a UsageError like all others."""
    try:
        yield
    except ValidationError as error:
        raise UsageError(f"this cannot be asked: {describe_error(error)}") from error


def _progress_watch(progress: Watch | None) -> Watch:
    """Return the function that is told of the progress."""
    watch: Watch | None = read_optional_argument("progress", progress)

    def report(now: Progress) -> None:
        if watch is not None and not now.goes_on:
            watch(now)

    return report


def _complete_record(kind: type[_Kind], outcome: Outcome) -> Record[_Kind]:
    """Return what was measured as a record of this kind; raise what kept it from being complete."""
    if (error := _incomplete_error(outcome)) is not None:
        raise error
    assert isinstance(outcome.record, kind)  # noqa: S101 - the number of subjects decides it
    return Record(outcome.record, outcome.kept)


def _measured_records(
    plan: ProjectPlan, watch: Watch, world: World
) -> tuple[dict[str, Record[Weighing]], dict[str, SteelyardError]]:
    """Return what was measured of each part of a plan, and what kept parts from being complete, by the part's name.

    A part with none of the benchmarks that were asked for is left out; raises NothingChosenError if none has any.
    If the user interrupts a part, those after it have no turn.
    """
    records, failures = dict[str, Record[Weighing]](), dict[str, SteelyardError]()
    unchosen = list[NothingChosenError]()
    for part, outcome in measure_all(plan.parts, plan.total_s, watch, world, lambda _: None):
        if isinstance(outcome, NothingChosenError):
            unchosen.append(outcome)
            continue
        if isinstance(outcome, Outcome) and isinstance(outcome.record, Weighing) and not outcome.record.is_empty():
            records[part.name] = Record(outcome.record, outcome.kept, outcome.error)
        error = outcome if isinstance(outcome, SteelyardError) else _incomplete_error(outcome)
        if error is not None:
            failures[part.name] = error
            if error.exit_status == _INTERRUPTED:
                break
    if len(unchosen) == len(plan.parts):
        raise unchosen[0]
    return records, failures


def _project_error(found: ProjectRecord, failures: dict[str, SteelyardError]) -> SteelyardError:
    """Return the error that these parts of a project failed, with what was measured of all parts."""
    name, first = next(iter(failures.items()))
    if not any(record.data.derived for record in found.records):
        return first
    others = f"; so did {', '.join([*failures][1:])}" if len(failures) > 1 else ""
    status = max(error.exit_status for error in failures.values())
    incomplete = IncompleteError(f"{name}: {first}{others}", found.records, status, found)
    incomplete.__cause__ = first
    return incomplete


def _is_interrupted(outcome: Outcome) -> bool:
    """Return whether the user asked to stop, even if too late for this record: the program may have more to do."""
    return outcome.stop_came_late or "interrupted" in outcome.record.stop


def _incomplete_error(outcome: Outcome) -> SteelyardError | None:
    """Return the error that kept a record from being complete, with what was measured; None if it is complete."""
    if outcome.is_whole and not outcome.stop_came_late:
        return None
    record = Record(outcome.record, outcome.kept, outcome.error)
    if _is_interrupted(outcome) and not outcome.record.is_empty():
        where = f"what was measured is kept in {outcome.kept}" if outcome.kept else "what was measured is in its record"
        return IncompleteError(f"interrupted; {where}", [record], _INTERRUPTED)
    error = outcome.error or MeasurementError("nothing was measured")
    if outcome.record.derived is None:
        return error
    incomplete = IncompleteError(str(error), [record], error.exit_status)
    incomplete.__cause__ = error
    return incomplete
