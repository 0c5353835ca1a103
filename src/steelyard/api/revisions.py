"""What is measured of one command in revisions of a git repository, once they are built."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.api.layouts import layouts_to_build
from steelyard.api.names import names_of
from steelyard.api.options import Options, Revisions
from steelyard.api.settings import parameters_of, request_of, run_of_command, settings_of
from steelyard.model.errors import UsageError
from steelyard.model.values import seconds_in_range

if TYPE_CHECKING:
    from steelyard.design.request import Request
    from steelyard.design.world import World
    from steelyard.model.findings import Finding
    from steelyard.model.progress import Watch
    from steelyard.model.settings import Settings
    from steelyard.model.subject import Subject
    from steelyard.subjects.revisions.git import Repository
    from steelyard.subjects.revisions.recipe import Recipe
    from steelyard.subjects.revisions.revision import Revision
    from steelyard.subjects.revisions.sides import Builds


_ROLES = ("the baseline", "the candidate")
# Returns the targets that a revision has, by their names; None where that is not told.
Known = Callable[["Repository", "Revision"], Collection[str] | None] | None


@contextmanager
def weighing_of_revisions(
    commands: Sequence[str],
    options: Options,
    watch: Watch,
    world: World,
    *,
    names: Sequence[str] | None,
    listed: str | None = None,
) -> Iterator[Request]:
    """Return what to measure of one command in two revisions, which are built and exist as long as the context lasts.

    The sides are named as by `names_of`; `watch` is told about the builds. Raises UsageError for what cannot be weighed
    like this, NotBuiltError, InterruptedBeforeStart.
    """
    from steelyard.subjects.revisions.sides import new_file, side_of, subjects_of

    wanted = options.revisions
    _check_timeout(wanted)
    command = _one_command(commands)
    recipe = recipe_of_command(wanted)
    settings = settings_of(options, world, commands=[command] * 2, judged=True, recipe=recipe)
    # Errors that need no build are raised before it.
    parameters_of(options, [command])
    names_of(names, listed, _ROLES)
    layouts, folder = layouts_to_build(options.weighing, recipe), Path(settings.directory)
    is_harness = settings.harness is not None
    with built_sides(wanted, folder, recipe, layouts, watch, world, command, may_be_new=is_harness) as built:
        repository, builds = built
        side_names = names_of(names, listed, [one[0].revision.label for one in builds])
        baseline, candidate = map(side_of, builds, side_names)
        subjects = subjects_of(
            [baseline, candidate],
            command,
            shell=options.shell,
            search_path=world.search_path,
            is_harness=is_harness,
        )
        findings = findings_of(repository, builds, subjects, settings, world)
        request = request_of(options, subjects, settings)
        selection = replace(request.selection, not_in_baseline=new_file(baseline, candidate, command))
        yield replace(request, findings=findings, selection=selection)


@contextmanager
def requested_run(command: str, name: str | None, options: Options, watch: Watch, world: World) -> Iterator[Request]:
    """Return what to measure of one command, for as long as the context lasts: in a revision, if one is asked for.

    Raises as for two.
    """
    if not options.revisions.given:
        yield run_of_command(command, name, options, world)
        return
    settings = settings_of(options, world, recipe=recipe_of_command(options.revisions))
    parameters_of(options, [command])  # errors that need no build come first
    with subject_of_revision(command, name, options, settings, watch, world) as (subject, findings):
        yield replace(request_of(options, [subject], settings), findings=findings)


@contextmanager
def subject_of_revision(
    command: str, name: str | None, options: Options, settings: Settings, watch: Watch, world: World
) -> Iterator[tuple[Subject, list[Finding]]]:
    """Return a command in one revision, named after that by default, and what the user should know of the revision.

    Both exist as long as the context lasts. Raises as for two.
    """
    from steelyard.subjects.revisions.sides import side_of, subjects_of

    wanted, recipe = options.revisions, recipe_of_command(options.revisions)
    with built_side(wanted, Path(settings.directory), recipe, watch, world, command) as (repository, builds):
        side = side_of(builds, name or builds[0].revision.label)
        (subject,) = subjects_of([side], command, shell=options.shell, search_path=world.search_path)
        yield subject, findings_of(repository, [builds], [subject], settings, world)


@contextmanager
def built_side(
    wanted: Revisions, folder: Path, recipe: Recipe, watch: Watch, world: World, *commands: str, known: Known = None
) -> Iterator[tuple[Repository, Builds]]:
    """Build the one revision that is asked for, the work tree by default; as `built_sides` does for two."""
    from steelyard.subjects.revisions.git import repository_of
    from steelyard.subjects.revisions.revision import resolve_alone

    repository = repository_of(folder, world.environment)
    with ExitStack() as snapshot:
        revision = resolve_alone(repository, wanted.base, snapshot)
        if known is not None and wanted.base is not None:
            recipe = recipe.where_known(known(repository, revision))
        with _built_revisions(repository, [revision], [recipe], 0, watch, world, *commands) as (builds,):
            snapshot.close()  # it has been checked out
            yield repository, builds


@contextmanager
def built_sides(
    wanted: Revisions,
    folder: Path,
    recipe: Recipe,
    layouts: int,
    watch: Watch,
    world: World,
    *commands: str,
    may_be_new: bool,
    known: Known = None,
) -> Iterator[tuple[Repository, Sequence[Builds]]]:
    """Build the revisions that are asked for, side by side; they exist as long as the context lasts.

    `commands` will run in each revision's own copy of `folder`. Each revision has `layouts` builds, 0 for one, the
    first. The baseline may lack the folder if it `may_be_new`, and targets that are not `known` in it, where that is
    told. Raises UsageError, NotBuiltError, InterruptedBeforeStart.
    """
    from steelyard.subjects.revisions.git import repository_of
    from steelyard.subjects.revisions.revision import resolve_sides

    repository = repository_of(folder, world.environment)
    with ExitStack() as snapshot:
        revisions = resolve_sides(repository, wanted.base, wanted.candidate, snapshot)
        base = replace(recipe, may_be_new=may_be_new)
        if known is not None:
            base = base.where_known(known(repository, revisions[0]))
        with _built_revisions(repository, revisions, [base, recipe], layouts, watch, world, *commands) as sides:
            snapshot.close()  # it has been checked out
            yield repository, sides


@contextmanager
def _built_revisions(
    repository: Repository,
    revisions: Sequence[Revision],
    recipes: Sequence[Recipe],
    layouts: int,
    watch: Watch,
    world: World,
    *commands: str,
) -> Iterator[Sequence[Builds]]:
    """Build each of these revisions by its own recipe."""
    from steelyard.subjects.revisions.builds import built
    from steelyard.subjects.revisions.cache import Cache
    from steelyard.subjects.revisions.recipe import Job
    from steelyard.subjects.revisions.sides import check_relative

    for command in commands:
        check_relative(repository, command)
    in_layouts = [[replace(recipe, layout=number) for recipe in recipes] for number in range(1, layouts + 1)]
    jobs = [
        Job(revision, recipe)
        for of_sides in in_layouts or [[recipe.in_first_layout for recipe in recipes]]
        for revision, recipe in zip(revisions, of_sides, strict=True)
    ]
    cache = Cache.of_user(world.environment)
    with built(repository, jobs, cache, watch, world.environment) as builds:
        yield [builds[side :: len(revisions)] for side in range(len(revisions))]


def recipe_of_command(wanted: Revisions) -> Recipe:
    """Return how the revisions of a command are built; raise UsageError as `check_build`."""
    from steelyard.subjects.revisions.recipe import Recipe

    check_build(wanted, is_built=wanted.build is not None)
    return Recipe(wanted.build, timeout_s=wanted.build_timeout)


def check_build(wanted: Revisions, *, is_built: bool) -> None:
    """Raise UsageError for an empty command, a time out of range, and a time although nothing `is_built`."""
    if wanted.build is not None and not wanted.build.strip():
        raise UsageError("--build '' is empty: give the command that builds, or leave it out")
    _check_timeout(wanted)
    if wanted.is_given("build_timeout") and not is_built:
        raise UsageError("--build-timeout is how long --build may take, and nothing is built: leave it out")


def _check_timeout(wanted: Revisions) -> None:
    seconds_in_range("--build-timeout", wanted.build_timeout, 1e-3, 1e6)


def _one_command(commands: Sequence[str]) -> str:
    if len(commands) != 1:
        raise UsageError(
            "--base, --candidate and --build weigh one command, in two revisions: steelyard compare --base main "
            "--build make './program its words'"
        )
    return commands[0]


def findings_of(
    repository: Repository, sides: Sequence[Builds], subjects: Sequence[Subject], settings: Settings, world: World
) -> list[Finding]:
    """Return the findings that the user should know before two sides are weighed, or a single one is measured."""
    from steelyard.design.revision_findings import identical_finding, shared_findings
    from steelyard.subjects.revisions.identity import are_identical, same_files
    from steelyard.subjects.revisions.revision import WORK_TREE

    first_builds = [builds[0] for builds in sides]
    if len(sides) > 1 and are_identical(sides, subjects, settings):
        baseline, candidate = (build.revision.label for build in first_builds)
        same = same_files(first_builds, subjects)
        # Who has changed nothing yet would otherwise see the tool do nothing.
        is_unchanged = same and first_builds[-1].revision.name == WORK_TREE
        parent = _parent(repository, first_builds[0].revision.commit) if is_unchanged else None
        same = same or "build the same program, byte for byte but for the build's paths"
        return [identical_finding(baseline, candidate, same, parent=parent), *_checkout_findings(sides)]
    return [*shared_findings(repository, sides, subjects, settings, world.environment), *_checkout_findings(sides)]


def _parent(repository: Repository, baseline: str | None) -> str | None:
    """Return the name of the commit before the last one; None if there is none, or if it is the baseline already."""
    parent = repository.git.commit_of("HEAD~1")
    return "HEAD~1" if parent and parent != baseline else None


def _checkout_findings(sides: Sequence[Builds]) -> list[Finding]:
    """Return the findings about files that are in a checkout, or are missing from it."""
    from steelyard.design.revision_findings import built_files_finding
    from steelyard.model.findings import Finding

    first_builds = [builds[0] for builds in sides]
    notes = dict.fromkeys(note for build in first_builds for note in build.notes)
    findings = [Finding(code="checkout", message=note) for note in notes]
    return findings + [
        built_files_finding(build.revision.built_files) for build in first_builds if build.revision.built_files
    ]
