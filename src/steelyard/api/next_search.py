"""How to go on where a project's target became slower by one of several commits: by a search for that commit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from steelyard.model.errors import SteelyardError
from steelyard.model.project_file import OWN
from steelyard.model.records import Weighing
from steelyard.model.typed import command_line

if TYPE_CHECKING:
    from steelyard.api.options import Options
    from steelyard.model.bisection import Commit
    from steelyard.model.derived import Verdict
    from steelyard.model.project import Target
    from steelyard.model.project_file import Project
    from steelyard.model.records import Run
    from steelyard.model.subject import RevisionFacts
    from steelyard.subjects.revisions.git import Repository

# These do not change what a search launches.
_HARMLESS = ("base", "candidate", "benchmark", "seed")


def next_search(
    project: Project, records: Sequence[Weighing | Run], options: Options, environment: Mapping[str, str]
) -> str | None:
    """Return the command that finds the commit by which a target became slower, of the one that did so the most.

    None if there is nothing to find, if a search would weigh something else than these records did, and if only one
    commit lies between the two sides.
    """
    if any({*group.given}.difference(_HARMLESS) for group in (options.revisions, options.suite, options.launch)):
        return None
    slower = sorted(_slower(records), key=lambda found: -(found[0].change or 0.0))
    return next(filter(None, (_search_for(project, *found, options, environment) for found in slower)), None)


def _slower(records: Sequence[Weighing | Run]) -> Iterator[tuple[Verdict, Weighing]]:
    for record in records:
        if isinstance(record, Weighing) and record.derived is not None:
            yield from ((verdict, record) for verdict in record.derived.deciding() if verdict.verdict == "slower")


def _search_for(
    project: Project, verdict: Verdict, record: Weighing, options: Options, environment: Mapping[str, str]
) -> str | None:
    sides = record.benchmarks[verdict.index]
    baseline, candidate = record.subjects[sides.baseline], record.subjects[sides.candidate]
    target = next((one for one in project.targets if one.command == candidate.command), None)
    if target is None:
        return None
    commits = _commits_between(project, baseline.revision, candidate.revision, environment)
    if len(commits) <= 2:
        return None
    ends = ["--good", commits[0].short, "--bad", commits[-1].short]
    return command_line(["steelyard", "bisect", *ends, *_choice(project, target, verdict), *_judged(options)])


def _choice(project: Project, target: Target, verdict: Verdict) -> list[str]:
    """Return the options that choose what is followed."""
    chosen = ["--target", target.name] if len(project.targets) > 1 else []
    return [*chosen, *(["-b", verdict.benchmark] if target.harness or target.parameters else [])]


def _judged(options: Options) -> list[str]:
    """Return the options by which the caller judged otherwise than the project's file says."""
    judging = options.judging
    metrics = ["--metric", ",".join(judging.metric)] if judging.is_given("metric") and judging.metric else []
    return [*metrics, *(["--margin", judging.margin] if judging.is_given("margin") else [])]


def _commits_between(
    project: Project, old: RevisionFacts | None, new: RevisionFacts | None, environment: Mapping[str, str]
) -> list[Commit]:
    """Return the line of commits from one revision to another, with both; an empty one if there is none."""
    from steelyard.subjects.revisions.git import repository_of
    from steelyard.subjects.revisions.line import commits_between

    if old is None or new is None:
        return []
    try:
        repository = repository_of(project.folder, environment)
        ends = old.commit, new.commit or _head_but_for_own_file(repository)
        return commits_between(repository, ends[0], ends[1]) if ends[0] and ends[1] else []
    except SteelyardError:  # they parted, or one came into the other by a merge
        return []


def _head_but_for_own_file(repository: Repository) -> str | None:
    """Return the commit that the work tree is of, if it differs in the project's file alone, which was just written."""
    status = repository.git.answer("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    paths = [entry[3:] for entry in (status or "").split("\0") if entry]
    return repository.git.answer("rev-parse", "HEAD") if {PurePosixPath(path).name for path in paths} == {OWN} else None
