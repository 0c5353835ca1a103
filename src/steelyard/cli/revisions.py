"""The options that have one command weighed in two revisions of a git repository."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from steelyard.api.layouts import layouts_built
from steelyard.api.names import check_no_files, names_of
from steelyard.cli.command import Options, ReadBy
from steelyard.model.errors import UsageError
from steelyard.model.values import seconds, seconds_in_range

if TYPE_CHECKING:
    from steelyard.cli.compare import CompareOptions
    from steelyard.cli.run import RunOptions
    from steelyard.design.request import Request
    from steelyard.design.world import World
    from steelyard.model.records import Finding, Settings, Subject
    from steelyard.subjects.revisions.builds import Recipe
    from steelyard.subjects.revisions.git import Repository
    from steelyard.subjects.revisions.revision import Revision
    from steelyard.subjects.revisions.sides import Builds

USUAL_BUILD_S = 3600.0


@dataclass(frozen=True, kw_only=True)
class RevisionOptions(Options):
    """Which revisions, and how each is built."""

    panel: ClassVar[str] = "Revisions of a git repository"

    base: Annotated[
        str | None,
        typer.Option(
            metavar="REV",
            help="Weigh the one command in this revision against the candidate.  "
            "[default: the merge base with the default branch]",
        ),
    ] = None
    candidate: Annotated[
        str | None,
        typer.Option(
            metavar="REV", help="The revision that may have changed.  [default: the work tree, with its changes]"
        ),
    ] = None
    build: Annotated[
        str | None,
        typer.Option(metavar="CMD", help="Build each side by this shell command, in a folder of its own; kept."),
    ] = None
    build_timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="Longest time that a build may take."), ReadBy(seconds)
    ] = USUAL_BUILD_S


@dataclass(frozen=True, kw_only=True)
class OneRevisionOptions(RevisionOptions):
    """Which revision is measured alone, and how it is built."""

    panel: ClassVar[str] = "A revision of a git repository"

    base: Annotated[
        str | None,
        typer.Option(
            metavar="REV",
            help="Measure the command in this revision.  [default: in no checkout; with --build the work tree]",
        ),
    ] = None
    build: Annotated[
        str | None,
        typer.Option(metavar="CMD", help="Build it by this shell command, in a folder of its own; kept."),
    ] = None


def are_wanted(options: RevisionOptions) -> bool:
    """Whether revisions are weighed."""
    is_named = (options.base, options.candidate, options.build) != (None, None, None)
    return is_named or bool(options.given)


@contextmanager
def request_of_revisions(options: CompareOptions, world: World) -> Iterator[Request]:
    """What is measured: both revisions are built, and stay as long as the context lasts.

    Raises UsageError for what cannot be weighed so, BuildError, InterruptedBeforeStart.
    """
    from steelyard.api.settings import request_of, settings_of
    from steelyard.subjects.revisions.builds import Recipe
    from steelyard.subjects.revisions.sides import subjects_of

    asked = options.revisions
    build_timeout_checked(asked.build_timeout)
    command = _one_command(options)
    recipe = Recipe(asked.build, timeout_s=asked.build_timeout)
    settings = settings_of(options, world, commands=[command] * 2, judged=True, recipe=recipe)
    layouts = layouts_built(options.weighing, recipe)
    with built_sides(asked, Path(settings.directory), recipe, layouts, world, command) as (repository, sides):
        names = names_of(options.name, options.names, [builds[0].revision.label for builds in sides])
        search_path = world.environment.get("PATH")
        subjects = subjects_of(sides, command, names, shell=options.launch.shell, search_path=search_path)
        findings = findings_of(repository, sides, subjects, settings)
        yield replace(request_of(options, subjects, settings), findings=findings)


@contextmanager
def request_of_one_revision(options: RunOptions, settings: Settings, world: World) -> Iterator[Request]:
    """What is measured of one revision alone, which stays as long as the context lasts; raises as the one of two."""
    from steelyard.api.settings import request_of
    from steelyard.subjects.revisions.builds import Recipe
    from steelyard.subjects.revisions.git import repository_of
    from steelyard.subjects.revisions.revision import alone
    from steelyard.subjects.revisions.sides import subjects_of

    asked = options.revision
    recipe = Recipe(asked.build, timeout_s=build_timeout_checked(asked.build_timeout))
    repository = repository_of(Path(settings.directory), world.environment)
    revision = alone(repository, asked.base)
    with _built(repository, [revision], recipe, 0, world, options.command) as sides:
        names = [options.name or revision.label]
        search_path = world.environment.get("PATH")
        subjects = subjects_of(sides, options.command, names, shell=options.launch.shell, search_path=search_path)
        yield replace(request_of(options, subjects, settings), findings=_notes(repository, sides, subjects))


@contextmanager
def built_sides(
    asked: RevisionOptions, folder: Path, recipe: Recipe, layouts: int, world: World, *commands: str
) -> Iterator[tuple[Repository, Sequence[Builds]]]:
    """The revisions that are asked for, built side by side; they stay as long as the context lasts.

    A `folder` is where the user stands in them, `commands` are what is going to run there; each has so many `layouts`,
    0 for one that has no number.
    Raises UsageError, BuildError, InterruptedBeforeStart.
    """
    from steelyard.subjects.revisions.git import repository_of
    from steelyard.subjects.revisions.revision import resolved

    repository = repository_of(folder, world.environment)
    revisions = resolved(repository, asked.base, asked.candidate)
    with _built(repository, revisions, recipe, layouts, world, *commands) as sides:
        yield repository, sides


@contextmanager
def _built(
    repository: Repository, revisions: Sequence[Revision], recipe: Recipe, layouts: int, world: World, *commands: str
) -> Iterator[Sequence[Builds]]:
    from steelyard.cli.screen import watching
    from steelyard.subjects.revisions.builds import Job, built
    from steelyard.subjects.revisions.cache import Cache
    from steelyard.subjects.revisions.sides import check_relative

    for command in commands:
        check_relative(repository, command)
    recipes = [replace(recipe, layout=layout) for layout in range(1, layouts + 1)] or [recipe]
    jobs = [Job(revision, one) for one in recipes for revision in revisions]
    cache = Cache.of_user(world.environment)
    with (
        watching(world) as watch,
        built(repository, jobs, cache, watch, world.environment) as builds,
    ):
        watch.wipe()
        yield [builds[side :: len(revisions)] for side in range(len(revisions))]


def build_timeout_checked(limit_s: float) -> float:
    """The longest that a build may take; raises UsageError for one out of range."""
    return seconds_in_range("--build-timeout", limit_s, 1e-3, 1e6)


def _one_command(options: CompareOptions) -> str:
    commands = options.commands or []
    if len(commands) != 1:
        raise UsageError(
            "--base, --candidate and --build weigh one command, in two revisions: steelyard compare --base main "
            "--build make './program its words'"
        )
    check_no_files(options.name or [], commands)
    return commands[0]


def findings_of(
    repository: Repository, sides: Sequence[Builds], subjects: Sequence[Subject], settings: Settings
) -> list[Finding]:
    """What the user should know of the sides before they are weighed."""
    from steelyard.design.findings import identical_finding
    from steelyard.subjects.revisions.identity import are_identical, is_one_build

    found, firsts = _notes(repository, sides, subjects), [builds[0] for builds in sides]
    if are_identical(sides, subjects, settings):
        labels = [one.revision.label for one in firsts]
        found.insert(0, identical_finding(*labels, is_one_build=is_one_build(firsts)))
    return found


def _notes(repository: Repository, sides: Sequence[Builds], subjects: Sequence[Subject]) -> list[Finding]:
    """What is said of files that are in a checkout, or are not, and of programs that are in none."""
    from steelyard.design.findings import built_files_finding
    from steelyard.model.records import Finding
    from steelyard.subjects.revisions.sides import shared_program

    firsts = [builds[0] for builds in sides]
    notes = dict.fromkeys(note for one in firsts for note in one.notes)
    found = [Finding(code="checkout", message=note) for note in notes]
    found += [built_files_finding(one.revision.built_files) for one in firsts if one.revision.built_files]
    if program := shared_program(repository, subjects):
        found.append(
            Finding(
                code="shared-program",
                message=f"{program} is within the work tree and runs on both sides; what is installed for it from "
                "there, they share too",
            )
        )
    return found
