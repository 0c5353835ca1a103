"""A whole bisection: a line of commits, their builds, and the search among them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from steelyard import __version__
from steelyard.design.bisection.builds import Builds
from steelyard.design.bisection.search import CommitSearch, SearchListener
from steelyard.design.bisection.weighing import CommitScales, SearchRequest
from steelyard.design.findings import some_names
from steelyard.design.runner.failure import Interrupted
from steelyard.design.runner.interrupt import Interrupt
from steelyard.design.world import World
from steelyard.model.bisection import Bisection, Commit, word_of
from steelyard.model.errors import InterruptedBeforeStart, SteelyardError
from steelyard.model.findings import Finding
from steelyard.subjects.revisions.cache import Cache
from steelyard.subjects.revisions.git import Repository, repository_of
from steelyard.subjects.revisions.line import commits_between, merged_lines
from steelyard.subjects.revisions.sides import check_relative


def bisect(request: SearchRequest, telling: SearchListener, world: World) -> tuple[Bisection, SteelyardError | None]:
    """Search for the commit that made a benchmark slower, or faster; return the error, too, if the search failed.

    Raises UsageError for revisions or a command that are not there, MeasurementError if one of the ends cannot be built
    or measured, InterruptedBeforeStart if the user stopped it before the ends were weighed.
    """
    started = world.clock()
    try:
        # Whoever launches something cancels it; between launches somebody has to hear of the signal, too.
        with Interrupt((), world.clock) as interrupt, ExitStack() as holding:
            repository = repository_of(Path(request.settings.directory), world.environment)
            check_relative(repository, request.command)
            line = commits_between(repository, request.good, request.bad, request.sought)
            left_out = list(_uncommitted_findings(repository, line[-1]))
            builds = Builds(
                repository,
                request.recipe,
                Cache.of_user(world.environment),
                telling.progress,
                world.environment,
                interrupt.is_requested,
                holding,
            )
            scales = CommitScales(request, builds, world)
            search = CommitSearch(line, request.settings, scales, telling, request.sought)
            ended = search.run()
    except (Interrupted, InterruptedBeforeStart):
        raise InterruptedBeforeStart("interrupted before anything was weighed") from None
    about: dict[str, Any] = {
        "tool": __version__,
        "repository": str(repository.root),
        "command": request.command,
        "build": request.build,
        "seconds": world.clock() - started,
        "findings": [*left_out, *scales.shared],
    }
    result = search.result(ended, about)
    with suppress(InterruptedBeforeStart):  # what was found stands
        result = result.model_copy(update={"findings": [*result.findings, *_merge_findings(repository, result)]})
    return result, ended.error


def _merge_findings(repository: Repository, result: Bisection) -> Iterator[Finding]:
    """Yield a finding on how to search what a merge brought in, if that is the commit that was found."""
    if result.found is None:
        return
    older, newer = word_of("good", result.sought), word_of("bad", result.sought)
    if lines := merged_lines(repository, result.found):
        searches = ", or ".join(f"--{older} {first} --{newer} {last}" for first, last in lines)
        yield Finding(code="merge", message="the commit is a merge", remedy=f"search what it brought in: {searches}")


def _uncommitted_findings(repository: Repository, newest: Commit) -> Iterator[Finding]:
    """Yield a finding if a work tree has changes that were not searched, but may be taken for it."""
    if repository.is_bare or repository.git.answer("rev-parse", "HEAD") != newest.hash:
        return
    wanted = ("--name-only", "-z", "--no-renames", "--diff-filter=AM")
    if changed := repository.git.entries("diff", *wanted, "HEAD", "--"):
        yield Finding(
            code="not-committed",
            message=f"changes that are not committed are in nothing that was weighed: of {some_names(changed)}",
            remedy="commit them, and search again",
        )
