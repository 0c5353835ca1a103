"""`steelyard compare`: weigh commands against the first of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.api.kept import kept_paths
from steelyard.api.names import default_names, names_of
from steelyard.api.revisions import weighing_of_revisions
from steelyard.api.settings import check_budget, current_folder, parameters_of, weighing_of_commands
from steelyard.api.suggestions import suggest_revisions, suggest_values
from steelyard.cli.command import command
from steelyard.cli.compare_options import CompareOptions
from steelyard.cli.inputs import warn_of_unread_input
from steelyard.cli.options import FileOptions
from steelyard.cli.outputs import (
    absolute,
    check_apart,
    check_not_launched,
    check_writable,
    earlier_files_removed_on_error,
    is_printed,
)
from steelyard.cli.quotes import check_no_files
from steelyard.cli.say import say
from steelyard.cli.status import INTERRUPTED
from steelyard.cli.views import in_units
from steelyard.cli.wrong_usage import RESUME_LACKS_VALUE
from steelyard.model.errors import InterruptedBeforeStart, UsageError

if TYPE_CHECKING:
    from steelyard.design.extra_budget import ExtraBudget
    from steelyard.design.outcome import Outcome
    from steelyard.design.request import Request
    from steelyard.design.world import World
    from steelyard.model.findings import Finding
    from steelyard.model.progress import Watch
    from steelyard.model.project_file import Project
    from steelyard.model.records import Weighing


@command(
    CompareOptions,
    examples=(
        "steelyard compare 'gzip -1 -c /bin/sh' 'gzip -9 -c /bin/sh' --margin 2%",
        "steelyard compare 'sort -n {f}' 'sort {f}' -L f /etc/passwd,/etc/group",
    ),
)
def compare(options: CompareOptions, world: World) -> int:
    """Weigh commands: say whether each CANDIDATE is slower or faster than BASELINE, or the same.

    Without commands those of the project's file are weighed, steelyard.toml (see steelyard init).

    They run in adjacent pairs, in random order, until the verdict stands or the budget ends.
    Limits for a CI job are steelyard gate's, which reads what --json keeps (steelyard docs ci).

    Exit status: 0 nothing is slower, 1 a candidate is slower, 2 wrong usage, 3 a measurement failed, 4 undecided
    (with --strict), 130 interrupted.
    """
    check_writable(*options.files.paths(), options.launch.output)
    if options.tuned:
        world.tuner().check_untuned()  # before anything is built
    with in_units(options.unit):
        return _compare(options, world)


def _compare(options: CompareOptions, world: World) -> int:
    if options.resume is not None:
        return _carry_on(options, options.resume, world)
    if project := _project(options):
        from steelyard.cli.several import weigh_project

        return weigh_project(project, options, world)
    return _weigh(options, world)


def _weigh(options: CompareOptions, world: World) -> int:
    from steelyard.cli.calm import tuned
    from steelyard.cli.outcome import report_outcome, show_search
    from steelyard.cli.screen import watching
    from steelyard.design import session

    with (
        earlier_files_removed_on_error(*options.files.paths()),
        watching(world) as watch,
        _requested_weighing(options, watch, world) as request,
    ):
        watch.wipe()
        check_not_launched(request, *options.files.paths())
        warn_of_unread_input(options.launch)
        with tuned(options.tuned, request.settings.cpu, world):
            outcome = session.attempt(request, watch, world)
    status = report_outcome(outcome, options.files, world, functions=options.functions, strict=options.strict)
    if options.commands and options.revisions.given and status != INTERRUPTED:
        from steelyard.api.next_search import next_search_of_command

        search = next_search_of_command(options.commands[0], outcome.record, options, world.environment)
        show_search(search, world, beside_data=is_printed(*options.files.paths()))
    return status


def _carry_on(options: CompareOptions, file: Path, world: World) -> int:
    from steelyard.cli.calm import tuned
    from steelyard.cli.outcome import report_outcome, show_search
    from steelyard.cli.screen import watching
    from steelyard.design import session
    from steelyard.report.resumption import lines

    if str(file).startswith("--"):  # the next option was taken for its value
        raise UsageError(RESUME_LACKS_VALUE)
    _refuse_other_options(options)
    (path,) = kept_paths(world, file)
    outputs = [*map(absolute, options.files.paths())]
    check_apart(outputs[1:], [path])  # what is carried on may be replaced by its whole, but not by a view of that
    others = [
        one for one in options.files.paths() if one is not None and os.path.realpath(one) != os.path.realpath(path)
    ]

    launches_before = 0

    def around(record: Weighing, findings: Sequence[Finding]) -> AbstractContextManager[None]:
        nonlocal launches_before
        launches_before = len(record.launches)
        check_not_launched(record, *outputs)
        say(*lines(record, str(path)))  # the record decides what is run, and not this command line
        for finding in findings:
            say(finding.message)
        return tuned(options.tuned, record.settings.cpu, world)

    try:
        with earlier_files_removed_on_error(*others), watching(world) as watch:
            outcome = session.resume(
                path, watch, world, around=around, trusted=options.trust_journal, more=_additional_budget(options)
            )
    except InterruptedBeforeStart:  # what an earlier session measured is there still
        raise InterruptedBeforeStart(f"interrupted before anything more was measured; {path} stays as it was") from None
    if len(outcome.record.launches) == launches_before and "futile" in outcome.record.stop:
        say("nothing more was measured, as no verdict is within reach of so little more")
    status = report_outcome(outcome, options.files, world, functions=options.functions, strict=options.strict)
    if status != INTERRUPTED:
        from steelyard.api.next_search import next_search_of_record

        search = next_search_of_record(outcome.record, world.environment)
        show_search(search, world, beside_data=is_printed(*options.files.paths()))
    _say_new_name(path, outcome, options.files)
    return status


_OPTIONS_WITH_RESUME = {
    "resume",
    "trust_journal",
    "tuned",
    "max_time",
    "pairs",
    "strict",
    "functions",
    "unit",
    *(file.name for file in fields(FileOptions)),
}


def _refuse_other_options(options: CompareOptions) -> None:
    """Raise UsageError for options that a resumed weighing has already: they would be ignored, or mix two plans."""
    for name, option in options.given.items():
        if name not in _OPTIONS_WITH_RESUME:
            what = "other commands" if name == "commands" else option
            raise UsageError(f"--resume takes its commands and options from the journal: leave {what} out")


def _additional_budget(options: CompareOptions) -> ExtraBudget | None:
    """Return the additional budget for a weighing that ended undecided, if one is given."""
    from steelyard.design.extra_budget import ExtraBudget

    judging = options.judging
    if judging.max_time is None and judging.pairs is None:
        return None
    check_budget(judging)
    return ExtraBudget(judging.max_time, judging.pairs)


def _project(options: CompareOptions) -> Project | None:
    """Return the project whose targets are weighed if no command is given; None if there is none."""
    if options.commands or options.trust_journal:
        return None

    from steelyard.model.project_file import load_project

    return load_project(Path(current_folder()))


def _say_new_name(path: Path, outcome: Outcome, files: FileOptions) -> None:
    """Say under which name a record is kept if the one that it continues stays under its own name."""
    from steelyard.model.journal import is_journal

    kept = outcome.kept
    stays = path.is_file() and not is_journal(path)  # of a journal elsewhere, that is said where it is kept
    if kept is None or not stays or "interrupted" in outcome.record.stop:
        return
    if files.json is None or kept.parent == path.parent:  # else the whole is in the user's own file
        say(f"kept as {kept.name}; {path.name} stays as it was")


def _requested_weighing(options: CompareOptions, watch: Watch, world: World) -> AbstractContextManager[Request]:
    """Return what the command line asks for, for as long as it is measured."""
    if options.trust_journal:
        raise UsageError("--trust-journal is for what --resume carries on: leave it out")
    if options.revisions.given:
        commands = options.commands or []
        check_no_files(options.name or [], commands)
        return weighing_of_revisions(commands, options, watch, world, names=options.name, listed=options.names)
    return nullcontext(_request_for_commands(options, world))


def _request_for_commands(options: CompareOptions, world: World) -> Request:
    commands = options.commands or []
    if len(commands) < 2:
        if commands and (suggestion := suggest_revisions(commands, commands[0], world.environment)):
            raise UsageError(suggestion)
        if commands and (parameters := parameters_of(options, commands)):
            raise UsageError(suggest_values(commands[0], parameters, shell=options.launch.shell))
        raise UsageError(
            "compare needs two commands or more, each in quotes: steelyard compare './old' './new'; or one in two "
            "revisions: steelyard compare --base main './program'; or a project's file, which steelyard init writes"
        )
    if options.target:
        raise UsageError("--target chooses from those of a project's file: leave it out, or the commands")
    check_no_files(options.name or [], commands)
    return weighing_of_commands(
        commands, names_of(options.name, options.names, default_names(commands)), options, world
    )
