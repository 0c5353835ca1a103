"""How to go on where a revision became slower by one of several commits: by a search for that commit."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.api.options import HOOKS, Judging, Options, Revisions
from steelyard.api.targets import names_with, values_of
from steelyard.model.derived import deciding_of
from steelyard.model.errors import SteelyardError
from steelyard.model.project_file import is_own_alone
from steelyard.model.records import Weighing
from steelyard.model.typed import command_line
from steelyard.subjects.command import PASSED_ON

if TYPE_CHECKING:
    from steelyard.model.bisection import Commit
    from steelyard.model.derived import Verdict
    from steelyard.model.project import Target
    from steelyard.model.project_file import Project
    from steelyard.model.records import Run
    from steelyard.model.subject import RevisionFacts
    from steelyard.subjects.revisions.git import Repository

# What is asked of a weighing and either does not change what a search launches, or is asked of the search, too.
_OF_TARGET = ("base", "candidate", "benchmark", "seed", "control", "pairing")
_OF_COMMAND = (*_OF_TARGET, "build", "harness")
# The same as settings, with those that every weighing has. A search has its own budget, and alpha for all of its steps.
_ASKED_OF_SEARCHES = {
    *("margin", "metrics", "alpha", "reserve", "family", "pairs", "max_time_s", "longest_time_s"),
    *("seed", "pairing", "addresses", "environment", "directory", "counting"),
}


def next_search_of_project(
    project: Project,
    weighings: Sequence[tuple[Collection[str], Weighing | Run]],
    options: Options,
    environment: Mapping[str, str],
) -> str | None:
    """Return the command that finds the commit by which a target became slower, of the one that did so the most.

    Each of the `weighings` has the names of its targets. None if there is nothing to find, if a search would weigh
    something else than these did, and if only one commit lies between the two sides.
    """
    records = [record for _, record in weighings]
    for record, verdict in _slower(records, options, _OF_TARGET):
        names = next(names for names, one in weighings if one is record)
        known = [one for one in project.targets if one.name in names and _has(one, verdict.benchmark)]
        target = next((one for one in known if not _has_unlike_sides(project, one)), None)
        if target is not None:  # all have the same two revisions, so that git is asked of the first
            chosen = ["--target", target.name] if len(project.targets) > 1 else []
            benchmark = ["-b", verdict.benchmark] if target.harness or target.parameters else []
            ends = _ends(project.folder, record, verdict, environment)
            return (
                command_line(["steelyard", "bisect", *ends, *chosen, *benchmark, *_judged(options)]) if ends else None
            )
    return None


def _has(target: Target, benchmark: str) -> bool:
    """Return whether a target has a benchmark, as far as its own file tells."""
    return target.harness is not None or any(names_with(target, one)[-1] == benchmark for one in values_of(target))


def _has_unlike_sides(project: Project, target: Target) -> bool:
    """Return whether each side has commands of its own around launches, which the commits of a search cannot have."""
    return any(len(getattr(target, hook) or getattr(project.compare, hook) or ()) > 1 for hook in HOOKS)


def next_search_of_command(
    command: str, record: Weighing | Run, options: Options, environment: Mapping[str, str]
) -> str | None:
    """Return the command that finds the commit by which one command became slower; None as for a project."""
    for weighing, verdict in _slower([record], options, _OF_COMMAND)[:1]:
        if ends := _ends(Path.cwd(), weighing, verdict, environment):
            build = ["--build", options.revisions.build] if options.revisions.build else []
            harness = ["--harness", options.suite.harness, "-b", verdict.benchmark] if options.suite.harness else []
            return command_line(["steelyard", "bisect", *ends, *build, *harness, *_judged(options), command])
    return None


def next_search_of_record(record: Weighing | Run, environment: Mapping[str, str]) -> str | None:
    """Return the command as for one command, of a weighing whose record alone tells what was asked of it."""
    subject, settings = record.subjects[0], record.settings
    asked = {name for name, value in settings.model_dump(exclude_defaults=True).items() if value}
    is_plain = asked <= _ASKED_OF_SEARCHES and {*settings.environment} <= {*PASSED_ON} and not subject.shell
    # Other names are those of a project's targets, and other benchmarks those of values of a parameter.
    is_of_command = [one.name for one in record.benchmarks] == [subject.command]
    if not (is_plain and is_of_command and Path(settings.directory) == Path.cwd()):
        return None
    given = {name: name for name, setting in (("margin", "margin"), ("metric", "metrics")) if setting in asked}
    judging = Judging(margin=f"{100 * settings.margin:g}%", metric=settings.metrics, given=given)
    revisions = Revisions(build=subject.revision.build if subject.revision else None)
    return next_search_of_command(subject.command, record, Options(revisions=revisions, judging=judging), environment)


def _slower(
    records: Sequence[Weighing | Run], options: Options, searched_for: Collection[str]
) -> list[tuple[Weighing, Verdict]]:
    """Return what was found slower, the most first; nothing if a search could not ask for all that the caller did."""
    groups = (options.revisions, options.weighing, options.suite, options.launch)
    if any({*group.given}.difference(searched_for) for group in groups):
        return []
    weighings = [record for record in records if isinstance(record, Weighing)]
    found = [
        (record, verdict)
        for record in weighings
        for verdict in deciding_of(record.verdicts)
        if verdict.verdict == "slower"
    ]
    return sorted(found, key=lambda one: -(one[1].change or 0.0))


def _judged(options: Options) -> list[str]:
    """Return the options by which the caller judged otherwise than by default, or than the project's file says."""
    judging = options.judging
    metrics = ["--metric", ",".join(judging.metric)] if judging.is_given("metric") and judging.metric else []
    return [*metrics, *(["--margin", judging.margin] if judging.is_given("margin") else [])]


def _ends(folder: Path, record: Weighing, verdict: Verdict, environment: Mapping[str, str]) -> list[str]:
    """Return the options for both ends of the line of commits between the sides; none if it is of one commit."""
    sides = record.benchmarks[verdict.index]
    old, new = (record.subjects[place].revision for place in (sides.baseline, sides.candidate))
    commits = [] if old is None or new is None else _commits_between(folder, old, new, environment)
    return ["--good", commits[0].short, "--bad", commits[-1].short] if len(commits) > 2 else []


def _commits_between(
    folder: Path, old: RevisionFacts, new: RevisionFacts, environment: Mapping[str, str]
) -> list[Commit]:
    """Return the line of commits from one revision to another, with both; an empty one if there is none."""
    from steelyard.subjects.revisions.git import repository_of
    from steelyard.subjects.revisions.line import commits_between

    try:
        repository = repository_of(folder, environment)
        first, last = old.commit, new.commit or _head_but_for_own_file(repository)
        return commits_between(repository, first, last) if first and last else []
    except SteelyardError:  # they parted, or one came into the other by a merge
        return []


def _head_but_for_own_file(repository: Repository) -> str | None:
    """Return the commit that the work tree is of, if it differs in the project's file alone, which was just written."""
    status = repository.git.entries("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    paths = [entry[3:] for entry in status or ()]
    return repository.git.answer("rev-parse", "HEAD") if is_own_alone(paths) else None
